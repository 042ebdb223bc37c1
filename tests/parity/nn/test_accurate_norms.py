"""Norms, means and variances of tall arrays, in NumPy and in machine code: no further from float64 than PyTorch's.

The error is the largest one, in units of the last place of the largest number. It may be twice PyTorch's error, or four
units if this is more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

# Of a package, x, a weight and a bias.
FUNCTIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "batch_norm": lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, True),
    "layer_norm": lambda t, x, w, b: t.nn.functional.layer_norm(x, x.shape[1:], w, b),
    "rms_norm": lambda t, x, w, b: t.nn.functional.rms_norm(x, x.shape[1:], w),
    "group_norm": lambda t, x, w, b: t.nn.functional.group_norm(x, 1, w, b),
    "var": lambda t, x, w, b: x.var(0), "std": lambda t, x, w, b: x.std(0), "mean": lambda t, x, w, b: x.mean(0),
    "sum": lambda t, x, w, b: x.sum(0)}
SHAPES = [(300, 2), (500, 2), (2000, 2), (10_000, 2), (400_000, 2), (20_000, 7), (2000, 64), (200, 8, 10),
          (3000, 2, 50)]


def results(t: Any, dtype: str, name: str, arrays: list[Any]) -> list[Any]:
    """The value and the gradients of a function."""
    x, w, b, g = [t.from_numpy(array).to(getattr(t, dtype)) for array in arrays]
    size = x.shape[1:] if name in ("layer_norm", "rms_norm") else x.shape[1:2]
    given = [x, *[a[:math.prod(size)].reshape(size) for a in (w, b)]]
    used = {"rms_norm": 2, "batch_norm": 3, "layer_norm": 3, "group_norm": 3}.get(name, 1)
    for array in given[:used]:
        array.requires_grad_()
    value = FUNCTIONS[name](t, *given)
    gradients = t.autograd.grad(value, given[:used], g.reshape(-1)[:value.numel()].reshape(value.shape))
    return [a.detach().double().numpy() for a in (value, *gradients)]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tall_arrays_keep_their_digits(name: str, shape: tuple[int, ...], native: bool) -> None:
    generator, length = np.random.default_rng(0), math.prod(shape[1:])
    draws = [generator.standard_normal(size, np.float32) for size in (shape, length, length, shape)]
    arrays = [draws[0] + np.float32(0.5), draws[1], draws[2], draws[3] + np.float32(0.3)]
    exact, theirs = (results(torch, dtype, name, arrays) for dtype in ("float64", "float32"))
    with retrograd.backends.native.flags(enabled=native):
        ours = results(retrograd, "float32", name, arrays)
    for what, right, their, our in zip(("value", "x", "weight", "bias"), exact, theirs, ours, strict=False):
        unit = np.spacing(np.float32(np.abs(right).max()))
        errors = [np.abs(found - right).max() / unit for found in (our, their)]
        assert errors[0] <= max(2 * errors[1], 4), (what, errors)
