"""The error function, its complement and its inverse. Arrays in, arrays out; must not know ops.

erf is taken from a table of its Taylor series around the multiples of 1/32: its derivatives at a point are a
Gaussian times Hermite polynomials, and its values come from the C library. So close to a point of the table the
series is short: eight terms for double precision.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..dtypes import F64
from .elementary import delivered

_GRID = 32
_END = 6                    # erf(x) is 1 in double precision from 5.93 on
_TERMS = {8: 8, 4: 5, 2: 4}     # by bytes an element
_CHUNK = 16384


@cache
def _series() -> Any:
    """Row k holds, for each point, what stands before the k-th power of the distance from it."""
    points = np.arange(_END * _GRID + 1) / _GRID
    rows = [np.array([math.erf(x) for x in points])]
    slope = 2 / math.sqrt(math.pi) * np.exp(-points * points)
    hermite, before = np.ones_like(points), np.zeros_like(points)
    for k in range(1, _TERMS[8]):
        rows.append((-1) ** (k - 1) * slope * hermite / math.factorial(k))
        hermite, before = 2 * points * hermite - 2 * (k - 1) * before, hermite
    return np.array(rows)


def erf(x: Any, *, out: Any = ...) -> Any:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    result = np.empty_like(x) if out is ... else out
    flat = x.reshape(-1)
    values = np.empty(flat.shape, x.dtype)
    for start in range(0, flat.size, _CHUNK):
        values[start:start + _CHUNK] = _erf(flat[start:start + _CHUNK].astype(F64), _TERMS[x.dtype.itemsize])
    result[...] = values.reshape(x.shape)
    return result


def _erf(x: Any, terms: int) -> Any:
    """erf of a piece of float64 that fits the cache."""
    size = np.minimum(np.abs(x), _END)
    size[np.isnan(x)] = 0
    point = np.rint(size * _GRID)
    distance = size - point / _GRID
    index = point.astype(np.intp)
    series = _series()
    total = series[terms - 1].take(index)
    for row in series[terms - 2::-1]:
        total *= distance
        total += row.take(index)
    return np.where(np.isnan(x), x, np.copysign(total, x))


_erfc = np.frompyfunc(math.erfc, 1, 1)


def erfc(x: Any, *, out: Any = ...) -> Any:
    """1 - erf(x), to the last bits where that is small too: the C library's."""
    return delivered(np.asarray(_erfc(x.astype(F64))).astype(x.dtype), out)


def erfinv(y: Any, *, out: Any = ...) -> Any:
    """The x for which erf(x) is y: a formula by Winitzki that is right to 0.2 %, then two of Halley's steps."""
    size = np.abs(y.astype(F64))
    rest = 1 - size
    log = np.log(rest * (1 + size)) / 2
    middle = 2 / (math.pi * 0.147) + log
    x = np.sqrt(np.sqrt(middle * middle - 2 * log / 0.147) - middle)
    for _ in range(2):
        gap = np.where(size < 0.5, erf(x) - size, rest - erfc(x))
        step = gap / (2 / math.sqrt(math.pi) * np.exp(-x * x))
        x = x - step / (1 + x * step)
    x = np.where(size == 1, math.inf, x)
    return delivered(np.asarray(np.copysign(x, y)).astype(y.dtype), out)
