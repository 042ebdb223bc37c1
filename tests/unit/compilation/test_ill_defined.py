"""Losses that depend on the phases of complex vectors raise their error in compiled functions, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS

VECTORS: dict[str, Callable[[Any], Any]] = {
    "eigh": lambda x: torch.linalg.eigh(x + x.mH)[1], "eig": lambda x: torch.linalg.eig(x)[1],
    "svd": lambda x: torch.linalg.svd(x)[0]}


def loss(name: str, x: Any, weight: Any) -> Any:
    """A loss that depends on the phases unless the weight is 0."""
    vectors = VECTORS[name](x)
    return vectors.abs().square().square().sum() + (vectors.imag * weight).sum()


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.sampled(2)
def test_phases(name: str, outside: bool, backend: str) -> None:
    def step(x: Any, weight: Any) -> Any:
        return loss(name, x, weight) if outside else torch.autograd.grad(loss(name, x, weight), x)[0]

    compiled = torch.compile(step, backend=backend, fullgraph=True)
    x = torch.randn(3, 3, dtype=torch.complex128, generator=torch.Generator().manual_seed(0), requires_grad=True)

    def gradient(weight: float) -> Any:
        found = compiled(x, torch.tensor(weight, dtype=torch.float64))
        return torch.autograd.grad(found, x)[0] if outside else found

    expected, = torch.autograd.grad(loss(name, x, 0.0), x)
    for _ in range(2):
        torch.testing.assert_close(gradient(0.0), expected)
    with pytest.raises(RuntimeError, match="specified up to multiplication by e"):
        gradient(1.0)
    torch.testing.assert_close(gradient(0.0), expected)
