"""Derivatives of derivatives, whose directions and cotangents depend on the inputs, are those of differences."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.table import TABLE, Entry
from programs.entwined import MAKERS, Outer, loss, made, program, slopes

NUMBERS = torch.tensor([0.6, -0.9, 0.7, 1.2], dtype=torch.float64)


def check(f: Any, step: float = 1e-4) -> None:
    """The gradient, by the numbers that transforms are given and by the others, against differences of the values."""
    numbers = NUMBERS.clone().requires_grad_()
    found = loss(f, numbers)
    gradient = torch.zeros_like(NUMBERS)
    if found.requires_grad:
        gradient, = torch.autograd.grad(found, numbers, allow_unused=True, materialize_grads=True)
    expected = slopes(f, NUMBERS, step)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-4 * (1 + expected.abs().max().item()))


@pytest.mark.sampled(80)
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


# Operators with a derivative of any order at any place, in both modes.
OPERATORS = [entry for entry in TABLE if "f" in entry.kinds and not (
    entry.refused or entry.first_only or entry.once or entry.conventional or entry.no_tangent or entry.wrong_tangent)]


def of_operator(entry: Entry, seed: int) -> Any:
    """A function of two numbers: the operator at inputs that depend on them and on the outer numbers.

    None if the operator has no result with a gradient, or draws random numbers, which transforms may refuse.
    """
    draws = np.random.default_rng(seed)
    arrays = [torch.tensor(array) for array in next(iter(entry.samples("float64")))]
    moves = [torch.tensor(0.02 * draws.standard_normal((4, *array.shape))) for array in arrays]
    inputs = [array.clone().requires_grad_(array.is_floating_point()) for array in arrays]
    state = torch.get_rng_state()
    places = [i for i, output in enumerate(outputs(entry, inputs)) if getattr(output, "requires_grad", False)]

    def function(x: Any) -> Any:
        numbers = torch.cat([x, Outer.w])
        found = outputs(entry, [array + torch.tensordot(numbers, move, 1) if array.is_floating_point() else array
                                for array, move in zip(arrays, moves, strict=True)])
        parts = [torch.view_as_real(part.resolve_conj()) if part.is_complex() else part
                 for part in [found[i] for i in places]]
        return torch.stack([sum([part.sum() for part in parts]), sum([part.square().sum() * 0.1 for part in parts])])

    return function if places and torch.equal(state, torch.get_rng_state()) else None


def outputs(entry: Entry, inputs: list[Any]) -> list[Any]:
    found = entry.call(torch, *inputs)
    return [*found] if isinstance(found, tuple | list) else [found]


@pytest.mark.sampled(96)
@pytest.mark.parametrize("entry", OPERATORS, ids=str)
def test_operators(entry: Entry) -> None:
    seed = OPERATORS.index(entry)
    function, draws = of_operator(entry, seed), random.Random(seed)
    if function is not None:
        names = draws.choices([name for name in MAKERS if "dual" not in name and "vmap" not in name], k=2)
        torch.manual_seed(0)
        check(made(["", *names], function), 1e-3)
