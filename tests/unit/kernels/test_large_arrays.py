"""The kernels for large arrays: orders, ranks, sums, extremes and threads give what NumPy's plain functions give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels import rows, scans, thresholds
from retrograd.kernels.elementwise import choosing
from retrograd.kernels.indexing import argsort, gathering, sorting
from retrograd.kernels.native import threads

Array = np.ndarray[Any, Any]
draws = np.random.default_rng(3)
DTYPES = ("float32", "float64", "float16", "int64", "int32", "int16", "uint8", "bool")


def drawn(dtype: str, *shape: int) -> Array:
    """Numbers with many ties; among floats also nan, infinities and both zeros."""
    values = draws.integers(0, 50, shape).astype(dtype)
    if values.dtype.kind != "f":
        return values
    values[values == 7] = -0.0
    values[values == 8] = np.nan
    values[values == 9] = -np.nan
    values[values == 10] = np.inf
    return np.where(draws.random(shape) < 0.5, values, -values)


@pytest.fixture(params=[1, 3])
def some_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, or several, on parts of any size."""
    before = threads.available()
    threads.use(request.param)
    monkeypatch.setattr(threads, "ENOUGH", 1)
    yield
    threads.use(before)


@pytest.mark.usefixtures("some_threads")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), [((3000,), 0), ((40, 100), 1), ((40, 100), 0), ((9, 10, 11), 1)])
def test_an_order_is_that_of_a_stable_sort(dtype: str, shape: tuple[int, ...], dim: int) -> None:
    x = drawn(dtype, *shape)
    np.testing.assert_array_equal(argsort.order(x, dim), np.argsort(x, dim, kind="stable"))
    backwards = x.shape[dim] - 1 - np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)
    np.testing.assert_array_equal(argsort.order(x, dim, True), backwards)


