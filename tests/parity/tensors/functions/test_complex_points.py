"""Elementary functions of complex numbers at zeros, at infinities and on both sides of their cuts, against PyTorch."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare
from op_table.queries import elementwise

_NAMES = [*elementwise(1, kind="c"), "conj_physical", "square"]
_PARTS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0)
_POINTS = np.array([complex(a, b) for a, b in itertools.product(_PARTS, _PARTS)])
_FAR = np.array([complex(a, b) for a, b in itertools.product((0.0, 2.0, math.inf, -math.inf, math.nan), repeat=2)])
# At an infinity PyTorch divides by it: nan. A number that has a direction keeps it here.
_DIRECTED = {"abs", "sgn"}
# The angle beside an infinity is rounded differently, and a comparison of infinities has no tolerance.
_ROUNDED = {"log2"}
# PyTorch's derivative takes the root of x * x - 1, and so has the wrong sign below the cut.
_BELOW_ITS_CUT = {"acosh"}


@pytest.mark.parametrize("name", _NAMES)
def test_values_and_derivatives(name: str) -> None:
    points = _POINTS[~(np.signbit(_POINTS.imag) & (_POINTS.imag == 0))] if name in _BELOW_ITS_CUT else _POINTS
    points = points[points != 0] if name in _ROUNDED else points
    compare(lambda t, x: getattr(t, name)(x), points, order=1)


@pytest.mark.parametrize("name", [name for name in _NAMES if name not in _DIRECTED | _ROUNDED])
def test_values_far_out(name: str) -> None:
    compare(lambda t, x: getattr(t, name)(x), _FAR, grad=False)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [name for name in _NAMES if name != "isreal"])
def test_values_near_zero_keep_their_digits(name: str, dtype: str) -> None:
    sizes, turns = (1e-3, 1e-6, 1e-10, 1e-18), (1, -1, 1j, -1j, 0.6 + 0.8j)
    near = np.array([size * turn for size in sizes for turn in turns], dtype)
    with np.errstate(all="ignore"):
        exact, theirs, ours = [getattr(t, name)(t.from_numpy(near).to(getattr(t, wide))).numpy() for t, wide in (
            (torch, "complex128"), (torch, dtype), (retrograd, dtype))]
    unit = np.abs(exact) * np.finfo(dtype).eps
    assert (np.abs(ours - exact) <= np.maximum(4 * unit, 2 * np.abs(theirs - exact))).all()


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 1j, 2 - 1j])
def test_powers(exponent: complex) -> None:
    compare(lambda t, x: x ** exponent, _POINTS, order=1)
    if exponent:                    # in C++, 0 to the power of a complex 0 is nan; here it is 1, as of real numbers
        compare(lambda t, x: t.pow(exponent, x), _POINTS, order=1)


def test_powers_of_each_point_to_each() -> None:
    base = np.repeat(_POINTS[_POINTS != 0], len(_POINTS))
    exponent = np.tile(_POINTS, len(base) // len(_POINTS))
    compare(lambda t, x, y: x ** y, base, exponent, order=1)
