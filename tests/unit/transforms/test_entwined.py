"""Derivatives of derivatives, whose directions and cotangents depend on the inputs, are those of differences."""

from __future__ import annotations

import pytest

import retrograd as torch
from programs.entwined import loss, made, program, slopes

NUMBERS = torch.tensor([0.6, -0.9, 0.7, 1.2], dtype=torch.float64)


def check(f) -> None:
    """The gradient, by the numbers that transforms are given and by the others, against differences of the values."""
    numbers = NUMBERS.clone().requires_grad_()
    found = loss(f, numbers)
    gradient = torch.zeros_like(NUMBERS)
    if found.requires_grad:
        gradient, = torch.autograd.grad(found, numbers, allow_unused=True, materialize_grads=True)
    expected = slopes(f, NUMBERS)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-4 * (1 + expected.abs().max().item()))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(2000))
def test_random_programs(seed: int) -> None:
    check(program(seed, 4)[1])


# Programs that had wrong gradients once, each the smallest of its sort.
@pytest.mark.parametrize("names", [
    "outer, jvp value", "double, jvp along x, vjp of x", "same, jvp tangent, vjp of out", "sin, jvp at w, vmap",
    "cube, jvp both, jacfwd, grad of weighted", "double, jvp both, jvp value, linearize",
    "cube, jvp value, hessian, linearize", "double, jvp product, linearize, jvp value", "view, hessian, hessian",
    "double, jvp tangent, jvp both, jacfwd", "part, hessian", "part, jacfwd, vjp of x", "part, jvp both, hessian",
    "sin, jvp tangent, checkpoint", "cube, dual, checkpoint"])
def test_borders_of_levels(names: str) -> None:
    check(made(names.split(", ")))
