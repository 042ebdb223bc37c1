"""Products and sums of numbers of 16 bits that PyTorch rounds at each step, or only once: the same bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

SHAPES = [(5,), (70,), (300,), (7, 130), (130, 7), (64, 64), (3, 9, 4), (4, 5, 90), (0, 3), ()]
Case = Callable[..., Any]


def numbers(shape: tuple[int, ...], seed: int = 0) -> Any:
    return (1 + 0.2 * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def check(dtype: str, case: Case, *arrays: Any) -> None:
    found = []
    for library in (torch, retrograd):
        given = [library.tensor(array) for array in arrays]
        given = [x.to(getattr(library, dtype)) if x.dtype == library.float32 else x for x in given]
        found.append(case(library, *given).float().numpy())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(shape)
    check(dtype, lambda t, x: t.prod(x), x)
    check(dtype, lambda t, x: t.prod(x.mT if x.ndim > 1 else x), x)
    check(dtype, lambda t, x: t.prod(x[..., ::2] if x.ndim else x), x)
    for half in ("float16", "bfloat16"):
        check("float32", lambda t, x, half=half: t.prod(x, dtype=getattr(t, half)), x)
    for dim in range(len(shape)):
        check(dtype, lambda t, x, dim=dim: t.prod(x, dim), x)
        check(dtype, lambda t, x, dim=dim: t.prod(x.mT.contiguous().mT if x.ndim > 1 else x, dim, keepdim=True), x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", SHAPES[:-2], ids=str)
def test_running_products_and_sums(shape: tuple[int, ...], dtype: str) -> None:
    for name, dim in product(("cumsum", "cumprod", "logcumsumexp"), range(len(shape))):
        check(dtype, lambda t, x, name=name, dim=dim: getattr(t, name)(x, dim), numbers(shape))
        if name != "logcumsumexp":
            check("float32", lambda t, x, name=name, dim=dim: getattr(t, name)(x, dim, dtype=getattr(t, dtype)),
                  numbers(shape))


# PyTorch warns that the function is new.
pytestmark = pytest.mark.filterwarnings("ignore:index_reduce")
PLACES = [(shape, dim, count) for shape in SHAPES[:-2] for dim in range(len(shape)) for count in (3, 40)]
PLACES += [((3, 0), 0, 3), ((0, 3), 1, 3)]


def values_at(shape: tuple[int, ...], dim: int, count: int) -> tuple[Any, Any]:
    """An index along a dim, and values for its places."""
    return np.random.default_rng(1).integers(0, shape[dim], count), numbers((*shape[:dim], count, *shape[dim + 1:]), 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "dim", "count"), PLACES)
def test_slices(shape: tuple[int, ...], dim: int, count: int, dtype: str) -> None:
    x, (index, values) = numbers(shape), values_at(shape, dim, count)
    for alpha in (1, 2, 0.3):
        check(dtype, lambda t, x, i, v, a=alpha: t.index_add(x, dim, i, v, alpha=a), x, index, values)
        check(dtype, lambda t, x, i, v, a=alpha: x.index_add_(dim, i, v, alpha=a), x, index, values)
    for reduce, own in product(("prod", "mean", "amax", "amin"), (True, False)):
        check(dtype, lambda t, x, i, v, r=reduce, own=own: x.index_reduce_(dim, i, v, r, include_self=own),
              x, index, values)
    if dim == 0:
        check(dtype, lambda t, x, i, v: x.index_put_((i,), v, accumulate=True), x, index, values)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("shape", "dim", "count"), PLACES)
def test_elements(shape: tuple[int, ...], dim: int, count: int, dtype: str) -> None:
    x, (index, values) = numbers(shape), values_at(shape, dim, count)
    index = np.broadcast_to(index.reshape([-1 if k == dim else 1 for k in range(len(shape))]), values.shape).copy()
    check(dtype, lambda t, x, i, v: x.scatter_add(dim, i, v), x, index, values)
    check(dtype, lambda t, x, i, v: x.put_(i, v, accumulate=True), x, index, values)
    for reduce, own in product(("sum", "prod", "mean", "amax", "amin"), (True, False)):
        check(dtype, lambda t, x, i, v, r=reduce, own=own: x.scatter_reduce(dim, i, v, r, include_self=own),
              x, index, values)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_means_of_more_numbers_than_a_half_can_count(dtype: str) -> None:
    index, values = np.zeros(3000, np.int64), np.full(3000, 0.5, np.float32)
    for dim, shape in ((1, (2, 2, 3)), (2, (2, 2, 2))):
        v = np.full((*shape[:dim], 3000, *shape[dim + 1:]), 0.5, np.float32)
        check(dtype, lambda t, x, i, v, dim=dim: x.index_reduce(dim, i, v, "mean"), numbers(shape), index, v)
    for x, v in ((numbers((2,)), values), (numbers((2, 2)), np.stack([values, values], 1))):
        check(dtype, lambda t, x, i, v: x.index_reduce(0, i, v, "mean"), x, index, v)
        check(dtype, lambda t, x, i, v: x.scatter_reduce(0, i if x.ndim == 1 else t.stack([i, i], 1), v, "mean"),
              x, index, v)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("width", [1, 8, 37])
@pytest.mark.parametrize("padding", [None, 3])
def test_bags_of_embeddings(width: int, padding: int | None, dtype: str) -> None:
    draws = np.random.default_rng(0)
    weight, index = draws.standard_normal((50, width)).astype(np.float32), draws.integers(0, 50, (40, 6))
    starts, scales = np.array([0, 3, 3, 50, 120]), numbers((40, 6))
    for mode in ("sum", "mean", "max"):
        for layout in (lambda w: w, lambda w: w.t().contiguous().t()):
            options = {"mode": mode, "padding_idx": padding}
            check(dtype, lambda t, w, i, layout=layout, options=options: (
                t.nn.functional.embedding_bag(i, layout(w), **options)), weight, index)
            check(dtype, lambda t, w, i, starts, layout=layout, options=options: (
                t.nn.functional.embedding_bag(i.flatten(), layout(w), starts, **options)), weight, index, starts)
    check(dtype, lambda t, w, i, scales: t.nn.functional.embedding_bag(
        i, w, mode="sum", padding_idx=padding, per_sample_weights=scales), weight, index, scales)
