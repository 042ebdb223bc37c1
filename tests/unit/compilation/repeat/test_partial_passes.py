"""Gradients by some of the results alone, where zeros for the others would be multiplied by infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:                  # type: ignore[override]
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:                 # type: ignore[override]
        return g * 2


SHARED: dict[str, Callable[[Any], Any]] = {
    "a square": lambda x: x * x, "dropout": lambda x: torch.nn.functional.dropout(x, 0.5),
    "a Function": lambda x: Doubled.apply(x * x), "softmax": lambda x: (x * 200).softmax(0)}


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("sizes", [(4, 4, 4), (4, 5, 6, 7, 8, 7)], ids=["one size", "many sizes"])
@pytest.mark.parametrize("name", SHARED)
@pytest.mark.sampled(2)
def test_gradients_by_some_results(name: str, sizes: tuple[int, ...], backend: str) -> None:
    def function(x: Any) -> Any:
        shared = SHARED[name](x)
        return (shared * 2).sum(), shared.sqrt().sum(), (shared * shared).sum()

    compiled = torch.compile(function, backend=backend, fullgraph=True)
    for turn, size in enumerate(sizes):
        found = []
        for call in (function, compiled):
            torch.manual_seed(turn)
            x = torch.arange(float(size), requires_grad=True)
            results = call(x)
            found += [torch.autograd.grad([results[i] for i in places], x, retain_graph=True)[0]
                      for places in ((0,), (0, 2), (2,), (0, 1, 2))]
        for wanted, gradient in zip(found[:4], found[4:], strict=True):
            torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-6, equal_nan=True)


def test_gradients_after_a_write_to_the_argument() -> None:
    """The call cannot run again, since the program has changed what the call has read."""
    def function(x: Any, y: Any) -> Any:
        shared = x * x + y
        return (shared * 2).sum(), shared.sqrt().sum()

    compiled = torch.compile(function, fullgraph=True)
    for _ in range(3):
        x, y = torch.tensor([0.0, 1.0], requires_grad=True), torch.zeros(2)
        first, _ = compiled(x, y)
        y.add_(1)
        first.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [0.0, 4.0]
