"""What is found out, and said, of values that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd.graph.bad_values import BadValues, described, has_nan, made

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
def test_a_nan_is_found_in_any_array(dtype: Any) -> None:
    for shape in [(), (1,), (3, 4), (100, 200)]:
        array = np.full(shape, -1, dtype)
        array[(-1,) * len(shape)] = INF
        assert not has_nan(array)
        assert not has_nan(array.T[::2] if array.ndim > 1 else array)
        array[(-1,) * len(shape)] = NAN
        assert has_nan(array)
        assert has_nan(array.T)
        assert has_nan(np.broadcast_to(array, (2, *shape)))
    assert not has_nan(np.empty((0, 3), dtype))
    assert not has_nan(np.array([1, 2]))


def test_what_is_said_of_values() -> None:
    array = np.array([[1, NAN], [INF, NAN]], np.float32)
    text = "it has 2 nan and 1 inf among 4 elements, nan at [0, 1]."
    assert str(described("it", array)) == text
    assert described("it", np.ones(2)) is described("it", np.ones(2, int)) is None
    assert str(described("it", np.array(INF))) == "it has 1 inf among 1 element."
    assert str(described("it", array, [("x", np.array([5, 6])), ("n", 3)], elementwise=True)) == (
        text[:-1] + ", where x = 6, n = 3.")
    assert str(described("it", array, [("x", np.array([5., 6.])), ("y", np.array([1j, 2])), ("z", np.array([1, 2]))]
                         )).endswith("where x = a tensor of shape [2] from 5.0 to 6.0, y = a finite tensor of shape "
                                     "[2], z = a tensor of shape [2].")


def test_what_is_made_of_finite_values() -> None:
    out, x = np.array([NAN, INF, 1.]), np.array([NAN, 0., 1.])
    bad = made("it", out, [("x", x)], elementwise=True)
    assert isinstance(bad, BadValues)
    assert (bad.nans, bad.infs, bad.place) == (0, 1, (1,))
    assert made("it", out, [("x", x)], elementwise=False) is None
    assert made("it", out, [("x", np.array([NAN, NAN]))], elementwise=True) is None
    assert made("it", out, [("itself", out)], elementwise=True) is not None
    assert made("it", out, [("n", 3), ("places", np.array([1]))], elementwise=False) is not None
    assert made("it", np.array([1]), [], elementwise=True) is None