def test_wide_integers_are_ordered_too() -> None:
    x = draws.integers(-2**62, 2**62, 2000)
    x[::3] = x[5]
    np.testing.assert_array_equal(argsort.order(x, 0), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_few_are_the_beginning_of_the_order(dtype: str, largest: bool) -> None:
    x = drawn(dtype, 30, 200)
    for dim, k in ((1, 5), (0, 3), (1, 150), (1, 0)):
        index = argsort.first_few(x, k, dim, largest)
        whole = np.take_along_axis(x, argsort.order(x, dim, largest), dim)
        np.testing.assert_array_equal(np.take_along_axis(x, index, dim), whole[(slice(None),) * dim + (slice(k),)])
        assert all(len({*line}) == k for line in np.moveaxis(index, dim, -1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_rank_is_that_in_the_stable_order(dtype: str) -> None:
    x = drawn(dtype, 20, 60)
    for dim, rank in ((1, 0), (1, 30), (1, 59), (0, 19)):
        values, index = argsort.at_rank(x, rank, dim)
        expected = np.take(np.argsort(x, dim, kind="stable"), [rank], dim)
        np.testing.assert_array_equal(index, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(x, expected, dim))


SHAPES = [((100, 1000), (1,)), ((2000, 10), (1,)), ((2000, 10), (0,)), ((3000, 3), (0,)), ((50, 130), (1,)),
          ((20, 30, 20), (1, 2)), ((20, 30, 20), (0, 1)), ((20, 30, 20), (1,)), ((20, 30, 20), (0, 2)),
          ((20, 30, 20), (0, 1, 2)), ((2, 10240), (1,)), ((2, 10241), (1,)), ((20000,), (0,)), ((1, 20000), (0,)),
          ((20000, 1), (1,)), ((50, 200), ())]


@pytest.mark.usefixtures("some_threads")
@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_sums_and_extremes(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> None:
    x = draws.standard_normal(shape)
    for array in (x, x.astype("float32"), np.asfortranarray(x)):
        near = {"rtol": 1e-12, "atol": 1e-11} if array.dtype == "float64" else {"rtol": 1e-5, "atol": 1e-3}
        options: Any = {"axis": axes, "keepdims": keepdim}
        for found, expected in ((rows.sums(array, axes, keepdim), np.sum(x, **options)),
                                (rows.sums_of_squares(array, axes, keepdim), np.sum(x * x, **options))):
            assert found.dtype == array.dtype
            np.testing.assert_allclose(found, expected, **near)
        for largest in (True, False):
            expected = (np.max if largest else np.min)(array, **options)
            np.testing.assert_array_equal(rows.extremes(array, axes, keepdim, largest), expected)
    np.testing.assert_allclose(rows.sums(x, None, False), np.sum(x), rtol=1e-12, atol=1e-11)


@pytest.mark.usefixtures("some_threads")
@pytest.mark.parametrize("shape", [(2000, 10), (50, 1000), (600, 7)])
def test_a_nan_is_the_extreme_of_its_row(shape: tuple[int, int]) -> None:
    x = draws.standard_normal(shape)
    x[3, 4] = x[5, 6] = np.nan
    for largest in (True, False):
        np.testing.assert_array_equal(rows.extremes(x, (1,), False, largest), (np.max if largest else np.min)(x, 1))
        values, index = rows.places_of_extremes(x, largest)
        np.testing.assert_array_equal(index, (np.argmax if largest else np.argmin)(x, 1))
        np.testing.assert_array_equal(values, x[np.arange(len(x)), index])


@pytest.mark.parametrize("shape", [(2000, 10), (50, 1000), (600, 7), (40, 129)])
def test_products_of_rows(shape: tuple[int, int]) -> None:
    x = draws.uniform(0.9, 1.1, shape)
    np.testing.assert_allclose(rows.products(x, 1, False), np.prod(x, 1), rtol=1e-12)
    assert rows.products(x, 1, True).shape == (len(x), 1)
    np.testing.assert_allclose(rows.products(np.ravel(x), 0, False), np.prod(x), rtol=1e-9)
    np.testing.assert_allclose(rows.product_of_all(x), np.prod(x), rtol=1e-9)
    assert rows.product_of_all(np.full(5001, -1)) == -1


@pytest.mark.parametrize(("shape", "dim"), [((5000,), 0), ((3, 2000), 1), ((2000, 3), 0), ((4, 300, 2), 1)])
def test_a_recurrence_in_blocks_is_the_one_step_by_step(shape: tuple[int, ...], dim: int) -> None:
    a, b = draws.uniform(-1, 1, shape), draws.standard_normal(shape)
    a[draws.random(shape) < 0.1] = 0.0
    expected = b.copy()
    for i in range(1, shape[dim]):
        here, before = ((slice(None),) * dim + (j,) for j in (i, i - 1))
        expected[here] += a[here] * expected[before]
    np.testing.assert_allclose(scans.recurrence(a, b, dim), expected, rtol=1e-12, atol=1e-12)


def test_gradients_of_large_tensors_are_those_of_small_ones() -> None:
    x = torch.tensor(draws.standard_normal((100, 60)), requires_grad=True)
    for function in (lambda t: t.sort(1)[0][:, ::2].sum(), lambda t: t.topk(3, 1)[0].sum(), lambda t: t.amax(1).sum(),
                     lambda t: t.max(1)[0].sum(), lambda t: t.kthvalue(7, 1)[0].sum(), lambda t: t.prod(1).sum(),
                     lambda t: t.std(1).sum(), lambda t: t.norm(dim=1).sum()):
        whole, = torch.autograd.grad(function(x), x)
        parts = [torch.autograd.grad(function(part), part)[0] for part in
                 (row.detach()[None].requires_grad_() for row in x)]
        np.testing.assert_allclose(whole.numpy(), torch.cat(parts).numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("shape", "dim"), [((50, 40), 1), ((50, 40), 0), ((6, 7, 8), 1), ((900,), 0)])
def test_what_is_placed_block_by_block(shape: tuple[int, ...], dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "GATHERED_BLOCK", 100)
    monkeypatch.setattr(gathering, "GATHERED", 10)
    for count in (1, 5, shape[dim]):
        size = (*shape[:dim], count, *shape[dim + 1:])
        index, values = draws.integers(0, shape[dim], size), draws.standard_normal(size)
        expected = np.zeros(shape)
        where = [*np.indices(size)]
        where[dim] = index
        np.add.at(expected, tuple(where), values)
        np.testing.assert_allclose(sorting.placed(index, values, shape, dim, True), expected, rtol=1e-12)
        np.testing.assert_array_equal(sorting.picked(index, expected, dim, True), expected[tuple(where)])


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.maximum])
@pytest.mark.parametrize(("shape", "dim"), [((600, 9), 1), ((9, 600), 0), ((5, 3, 300), 1), ((7, 7), 0), ((900,), 0)])
def test_running_step_by_step_is_accumulating(ufunc: np.ufunc, shape: tuple[int, ...], dim: int) -> None:
    x = draws.standard_normal(shape)
    np.testing.assert_array_equal(scans.running(ufunc, x, dim, x.dtype), ufunc.accumulate(x, dim))
    single = scans.running(ufunc, x, dim, np.dtype("float32"))
    np.testing.assert_array_equal(single, ufunc.accumulate(x, dim, "float32"))
    if ufunc is np.add:
        np.testing.assert_allclose(scans.sums_from(x, dim), np.flip(np.cumsum(np.flip(x, dim), dim), dim), atol=1e-12)


@pytest.mark.parametrize(("shape", "dim"), [((60, 100), 1), ((100, 60), 0), ((3, 50, 30), 1), ((5003,), 0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_so_far(shape: tuple[int, ...], dim: int, dtype: str) -> None:
    rising = np.sort(np.arange(np.prod(shape)) // 7).reshape(shape).astype(dtype)
    for x in (drawn(dtype, *shape), rising, np.flip(rising)):
        for largest in (True, False):
            values, index = scans.cumextreme(x, dim, largest)
            expected = (np.maximum if largest else np.minimum).accumulate(x, dim)
            np.testing.assert_array_equal(values, expected)
            reached = (x == expected) | (x != x)
            place = np.arange(shape[dim]).reshape(-1, *[1] * (x.ndim - 1 - dim))
            np.testing.assert_array_equal(index, np.maximum.accumulate(np.where(reached, place, 0), dim))
            assert index.dtype == "int64"


@pytest.mark.parametrize(("shape", "dim"), [((60, 100), 1), ((100, 60), 0), ((3, 50, 30), 1), ((5003,), 0),
                                            ((40, 1009), 1), ((2, 32, 40), 1)])
@pytest.mark.parametrize("bad", [None, np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_sums_by_products(shape: tuple[int, ...], dim: int, bad: float | None, dtype: str) -> None:
    x = draws.standard_normal(shape).astype(dtype)
    if bad is not None:
        x.flat[1234] = bad
    near: Any = {"rtol": 0, "atol": 1e-3 if dtype == "float32" else 1e-11}
    for array in (x, np.asfortranarray(x)):
        found = scans.cumsum(array, dim, None)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, np.cumsum(x, dim, "float64"), **near)
        from_there = np.flip(np.cumsum(np.flip(x, dim), dim, "float64"), dim)
        np.testing.assert_allclose(scans.sums_from(array, dim), from_there, **near)


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64"])
@pytest.mark.parametrize("shape", [(60, 70), (5, 6), (5000,)])
def test_by_a_mask(dtype: str, shape: tuple[int, ...]) -> None:
    x = drawn(dtype.replace("complex64", "float32"), *shape).astype(dtype)
    for part in (0.0, 0.5, 1.0):
        mask = draws.random(shape) < part
        for array in (x, np.asfortranarray(x)):
            np.testing.assert_array_equal(choosing.taken(array, mask), x[mask])
            values = draws.integers(0, 2, int(mask.sum())).astype(dtype)
            for value in (values, values[:1].sum(keepdims=True).astype(dtype), np.ones((), dtype), 0):
                found, expected = array.copy(order="K"), x.copy()
                choosing.write(found, mask, value)
                expected[mask] = value
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(60, 70), (5, 6), (7, 20, 30), (0, 5), (3, 0, 2), (900,), ()])
def test_places_that_are_not_zero(shape: tuple[int, ...]) -> None:
    for dtype in ("float32", "bool", "int64"):
        x = draws.integers(0, 2, shape).astype(dtype)
        found = sorting.nonzero(np.asarray(x))
        np.testing.assert_array_equal(found, np.argwhere(x))
        assert found.dtype == "int64"


@pytest.mark.parametrize("axes", [(1,), (0,), (0, 1)])
def test_logarithms_of_sums_of_exponentials(axes: tuple[int, ...]) -> None:
    x = 100 * draws.standard_normal((120, 90))
    assert x.size >= thresholds.ROWS
    x[3, 4], x[5] = np.inf, -np.inf
    expected = np.logaddexp.reduce(x, axis=1) if axes == (1,) else np.logaddexp.reduce(x, axis=0)
    if axes == (0, 1):
        expected = np.logaddexp.reduce(expected)
    np.testing.assert_allclose(torch.logsumexp(torch.tensor(x), axes).numpy(), expected, rtol=1e-12)
