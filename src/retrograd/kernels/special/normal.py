"""The error function and its complement, and the normal distribution: its logarithm and its inverse. Also the entropy.

erf comes from a table of its Taylor series around the multiples of 1/128. The derivatives at a point are a Gaussian
times Hermite polynomials, and the values come from the C library. Near a point of the table the series is short: seven
terms for double precision. If erfc is small, it comes from its scaled form, an expansion after Shepherd and Laframboise
("Chebyshev Approximation of (1 + 2x) exp(x^2) erfc x", 1981).

The inverse of the normal distribution is a Chebyshev expansion in the square of the distance from 1 / 2. In the tails,
it is the asymptotic form plus an expansion of the rest (Abramowitz and Stegun, 26.2.22).
"""

from __future__ import annotations

import math
from functools import cache
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, Array
from ..elementwise.choosing import limited, where_into
from ..elementwise.elementary import delivered, in_single, times_log
from ..elementwise.parts import note_kernel
from ..layout import empty_as
from ..options import rounds_steps
from ..thresholds import ERF_CHUNK
from . import tables as tables
from .expansions import by_parts, chebyshev, in_double

_GRID = 128
_END = 6                    # from 5.93 on, erf(x) is 1 in double precision
_TERMS = {8: 7, 4: 4}       # by bytes per element


