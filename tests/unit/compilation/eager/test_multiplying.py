"""Products by machine code: each number is a sum of its terms in their order, for all sizes, layouts and threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from needing import needs
from retrograd.kernels.linalg.matrix import bmm, mm
from retrograd.kernels.linalg.served_products import product
from retrograd.kernels.native import threads
from retrograd.kernels.thresholds import PRODUCT_SERVED

from .served_calls import noted

pytestmark = needs("llvmlite")
LAYOUTS = ("rows", "columns", "rows with gaps", "columns with gaps", "part")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = threads.available()
    threads.use(2)
    yield
    threads.use(before)


def laid(array: Any, layout: str) -> Any:
    """The same numbers, with the last two dims in another layout."""
    *ahead, m, n = array.shape
    if layout == "columns":
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "part":
        whole = np.empty((*ahead, m + 3, n + 5), array.dtype)
        whole[..., 2:-1, 1:-4] = array
        return whole[..., 2:-1, 1:-4]
    if layout == "rows with gaps":
        whole = np.empty((*ahead, 2 * m, n), array.dtype)
        whole[..., ::2, :] = array
        return whole[..., ::2, :]
    return laid(laid(array.swapaxes(-1, -2), "rows with gaps").swapaxes(-1, -2), "rows") if "gaps" in layout else array


def check(x: Any, y: Any, served: bool = True) -> Any:
    """Compare a product with that of float64 numbers, within the roundings of a sum, and its layout with NumPy's."""
    with noted() as found:
        result = mm(x, y) if x.ndim == 2 else bmm(x, y)
    assert found == [product] * served
    assert result.dtype == x.dtype
    assert result.flags.c_contiguous
    wide, bound = np.matmul(x, y, dtype="d"), np.matmul(abs(x), abs(y), dtype="d")
    assert (abs(result - wide) <= bound * x.shape[-1] * np.finfo(x.dtype).eps + 1e-30).all()
    return result


@settings(max_examples=100, deadline=None)
@given(st.integers(16, 200), st.integers(16, 300), st.integers(32, 200), st.sampled_from("fd"),
       st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS), st.integers(0, 1 << 30))
def test_any_matrices(m: int, k: int, n: int, dtype: str, first: str, second: str, seed: int) -> None:
    m = max(m, -(-PRODUCT_SERVED // (k * n)))
    random = np.random.default_rng(seed)
    x, y = laid(random.standard_normal((m, k)).astype(dtype), first), laid(
        random.standard_normal((k, n)).astype(dtype), second)
    result = check(x, y)
    threads.use(5)
    np.testing.assert_array_equal(check(x, y), result)
    threads.use(2)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(16, 60), st.integers(16, 80), st.integers(32, 90), st.sampled_from("fd"),
       st.sampled_from(LAYOUTS), st.sampled_from(LAYOUTS), st.sampled_from(["", "x", "y", "turned"]),
       st.integers(0, 1 << 30))
def test_any_stacks(count: int, m: int, k: int, n: int, dtype: str, first: str, second: str, other: str,
                    seed: int) -> None:
    m = max(m, -(-PRODUCT_SERVED // (count * k * n)))
    random = np.random.default_rng(seed)
    x, y = laid(random.standard_normal((count, m, k)).astype(dtype), first), laid(
        random.standard_normal((count, k, n)).astype(dtype), second)
    if other == "x":
        x = np.broadcast_to(x[0], x.shape)
    elif other == "y":
        y = np.broadcast_to(y[:1], y.shape)
    elif other == "turned":                                  # the stack is the inner dim
        x = np.ascontiguousarray(x.transpose(1, 0, 2)).transpose(1, 0, 2)
    check(x, y)


@np.errstate(all="ignore")
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_numbers_that_are_not_finite(dtype: str) -> None:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((190, 90)).astype(dtype), random.standard_normal((90, 71)).astype(dtype)
    x[3, 5], x[80, 2], y[4, 70], y[9, 0] = np.inf, np.nan, -np.inf, np.nan
    with noted() as found:
        result = mm(x, y)
    assert found == [product]
    wide = x.astype("d").dot(y.astype("d"))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(wide))
    np.testing.assert_array_equal(result[np.isinf(wide)], wide[np.isinf(wide)])


def test_what_numpy_multiplies() -> None:
    random = np.random.default_rng(1)
    x, y = random.standard_normal((110, 110)), random.standard_normal((110, 110))
    for one, other in ((x[:15], y), (x, y[:, :31]), (x[:, ::2], y[::2]), (x[::-1], y), (x, y[:, ::-1]),
                       (x[:40], y[:, :40])):
        check(one, other, served=False)
    for dtype in ("i8", "F"):
        with noted() as found:
            mm((x * 3).astype(dtype), y.astype(dtype))
        assert not found
    with noted() as found:
        assert mm(x.astype("f2"), y.astype("f2")).dtype == np.float16
    assert found == [product]                                # of numbers in single precision
    threads.use(1)                                           # which nothing waits for
    check(x, y, served=False)


def test_gradients() -> None:
    def gradients() -> list[Any]:
        torch.manual_seed(0)
        x, w = torch.randn(200, 96, requires_grad=True), torch.randn(64, 96, requires_grad=True)
        stack = torch.randn(8, 64, 40, requires_grad=True)
        y = torch.nn.functional.linear(x, w).tanh()
        loss = y.square().sum() + torch.bmm(stack, stack.transpose(1, 2)).square().mean()
        return [each.numpy() for each in torch.autograd.grad(loss, (x, w, stack))]

    with torch.backends.native.flags(enabled=False):
        plain = gradients()
    with noted() as found:
        served = gradients()
    assert found.count(product) == 6
    for one, other in zip(plain, served, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
