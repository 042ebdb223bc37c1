"""Choices without branches: bit for bit what np.where gives, for every float, shape and layout."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from retrograd.kernels.elementwise import choosing

DTYPES = [np.float16, np.float32, np.float64, np.complex64, np.int64]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 1.0, -3.5]


def values(dtype: Any, seed: int, shape: tuple[int, ...] = (60, 50)) -> Any:
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-9, 9, shape).astype(dtype)
    with np.errstate(all="ignore"):
        return rng.choice(SPECIAL, shape).astype(dtype)


def mask(shape: tuple[int, ...] = (60, 50)) -> Any:
    return np.random.default_rng(7).random(shape) < 0.5


def same(found: Any, expected: Any) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.strides == expected.strides
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_arrays(dtype: Any) -> None:
    x, y = values(dtype, 0), values(dtype, 1)
    same(choosing.where(mask(), x, y), np.where(mask(), x, y))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [0, 0.0, -0.0, 2.5, np.inf, np.nan, True, 1j])
def test_of_numbers(dtype: Any, number: Any) -> None:
    x = values(dtype, 0)
    same(choosing.where(mask(), x, number), np.where(mask(), x, number))
    same(choosing.where(mask(), number, x), np.where(mask(), number, x))
    same(choosing.where(mask(), number, 1.5), np.where(mask(), number, 1.5))


@pytest.mark.parametrize("shapes", [((), (60, 50)), ((50,), (60, 1)), ((60, 50), ()), ((3, 1, 50), (60, 50))])
def test_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = values(np.float32, 0, shapes[0]), values(np.float32, 1, shapes[1])
    for condition in (mask(), mask((60, 1)), mask((3, 60, 50))):
        same(choosing.where(condition, x, y), np.where(condition, x, y))


def test_types_that_differ_are_promoted() -> None:
    x, y = values(np.float32, 0), values(np.float64, 1)
    same(choosing.where(mask(), x, y), np.where(mask(), x, y))


@pytest.mark.parametrize("turned", [*itertools.product([False, True], repeat=3)])
def test_layouts(turned: tuple[bool, bool, bool]) -> None:
    arrays = [mask(), values(np.float32, 0), values(np.float32, 1)]
    condition, x, y = [np.asfortranarray(a) if turn else a for a, turn in zip(arrays, turned, strict=True)]
    same(choosing.where(condition, x, y), np.where(condition, x, y))
    same(choosing.where(condition, x[:, ::-1], y), np.where(condition, x[:, ::-1], y))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(60, 50), (50,), ()])
def test_writing(dtype: Any, shape: tuple[int, ...]) -> None:
    x = values(dtype, 0, shape)
    for out in (values(dtype, 1), np.asfortranarray(values(dtype, 1)), np.repeat(values(dtype, 1), 2, 1)[:, ::2]):
        expected = out.copy("K")
        np.copyto(expected, x, where=mask())
        assert choosing.where_into(out, mask(), x) is out
        assert np.ascontiguousarray(out).tobytes() == np.ascontiguousarray(expected).tobytes()


def test_writing_where_a_mask_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        choosing.where_into(values(np.float32, 0), mask((2, 60, 50)), 1.0)