@cache
def _series(dtype: np.dtype[Any]) -> Any:
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
def erf(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    result = empty_as(x, x.dtype) if out is ... else out
    flat = x.reshape(-1)
    if flat.size <= ERF_CHUNK:
        values = _erf(flat)
    else:
        values = np.empty(flat.shape, x.dtype)
        for start in range(0, flat.size, ERF_CHUNK):
            values[start:start + ERF_CHUNK] = _erf(flat[start:start + ERF_CHUNK])
    result[...] = values.reshape(x.shape)
    return result


note_kernel(erf, 1.0, 0.3)


def _erf(x: Array) -> Any:
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


def scaled_erfc(x: Array) -> Any:
    """exp(x * x) * erfc(x), for float64."""
    value = scaled_erfc_of_positive(np.abs(x))
    below = (x < 0).nonzero()[0]
    value[below] = 2 * np.exp(np.square(x[below])) - value[below]
    return value


def scaled_erfc_of_positive(x: Array) -> Any:
    """exp(x * x) * erfc(x) for x >= 0: a Chebyshev expansion in (x - 4) / (x + 4), which is 1 at infinity."""
    return 0.5 * chebyshev(tables.ERFCX, 1 - 8 / (x + 4), -1.0, 1.0) / (0.5 + x)    # 2 * x might be infinite


def _erfc_far(x: Array) -> Any:
    """erfc(x) for x >= 1 / 2. The square has two parts; the first is exact, because exp magnifies an error."""
    near = np.rint(x * 64) / 64
    return np.exp(-near * near) * np.exp((near - x) * (near + x)) * scaled_erfc_of_positive(x)


@in_double
def erfc(x: Array) -> Any:
    """1 - erf(x), with all its bits even if it is small."""
    return by_parts(x, (x < 0.5, lambda x: 1 - _erf(x)), (x >= 0.5, lambda x: _erfc_far(np.minimum(x, 28))))


erfcx = in_double(scaled_erfc, "exp(x * x) * erfc(x).")


# The normal distribution

_TAIL = 1 / 8
_AT_TAIL = math.sqrt(-2 * math.log(_TAIL))
_LEAST, _MOST = 6.0, 39.0   # bounds of sqrt(-2 log(p)): the start of the far tail, and the largest value


# The coefficients, in powers of x * x, of the inverse hyperbolic tangent of erf(x / sqrt(2)), divided by x. The fit
# minimizes the greatest relative error of erf.
ERF_ARGUMENT = [np.array(c, F32) for c in (0.79788464, 0.03633435, -3.3912165e-05, -5.478136e-05, 3.872994e-06,
                                        -1.2525193e-07, 1.5671318e-09)]


@in_double
def log_ndtr(x: Array) -> Any:
    """The logarithm of the probability that a normal variable is at most x."""
    return by_parts(x * math.sqrt(0.5), (x < -1, _log_of_lower), (x >= -1, _log_of_upper))


def _log_of_lower(t: Array) -> Any:
    """The logarithm of erfc(-t) / 2, for t below 0."""
    return np.where(t == -np.inf, t, np.log(scaled_erfc_of_positive(-t) / 2) - t * t)


def _log_of_upper(t: Array) -> Any:
    """The logarithm of erfc(-t) / 2, for t that is not far below 0."""
    return np.where(t == np.inf, -0.0, np.log1p(-np.exp(-t * t) * scaled_erfc(t) / 2))


def _quantile_by_distance(q: Array) -> Any:
    """The quantile of q + 1 / 2, for abs(q) up to 3 / 8."""
    return q * chebyshev(tables.NDTRI_MIDDLE, q * q, 0.0, (0.5 - _TAIL) ** 2)


def _quantile_of_tail(p: Array) -> Any:
    """The quantile of p below 1 / 8, which is negative."""
    r = np.sqrt(-2 * np.log(p))
    rest = by_parts(1 / r, (r < _LEAST, lambda u: chebyshev(tables.NDTRI_NEAR, u, 1 / _LEAST, 1 / _AT_TAIL)),
                    (r >= _LEAST, lambda u: chebyshev(tables.NDTRI_FAR, u, 1 / _MOST, 1 / _LEAST)))
    return np.where(p == 0, -np.inf, np.log(r) / r - r + rest / r)


@in_double
def ndtri(p: Array) -> Any:
    """The quantile of p: the x that a normal variable does not exceed with probability p. It is nan outside [0, 1]."""
    return by_parts(p, ((p >= _TAIL) & (p <= 1 - _TAIL), lambda p: _quantile_by_distance(p - 0.5)),
                    ((p >= 0) & (p < _TAIL), _quantile_of_tail),
                    ((p > 1 - _TAIL) & (p <= 1), lambda p: -_quantile_of_tail(1 - p)))


@in_double
def erfinv(x: Array) -> Any:
    """The inverse of the error function: a scaled quantile of the normal distribution. It is nan outside [-1, 1]."""
    size, half = np.abs(x), math.sqrt(0.5)
    return by_parts(
        x, (size <= 1 - 2 * _TAIL, lambda x: half * _quantile_by_distance(x / 2)),
        ((size > 1 - 2 * _TAIL) & (size <= 1),
         lambda x: np.copysign(half * _quantile_of_tail((1 - np.abs(x)) / 2), x)))


def twice_ndtr(x: Array) -> Any:
    """1 + erf(x / sqrt(2)), twice the probability that a normal variable is at most x, to the precision of 1.

    In single precision, erf is the hyperbolic tangent of a polynomial, because NumPy has vector instructions for tanh.
    The seven terms are closer to erf than PyTorch's formula here.
    """
    if x.dtype != F32:
        t = erf(np.multiply(x, math.sqrt(0.5), out=...))
        return np.add(t, 1, out=t)
    size = limited(x, -6, 6)                                # erf is 1 beyond
    square = np.square(size, out=...)
    t = np.multiply(square, ERF_ARGUMENT[-1], out=...)
    for coefficient in ERF_ARGUMENT[-2:0:-1]:
        np.add(t, coefficient, out=t)
        np.multiply(t, square, out=t)
    np.add(t, ERF_ARGUMENT[0], out=t)
    np.tanh(np.multiply(t, size, out=t), out=t)
    return np.add(t, 1, out=t)


@rounds_steps
def entr(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """-x * log(x), with 0 at 0 and -inf below 0."""
    value = np.log(x, out=...)
    np.multiply(np.negative(x), value, out=value)
    for flat, number in ((x == 0, 0.0), (x < 0, -math.inf)):
        if np.any(flat):
            where_into(value, flat, number)
    return value if out is ... else delivered(value, out)


def xlog1py(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """x * log(1 + y), and 0 if x is 0 and y is not nan."""
    return times_log(x, y, np.log1p(y, out=...), out)
