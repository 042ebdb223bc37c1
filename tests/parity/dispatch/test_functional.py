"""torch.autograd.functional with wrappers and under modes: the results and the operators that arrive are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import torch

import retrograd


def wrapper_of(package: Any, log: list[str]) -> Any:
    """A class of wrappers that logs the operators that it is handed."""
    tree_map = import_module(f"{package.__name__}.utils._pytree").tree_map

    class Logged(package.Tensor):  # type: ignore[name-defined, misc]
        __torch_function__ = package._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, inside: Any) -> Any:
            made = package.Tensor._make_wrapper_subclass(cls, inside.shape, dtype=inside.dtype)
            made.inside = inside
            return made

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(str(func))
            args, kwargs = tree_map(lambda x: x.inside if isinstance(x, cls) else x, (args, kwargs or {}))
            return tree_map(lambda x: cls(x) if isinstance(x, package.Tensor) else x, func(*args, **kwargs))

    return Logged


def mode_of(package: Any, log: list[str]) -> Any:
    """A mode that logs the operators that it is handed."""
    class Log(import_module(f"{package.__name__}.utils._python_dispatch").TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            log.append(str(func))
            return func(*args, **(kwargs or {}))

    return Log()


def shown(value: Any) -> Any:
    """A result as plain numbers, with what autograd and Python know of it."""
    if isinstance(value, tuple):
        return [shown(part) for part in value]
    inside = getattr(value, "inside", value)
    return type(value).__name__, value.requires_grad, str(value.dtype), inside.tolist()


def square(x: Any) -> Any:
    return (x * x).sin()


def cubes(x: Any) -> Any:
    return (x * x * x).sum()


# Calls of the functions `f`, with the tensors `x` and `v`, and with tensors of the class `w` like these.
CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "jacobian": lambda f, w, x, v: f.jacobian(square, w(x)),
    "recorded jacobian": lambda f, w, x, v: f.jacobian(square, w(x), create_graph=True),
    "strict jacobian": lambda f, w, x, v: f.jacobian(square, w(x), strict=True),
    "jacobian of several": lambda f, w, x, v: f.jacobian(lambda a, b: (a * b, a + 1), (w(x), v)),
    "jacobian by a plain tensor": lambda f, w, x, v: f.jacobian(lambda a: a * w(v), x),
    "jacobian of a constant": lambda f, w, x, v: f.jacobian(lambda a: w(v) + 0, x),
    "strict jacobian of a constant": lambda f, w, x, v: f.jacobian(lambda a, b: b + 1, (w(x), w(x)), strict=True),
    "strict linear jacobian": lambda f, w, x, v: f.jacobian(lambda a: a + 1, w(x), create_graph=True, strict=True),
    "vjp": lambda f, w, x, v: f.vjp(square, w(x), w(v)),
    "vjp with a plain vector": lambda f, w, x, v: f.vjp(square, w(x), v),
    "vjp of a number": lambda f, w, x, v: f.vjp(cubes, w(x)),
    "recorded vjp": lambda f, w, x, v: f.vjp(square, w(x), w(v), create_graph=True),
    "vjp without dependence": lambda f, w, x, v: f.vjp(lambda a, b: b * b, (w(x), w(x)), w(v)),
    "jvp": lambda f, w, x, v: f.jvp(square, w(x), w(v)),
    "jvp with a plain vector": lambda f, w, x, v: f.jvp(square, w(x), v),
    "recorded jvp": lambda f, w, x, v: f.jvp(square, w(x), w(v), create_graph=True),
    "vhp": lambda f, w, x, v: f.vhp(cubes, w(x), w(v)),
    "recorded vhp": lambda f, w, x, v: f.vhp(cubes, w(x), w(v), create_graph=True),
    "hvp": lambda f, w, x, v: f.hvp(cubes, w(x), w(v)),
    "strict hvp": lambda f, w, x, v: f.hvp(cubes, w(x), w(v), strict=True)}
# Calls whose operators differ: the gradient of `squeeze()`, and that of `stack` while it is recorded.
RESULTS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "hessian": lambda f, w, x, v: f.hessian(cubes, w(x)),
    "recorded hessian": lambda f, w, x, v: f.hessian(cubes, w(x), create_graph=True),
    "strict hessian": lambda f, w, x, v: f.hessian(cubes, w(x), strict=True)}


def ended(package: Any, call: Any, wrap: bool) -> tuple[Any, list[str]]:
    """How a call ends, and the operators that arrived."""
    log: list[str] = []
    x = package.tensor([1.0, 2.0], dtype=package.float64)
    v = package.tensor([1.0, 0.5], dtype=package.float64)
    functional = package.autograd.functional
    try:
        if wrap:
            return shown(call(functional, wrapper_of(package, log), x, v)), log
        with mode_of(package, log):
            found = call(functional, lambda t: t, x, v)
        return shown(found), log
    except RuntimeError as error:
        return [type(error).__name__, str(error)], log


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_what_arrives(name: str, wrap: bool) -> None:
    (here, seen), (there, wanted) = [ended(package, CALLS[name], wrap) for package in (retrograd, torch)]
    assert here == there
    assert seen == wanted


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str, wrap: bool) -> None:
    (here, _), (there, _) = [ended(package, RESULTS[name], wrap) for package in (retrograd, torch)]
    assert here == there


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("function", ["jacobian", "hessian"])
@pytest.mark.parametrize("forward", [True, False])
def test_batches_under_a_mode(function: str, forward: bool) -> None:
    """A mode sees other operators of a batch of rows than in PyTorch. The results are the same."""
    strategy = "outer_jacobian_strategy" if function == "hessian" else "strategy"
    options: dict[str, Any] = {"vectorize": True, strategy: "forward-mode" if forward else "reverse-mode"}

    def call(f: Any, w: Any, x: Any, v: Any) -> Any:
        return getattr(f, function)(cubes if function == "hessian" else square, x, **options)

    (here, _), (there, _) = [ended(package, call, False) for package in (retrograd, torch)]
    assert here == there
