"""Sums, means and variances along any axes, of any layout: at most some ulps further from float64 than PyTorch's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

OPERATORS: dict[str, Callable[[Any, Any, tuple[int, ...]], Any]] = {
    "sum": lambda t, x, axes: x.sum(axes), "mean": lambda t, x, axes: x.mean(axes),
    "nansum": lambda t, x, axes: x.nansum(axes), "std": lambda t, x, axes: x.std(axes),
    "var": lambda t, x, axes: x.var(axes), "var_mean": lambda t, x, axes: t.stack(t.var_mean(x, axes)),
    "norm": lambda t, x, axes: t.linalg.vector_norm(x, dim=axes),
    "softmax": lambda t, x, axes: x.softmax(axes[0]).sum(axes[0]),
    "gradient": lambda t, x, axes: t.autograd.grad(
        (z := t.zeros([1 if i in axes else n for i, n in enumerate(x.shape)], dtype=x.dtype, requires_grad=True)
         ).expand(x.shape), z, x)[0],
}


def drawn(seed: int) -> tuple[np.ndarray[Any, Any], list[int], tuple[int, ...]]:
    """An array, an order of its axes, and axes to add along, mostly long ones."""
    stream = random.Random(seed)
    shape = [stream.choice([1, 2, 3, 16]) for _ in range(stream.choice([1, 2, 2, 3]))]
    shape.insert(stream.randrange(len(shape) + 1), stream.choice([70, 900, 5000, 40_000]))
    ndim = len(shape)
    order = stream.choice([[*range(ndim)], stream.sample(range(ndim), ndim)])
    axes = tuple(sorted(stream.sample(range(ndim), stream.randint(1, ndim))))
    numbers = np.random.default_rng(seed)
    offset = stream.choice([0.0, 1.0, 100.1])
    return (numbers.standard_normal(shape) * stream.choice([0.0, 1.0]) + offset), order, axes


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("seed", range(30))
def test_errors_are_as_small_as_pytorch_s(name: str, seed: int) -> None:
    numbers, order, axes = drawn(seed)
    single = numbers.astype(np.float32)
    exact = OPERATORS[name](torch, torch.from_numpy(single.astype(np.float64)).permute(order), axes)
    errors = []
    for library in (retrograd, torch):
        found = OPERATORS[name](library, library.from_numpy(single).permute(order), axes)
        errors.append(np.nan_to_num(np.abs(found.double().numpy() - exact.numpy())).max(initial=0))
    scale = float(np.nan_to_num(np.abs(exact.numpy())).max(initial=0)) or float(np.abs(single).max())
    assert errors[0] <= max(2 * errors[1], 8 * np.finfo(np.float32).eps * scale), (order, axes, numbers.shape)
