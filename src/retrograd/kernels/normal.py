"""The normal distribution: its logarithm and its inverse; and entropy. Arrays in, arrays out.

The inverse is a Chebyshev expansion in the square of the distance from 1 / 2, and in the tails one of what its
asymptotic form leaves (Abramowitz and Stegun, 26.2.22). Must not know ops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import special_tables as tables
from .elementary import delivered
from .error_function import scaled_erfc
from .expansions import chebyshev, in_double, where_so

_TAIL = 1 / 8
_AT_TAIL = math.sqrt(-2 * math.log(_TAIL))
_LEAST, _MOST = 6.0, 39.0   # of the square root of -2 log(p): where the far tail begins, and what no p exceeds


@in_double
def log_ndtr(x: Any) -> Any:
    """The logarithm of the probability that a normal number is at most x."""
    t = x * math.sqrt(0.5)
    low = np.log(scaled_erfc(-t) / 2) - t * t
    high = np.log1p(-np.exp(-t * t) * scaled_erfc(t) / 2)
    return np.where(x < -1, np.where(x == -np.inf, x, low), np.where(x == np.inf, -0.0, high))


def _quantile_by_distance(q: Any) -> Any:
    """Of q + 1 / 2, where q is at most 3 / 8."""
    return q * chebyshev(tables.NDTRI_MIDDLE, q * q, 0.0, (0.5 - _TAIL) ** 2)


def _quantile_of_tail(p: Any) -> Any:
    """Of p below 1 / 8; the result is negative."""
    r = np.sqrt(-2 * np.log(p))
    u = 1 / r
    rest = np.where(r < _LEAST, chebyshev(tables.NDTRI_NEAR, u, 1 / _LEAST, 1 / _AT_TAIL),
                    chebyshev(tables.NDTRI_FAR, u, 1 / _MOST, 1 / _LEAST))
    return np.where(p == 0, -np.inf, np.log(r) / r - r + rest / r)


@in_double
def ndtri(p: Any) -> Any:
    """The x that a normal number does not exceed with probability p; nan outside of [0, 1]."""
    result = np.full_like(p, np.nan)
    where_so((p >= _TAIL) & (p <= 1 - _TAIL), lambda p: _quantile_by_distance(p - 0.5), result, p)
    where_so((p >= 0) & (p < _TAIL), _quantile_of_tail, result, p)
    where_so((p > 1 - _TAIL) & (p <= 1), lambda p: -_quantile_of_tail(1 - p), result, p)
    return result


@in_double
def erfinv(x: Any) -> Any:
    """The inverse of the error function, which is that of the distribution but for scale; nan outside of [-1, 1]."""
    size, half = np.abs(x), math.sqrt(0.5)
    result = np.full_like(x, np.nan)
    where_so(size <= 1 - 2 * _TAIL, lambda x: half * _quantile_by_distance(x / 2), result, x)
    tail = (size > 1 - 2 * _TAIL) & (size <= 1)
    where_so(tail, lambda x, size: np.copysign(half * _quantile_of_tail((1 - size) / 2), x), result, x, size)
    return result


def entr(x: Any, *, out: Any = ...) -> Any:
    """-x * log(x), 0 at 0 and -inf below."""
    positive = -x * np.log(np.where(x > 0, x, x.dtype.type(1)))
    flat = np.where(x == 0, x.dtype.type(0), np.where(np.isnan(x), x, x.dtype.type(-math.inf)))
    return delivered(np.where(x > 0, positive, flat), out)


def xlog1py(x: Any, y: Any, *, out: Any = ...) -> Any:
    """x * log(1 + y), and 0 where x is 0, unless y is nan."""
    flat = np.logical_and(x == 0, ~np.isnan(y))
    return delivered(np.where(flat, x.dtype.type(0), x * np.log1p(y)), out)
