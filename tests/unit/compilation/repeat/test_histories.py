"""Graphs that a compiled function meets: of its arguments, which it must leave alone, and of its results, if freed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS

calls: list[str] = []


class Noting(torch.autograd.Function):
    """Twice a tensor. Its backward pass is noted."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        calls.append("backward")
        return g * 2


def given_memory(w: Any) -> Any:
    out = w * 2
    out.set_(torch.ones(3))
    return out


MADE: dict[str, Callable[[Any], Any]] = {
    "operator": lambda w: w * 2, "Function": Noting.apply, "view": lambda w: (w * 2).view(3), "set_": given_memory,
    "write in place": lambda w: (w * 2).mul_(3), "of several outputs": lambda w: torch.stack([w, w]).unbind()[1],
    "compiled function": torch.compile(lambda w: w * 2, backend="numpy")}
HOOKED: dict[str, Callable[[Any, Any], Any]] = {
    "tensor": lambda x, hook: x.register_hook(hook), "node": lambda x, hook: x.grad_fn.register_hook(hook),
    "node, before": lambda x, hook: x.grad_fn.register_prehook(hook), "none": lambda x, hook: None}


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("hooked", HOOKED)
@pytest.mark.parametrize("made", MADE)
def test_a_trace_runs_nothing_of_the_graph_of_an_argument(made: str, hooked: str, backend: str) -> None:
    """Also if the function reads a leaf of this graph."""
    w = torch.rand(3, requires_grad=True)
    x = MADE[made](w)
    HOOKED[hooked](x, lambda *gradients: calls.append("hook"))
    compiled = torch.compile(lambda x: x * w, backend=backend)
    calls.clear()
    results = [compiled(x) for _ in range(3)]
    assert not calls
    if made != "set_":                                     # which has no derivative
        results[-1].sum().backward()
        assert calls.count("hook") == (hooked != "none")
        assert calls.count("backward") == (made == "Function")


def freed(change: Callable[[Any], Any]) -> tuple[Any, Any, list[Any]]:
    """A changed step, a result of it whose graph is freed, and the parameters."""
    torch.manual_seed(0)
    layer, w = torch.nn.Linear(4, 4), torch.ones(4, requires_grad=True)

    def step(x: Any) -> Any:
        y = (layer(x) * w).sin()
        layer.zero_grad()
        y.square().sum().backward()
        return y * 1

    run = change(step)
    return run, run(torch.ones(2, 4)), [*layer.parameters(), w]


def plain(step: Any) -> Any:
    return step


@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_pass_that_meets_a_freed_graph_comes_as_far_as_without_compile(backend: str) -> None:
    found = []
    for change in (plain, lambda step: torch.compile(step, backend=backend)):
        run, y, parameters = freed(change)
        with pytest.raises(RuntimeError, match="a second time"):
            run(y)
        found.append([p.grad is None for p in parameters])
        with pytest.raises(RuntimeError, match="a second time"):
            torch.autograd.grad(y.sum(), parameters[2])
    assert found[0] == found[1] == [True, True, False]


@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_transform_of_a_result_whose_graph_is_freed_needs_a_gradient(backend: str) -> None:
    for change in (plain, lambda step: torch.compile(step, backend=backend)):
        _, y, _ = freed(change)
        for result in (torch.func.grad(lambda x: (x ** 3).sum())(y),
                       torch.vmap(torch.func.grad(lambda x: (x ** 3).sum()))(y)):
            assert result.requires_grad
            with pytest.raises(RuntimeError, match="a second time"):
                result.sum().backward()
