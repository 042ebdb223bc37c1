"""What a transformed function may not do, because derivatives would be lost: hooks, `retain_grad`, new leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from comparing.same_text import same


def with_hooks(t: Any, z: Any) -> Any:
    with t.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a):
        return z.square().sum()


def on_cpu(t: Any, z: Any) -> Any:
    with t.autograd.graph.save_on_cpu():
        return z.square().sum()


def retaining(t: Any, z: Any) -> Any:
    y = z * 2
    y.retain_grad()
    return y.sum()


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "hooks": with_hooks, "on the CPU": on_cpu, "retain_grad": retaining,
    "checkpoint": lambda t, z: t.utils.checkpoint.checkpoint(lambda a: a.sin().sum(), z, use_reentrant=False),
    "jacobian": lambda t, z: t.autograd.functional.jacobian(lambda a: a.sin().sum(), z).sum(),
    "vjp": lambda t, z: t.autograd.functional.vjp(lambda a: a.sin().sum(), z)[1].sum(),
    "jvp": lambda t, z: t.autograd.functional.jvp(lambda a: a.sin().sum(), z, z)[1].sum(),
    "hessian": lambda t, z: t.autograd.functional.hessian(lambda a: a.sin().sum(), z).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", ["grad", "jacrev", "hessian", "grad_and_value"])
def test_a_function_that_loses_derivatives(name: str, transform: str) -> None:
    same(lambda t: getattr(t.func, transform)(lambda z: FUNCTIONS[name](t, z))(t.ones(3)))


@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "hessian"])
def test_jacobians_of_complex_numbers(transform: str) -> None:
    def of(t: Any, function: Callable[..., Any], *args: Any) -> Any:
        return getattr(t.func, transform)(function)(*args)

    same(lambda t: of(t, lambda x: x * (1 + 1j), t.ones(2)))
    same(lambda t: of(t, lambda z: z * z, t.ones(2) + 1j))
    same(lambda t: of(t, lambda x, z: (x * z.real).sum(), t.ones(2), t.ones(2) + 1j))
    same(lambda t: of(t, lambda x: {"a": x * 2, "b": (x, x * 1j)}, t.ones(2)))
    same(lambda t: of(t, lambda x: (x * 1j).abs().sum(), t.ones(2)))
    same(lambda t: t.vmap(getattr(t.func, transform)(lambda x: x * 1j))(t.ones(2, 2)))


def test_hooks_outside_of_the_transform() -> None:
    def case(t: Any) -> Any:
        with t.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a):
            return t.func.grad(lambda z: z.square().sum())(t.ones(3))

    same(case)
