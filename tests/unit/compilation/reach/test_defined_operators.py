"""Operators that programs define, in compiled functions: what may change in them between calls is noticed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.compiled import Compiled

BACKENDS = ("numpy", pytest.param("llvm", marks=pytest.mark.needs("llvmlite")))
_numbers = itertools.count()
Scenario = Callable[[str], tuple[Callable[..., Any], list[Callable[[], Any]]]]


def _cube(space: str, forward: Any = None) -> Any:
    def cube(x: torch.Tensor) -> torch.Tensor:
        return x.clone() ** 3 if forward is None else forward(x)

    op = torch.library.custom_op(f"{space}::cube", cube, mutates_args=())
    op.register_autograd(lambda ctx, g: 3 * g * ctx.saved_tensors[0] ** 2,
                         setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]))
    return op


def custom(space: str) -> Any:
    """The kernel, the gradient and the setup of an operator are replaced; a kernel is turned off and on again."""
    op = _cube(space)
    context = op.set_kernel_enabled("cpu", False)
    return lambda x: (op(x) * 2).sum(), [
        lambda: op.register_kernel("cpu", lambda x: x + 1),
        context.__enter__, lambda: context.__exit__(None, None, None),
        lambda: op.register_autograd(lambda ctx, g: g * 5), lambda: _cube(space, torch.sin)]


def by_name(space: str) -> Any:
    """The same, and a new operator under the same name."""
    op = _cube(space)
    return eval(f"lambda x: (torch.ops.{space}.cube(x) * 2).sum()", {"torch": torch}), [
        lambda: op.register_kernel("cpu", lambda x: x + 1), lambda: _cube(space, torch.sin)]


def by_overload(space: str) -> Any:
    _cube(space)
    cube = getattr(torch.ops, space).cube.default
    return lambda x: (cube(x) * 2).sum(), [lambda: _cube(space, torch.sin)]


def libraries(space: str) -> Any:
    """Kernels of a library are replaced and taken back, overloads are added, and the library goes."""
    library, later = torch.library.Library(space, "DEF"), torch.library.Library(space, "IMPL")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x * x + 1, "CompositeImplicitAutograd")
    op = getattr(torch.ops, space).f

    def define(schema: str, kernel: Any) -> None:
        library.define(schema)
        library.impl(schema.partition("(")[0], kernel, "CPU")

    return lambda x: op(x).sum(), [
        lambda: later.impl("f", lambda x: x * 3, "CompositeImplicitAutograd"), later._destroy,
        lambda: define("f.wide(Tensor x, int n) -> Tensor", lambda x, n: x * n), library._destroy]


def written(space: str) -> Any:
    """An operator writes over its argument; its version counts."""
    def double(x: torch.Tensor) -> None:
        x.mul_(2)

    op = torch.library.custom_op(f"{space}::double", double, mutates_args=("x",))
    seen: list[Any] = []

    def step(x: Any) -> Any:
        y = x.detach() + 1
        op(y)
        return y

    return step, [lambda: seen.append(0)]


def lists(space: str) -> Any:
    """Lists of tensors, several results, numbers and options."""
    def parts(xs: list[torch.Tensor], scale: float, n: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
        return xs[0] * scale + n, torch.stack(list(xs)).sum(0)

    op = torch.library.custom_op(f"{space}::parts", parts, mutates_args=())
    op.register_autograd(lambda ctx, a, b: ([a * 3 + b, b], None, None))
    state = {"n": 3}

    def step(x: Any) -> Any:
        one, other = op([x, x * 2], 3.0, n=state["n"])
        return (one * other).sum()

    return step, [lambda: state.update(n=5)]


def batches(space: str) -> Any:
    """A rule for batches comes, and casts."""
    op = _cube(space)

    def step(x: Any) -> Any:
        return torch.vmap(op)(torch.stack([x, x + 1])).sum()

    return step, [lambda: op.register_vmap(lambda info, dims, x: (x * 7, dims[0])),
                  lambda: op.register_autocast("cpu", torch.bfloat16)]


def state_of_a_kernel(space: str) -> Any:
    """A kernel reads a global number, a closure and an attribute, which change."""
    state, holder = {"k": 2.0}, type("Holder", (), {"k": 1.0})()
    op = _cube(space, lambda x: x * state["k"] + holder.k)

    return lambda x: op(x).sum(), [lambda: state.update(k=3.0), lambda: setattr(holder, "k", 9.0)]


def random_kernel(space: str) -> Any:
    """A kernel draws numbers of Python, of NumPy and of the package."""
    op = _cube(space, lambda x: x * random.random() + float(np.random.rand()) + torch.rand(3))
    return lambda x: op(x).sum(), []


def numpy_kernel(space: str) -> Any:
    """A kernel goes through NumPy."""
    op = _cube(space, lambda x: torch.from_numpy(np.cbrt(x.numpy())))
    return lambda x: op(x).sum(), []


def counting(space: str) -> Any:
    """A kernel counts its calls, and its gradient does."""
    calls: list[int] = []

    def forward(x: Any) -> Any:
        calls.append(1)
        return x * len(calls)

    op = _cube(space, forward)
    return lambda x: op(x).sum(), [lambda: calls.append(1)]


def the_input_itself(space: str) -> Any:
    """An operator may not return its input."""
    op = _cube(space, lambda x: x)
    return lambda x: op(x).sum(), []


def a_failing_kernel(space: str) -> Any:
    """A kernel raises for some numbers."""
    state = {"fails": False}

    def forward(x: Any) -> Any:
        if state["fails"]:
            raise ValueError("no such numbers")
        return x + 1

    op = _cube(space, forward)
    return lambda x: op(x).sum(), [lambda: state.update(fails=True), lambda: state.update(fails=False)]


SCENARIOS: list[Scenario] = [custom, by_name, by_overload, libraries, written, lists, batches, state_of_a_kernel,
                             random_kernel, numpy_kernel, counting, the_input_itself, a_failing_kernel]
# Those that are repeated: they neither read what nobody sees nor raise.
REPEATED = {custom, by_name, by_overload, libraries, written, lists, batches, state_of_a_kernel, a_failing_kernel}


def results(scenario: Scenario, backend: str | None) -> list[Any]:
    """What three calls return after each change, with gradients and errors."""
    found: list[Any] = []
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    space = f"compiled_{next(_numbers)}"
    function, changes = scenario(space)
    compiled = function if backend is None else torch.compile(function, backend=backend)
    for change in (lambda: None, *changes):
        change()
        for k in range(3):
            x = (torch.arange(3.) + 0.5 * k).requires_grad_()
            try:
                y = compiled(x)
                if y.requires_grad:
                    y.backward()
                found.append((y.tolist(), y.dtype, y._version, None if x.grad is None else x.grad.tolist()))
            except (RuntimeError, ValueError) as error:
                found.append((type(error), str(error).replace(space, "space")))
    return found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
@pytest.mark.filterwarnings("ignore:torch.compile runs")
def test_a_compiled_function_notices_changes_of_operators(scenario: Scenario, backend: str) -> None:
    assert results(scenario, backend) == results(scenario, None)


@pytest.mark.parametrize("scenario", sorted(REPEATED, key=lambda each: each.__name__), ids=lambda each: each.__name__)
def test_operators_are_compiled(scenario: Scenario) -> None:
    function, changes = scenario(f"compiled_{next(_numbers)}")           # which hold what defines the operators
    made = Compiled(function, False, "numpy", 8, None)
    for _ in range(3):
        made(torch.arange(3., requires_grad=True))
    assert made.reason is None
    assert len(made.entries) == 1
    del changes
