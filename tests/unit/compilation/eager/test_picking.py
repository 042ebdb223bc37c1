"""Elements that machine code picks by an index, or adds to: the bits are those of NumPy, for all arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from needing import needs
from retrograd.kernels.indexing import gathering, picking
from retrograd.kernels.native import threads

from .served_calls import both

pytestmark = needs("llvmlite")


@pytest.fixture(autouse=True)
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code serves few elements, too."""
    monkeypatch.setattr(picking, "PICKED", 1)


def added(x: Any, src: Any, index: Any, dim: int) -> Any:
    return gathering.scatter_add(x, src, index, dim)


def check(function: Any, *args: Any, served: int = 1) -> None:
    (plain,), (found,), count = both(function, *args)
    assert count == served
    assert (found.dtype, found.shape) == (plain.dtype, plain.shape)
    np.testing.assert_array_equal(*[np.ascontiguousarray(a).view(np.uint8) for a in (plain, found)])


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from("fd"), st.integers(1, 4), st.sampled_from([1, 2, 3]))
def test_any_array(seed: int, dtype: str, ndim: int, count: int) -> None:
    random, before = np.random.default_rng(seed), threads.available()
    shape = [*random.integers(1, 9, ndim)]
    shape[int(random.integers(ndim))] = int(random.integers(1, 3000 // 9 ** (ndim - 2) if ndim > 1 else 90_000))
    dim = int(random.integers(ndim))
    x = random.standard_normal(shape).astype(dtype)
    some = [*shape]
    some[dim] = int(random.integers(1, 50))
    index = random.integers(0, shape[dim], some)
    src = random.standard_normal([n + int(random.integers(0, 2)) for n in some]).astype(dtype)
    src[random.random(src.shape) < 0.1] = np.array(random.choice([np.nan, np.inf, -0.0]), dtype)
    threads.use(count)
    try:
        with np.errstate(all="ignore"):
            check(gathering.gather, x, index, dim, served=int(index.size > gathering.GATHERED or ndim == 1))
            check(added, x, src, index, dim)
    finally:
        threads.use(before)


@pytest.mark.parametrize("shape", [(3, 40_000), (40_000, 3), (200, 300), (60_000,), (7, 100, 90), (1, 200, 300),
                                   (2, 1, 64)])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_threads_share_first_or_last_sizes(shape: tuple[int, ...], count: int) -> None:
    random, before = np.random.default_rng(0), threads.available()
    x = random.standard_normal(shape).astype("f")
    threads.use(count)
    try:
        for dim in range(len(shape)):
            index = random.integers(0, shape[dim], shape)
            check(gathering.gather, x, index, dim, served=int(index.size > gathering.GATHERED))
            check(added, x, x[::-1], index, dim)
    finally:
        threads.use(before)


def test_what_numpy_picks() -> None:
    random = np.random.default_rng(1)
    index = random.integers(0, 4, (5000, 4))
    for dtype in ("f2", "i8", "F", "?"):
        x = random.integers(0, 2, (4, 4)).astype(dtype)
        check(gathering.gather, x, index, 0, served=0)
    x = random.standard_normal((5, 5))
    check(gathering.gather, x, index, 0, served=0)          # the index has fewer columns
    check(added, x, random.standard_normal((5000, 4)), index, 0, served=0)
    check(gathering.gather, x[:, :4], index, 0, served=0)   # rows lie apart
    check(gathering.gather, x[:4, :4].copy(), index[:, ::-1], 0, served=0)


def test_an_array_may_be_added_to_itself() -> None:
    x = torch.rand(200, 200)
    index = torch.randint(200, (200, 200), generator=torch.Generator().manual_seed(0))
    want = torch.zeros(200, 200).scatter_add(0, index, x) + x
    torch.testing.assert_close(x.clone().scatter_add(0, index, x), want)
