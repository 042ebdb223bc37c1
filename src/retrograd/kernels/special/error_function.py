"""The error function and its complement.

erf comes from a table of its Taylor series around the multiples of 1/128. The derivatives at a point are a Gaussian
times Hermite polynomials, and the values come from the C library. Near a point of the table the series is short: seven
terms for double precision. If erfc is small, it comes from its scaled form, an expansion after Shepherd and Laframboise
("Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x", 1981).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..elementwise.choosing import limited
from ..elementwise.elementary import in_single
from ..layout import empty_as
from .expansions import by_parts, chebyshev, in_double
from .tables import ERFCX

_GRID = 128
_END = 6                    # from 5.93 on, erf(x) is 1 in double precision
_TERMS = {8: 7, 4: 4}       # by bytes per element
_CHUNK = 16384


@cache
def _series(dtype: Any) -> Any:
    """Row k holds the coefficients of the k-th power of the distance from each point, for points from -_END on."""
    points = np.arange(-_END * _GRID, _END * _GRID + 1) / _GRID
    rows = [np.array([math.erf(x) for x in points])]
    rows[0][_END * _GRID] = -0.0                            # a sum with -0.0 keeps the sign of the other number
    slope = 2 / math.sqrt(math.pi) * np.exp(-points * points)
    hermite, before = np.ones_like(points), np.zeros_like(points)
    for k in range(1, _TERMS[dtype.itemsize]):
        rows.append((-1) ** (k - 1) * slope * hermite / math.factorial(k))
        hermite, before = 2 * points * hermite - 2 * (k - 1) * before, hermite
    return np.array(rows, dtype)


@in_single
def erf(x: Any, *, out: Any = ...) -> Any:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    result = empty_as(x, x.dtype) if out is ... else out
    flat = x.reshape(-1)
    if flat.size <= _CHUNK:
        values = _erf(flat)
    else:
        values = np.empty(flat.shape, x.dtype)
        for start in range(0, flat.size, _CHUNK):
            values[start:start + _CHUNK] = _erf(flat[start:start + _CHUNK])
    result[...] = values.reshape(x.shape)
    return result


def _erf(x: Any) -> Any:
    """erf of a one-dimensional piece that fits the cache."""
    distance = limited(x, -_END, _END)
    point = np.multiply(distance, _GRID, out=...)
    np.rint(point, out=point)
    np.add(point, _END * _GRID, out=point)
    index = point.astype(np.intp)
    np.maximum(index, 0, out=index)                         # a nan has no index, but its distance is nan too
    np.subtract(point, _END * _GRID, out=point)             # not -0.0, so that the distance from 0 has the sign of x
    np.multiply(point, 1 / _GRID, out=point)
    np.subtract(distance, point, out=distance)
    series = _series(x.dtype)
    total = series[-1].take(index)
    for row in series[-2::-1]:
        np.multiply(total, distance, out=total)
        np.add(total, row.take(index), out=total)
    return total


def scaled_erfc(x: Any) -> Any:
    """exp(x * x) * erfc(x), for float64."""
    value = scaled_erfc_of_positive(np.abs(x))
    below = (x < 0).nonzero()[0]
    value[below] = 2 * np.exp(np.square(x[below])) - value[below]
    return value


def scaled_erfc_of_positive(x: Any) -> Any:
    """exp(x * x) * erfc(x) for x >= 0: a Chebyshev expansion in (x - 4) / (x + 4), which is 1 at infinity."""
    return chebyshev(ERFCX, 1 - 8 / (x + 4), -1.0, 1.0) / (1 + 2 * x)


def _erfc_far(x: Any) -> Any:
    """erfc(x) for x >= 1 / 2. The square has two parts; the first is exact, because exp magnifies an error."""
    near = np.rint(x * 64) / 64
    return np.exp(-near * near) * np.exp((near - x) * (near + x)) * scaled_erfc_of_positive(x)


@in_double
def erfc(x: Any) -> Any:
    """1 - erf(x), with all its bits even if it is small."""
    return by_parts(x, (x < 0.5, lambda x: 1 - _erf(x)), (x >= 0.5, lambda x: _erfc_far(np.minimum(x, 28))))


erfcx = in_double(scaled_erfc, "exp(x * x) * erfc(x).")
