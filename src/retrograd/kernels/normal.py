"""The normal distribution: its logarithm, its inverse, the scaled error function; and entropy. Arrays in, arrays out.

The scaled error function is a Chebyshev expansion in (x - 4) / (x + 4), after Shepherd and Laframboise ("Chebyshev
Approximation of (1 + 2x) exp(x^2) erfc x", 1981). The inverse of the distribution is one in the square of the
distance from 1 / 2, and in the tails of what its asymptotic form leaves. Must not know ops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import special_tables as tables
from .elementary import delivered
from .expansions import chebyshev, in_double, where_so

_TAIL = 1 / 8
_AT_TAIL = math.sqrt(-2 * math.log(_TAIL))
_LEAST, _MOST = 6.0, 39.0   # of the square root of -2 log(p): where the far tail begins, and what no p exceeds


def _erfcx(x: Any) -> Any:
    size = np.abs(x)
    t = np.where(np.isinf(size), 1.0, (size - 4) / (size + 4))
    value = chebyshev(tables.ERFCX, t, -1.0, 1.0) / (1 + 2 * size)
    return np.where(x < 0, 2 * np.exp(x * x) - value, value)


@in_double
def erfcx(x: Any) -> Any:
    """exp(x * x) times erfc(x)."""
    return _erfcx(x)


@in_double
def log_ndtr(x: Any) -> Any:
    """The logarithm of the probability that a normal number is at most x."""
    t = x * math.sqrt(0.5)
    low = np.log(_erfcx(-t) / 2) - t * t
    high = np.log1p(-np.exp(-t * t) * _erfcx(t) / 2)
    return np.where(x < -1, np.where(x == -np.inf, x, low), np.where(x == np.inf, -0.0, high))


def _quantile_middle(p: Any) -> Any:
    q = p - 0.5
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
    where_so((p >= _TAIL) & (p <= 1 - _TAIL), _quantile_middle, result, p)
    where_so((p >= 0) & (p < _TAIL), _quantile_of_tail, result, p)
    where_so((p > 1 - _TAIL) & (p <= 1), lambda p: -_quantile_of_tail(1 - p), result, p)
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
