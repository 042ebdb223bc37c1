"""The normal distribution: its logarithm and its inverse. Also the entropy.

The inverse is a Chebyshev expansion in the square of the distance from 1 / 2. In the tails, it is the asymptotic form
plus an expansion of the rest (Abramowitz and Stegun, 26.2.22).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import F32
from ..elementwise.choosing import limited, where_into
from ..elementwise.elementary import delivered, times_log
from . import tables as tables
from .error_function import erf, scaled_erfc, scaled_erfc_of_positive
from .expansions import by_parts, chebyshev, in_double

_TAIL = 1 / 8
_AT_TAIL = math.sqrt(-2 * math.log(_TAIL))
_LEAST, _MOST = 6.0, 39.0   # bounds of sqrt(-2 log(p)): the start of the far tail, and the largest value


# The coefficients, in powers of x * x, of the inverse hyperbolic tangent of erf(x / sqrt(2)), divided by x. The fit
# minimises the greatest relative error of erf.
_ARGUMENT = [np.array(c, F32) for c in (0.79788464, 0.03633435, -3.3912165e-05, -5.478136e-05, 3.872994e-06,
                                        -1.2525193e-07, 1.5671318e-09)]


@in_double
def log_ndtr(x: Any) -> Any:
    """The logarithm of the probability that a normal variable is at most x."""
    return by_parts(x * math.sqrt(0.5), (x < -1, _log_of_lower), (x >= -1, _log_of_upper))


def _log_of_lower(t: Any) -> Any:
    """The logarithm of erfc(-t) / 2, for t below 0."""
    return np.where(t == -np.inf, t, np.log(scaled_erfc_of_positive(-t) / 2) - t * t)


def _log_of_upper(t: Any) -> Any:
    """The logarithm of erfc(-t) / 2, for t that is not far below 0."""
    return np.where(t == np.inf, -0.0, np.log1p(-np.exp(-t * t) * scaled_erfc(t) / 2))


def _quantile_by_distance(q: Any) -> Any:
    """The quantile of q + 1 / 2, for abs(q) up to 3 / 8."""
    return q * chebyshev(tables.NDTRI_MIDDLE, q * q, 0.0, (0.5 - _TAIL) ** 2)


def _quantile_of_tail(p: Any) -> Any:
    """The quantile of p below 1 / 8, which is negative."""
    r = np.sqrt(-2 * np.log(p))
    rest = by_parts(1 / r, (r < _LEAST, lambda u: chebyshev(tables.NDTRI_NEAR, u, 1 / _LEAST, 1 / _AT_TAIL)),
                    (r >= _LEAST, lambda u: chebyshev(tables.NDTRI_FAR, u, 1 / _MOST, 1 / _LEAST)))
    return np.where(p == 0, -np.inf, np.log(r) / r - r + rest / r)


@in_double
def ndtri(p: Any) -> Any:
    """The quantile of p: the x that a normal variable does not exceed with probability p. It is nan outside [0, 1]."""
    return by_parts(p, ((p >= _TAIL) & (p <= 1 - _TAIL), lambda p: _quantile_by_distance(p - 0.5)),
                    ((p >= 0) & (p < _TAIL), _quantile_of_tail),
                    ((p > 1 - _TAIL) & (p <= 1), lambda p: -_quantile_of_tail(1 - p)))


@in_double
def erfinv(x: Any) -> Any:
    """The inverse of the error function: a scaled quantile of the normal distribution. It is nan outside [-1, 1]."""
    size, half = np.abs(x), math.sqrt(0.5)
    return by_parts(
        x, (size <= 1 - 2 * _TAIL, lambda x: half * _quantile_by_distance(x / 2)),
        ((size > 1 - 2 * _TAIL) & (size <= 1),
         lambda x: np.copysign(half * _quantile_of_tail((1 - np.abs(x)) / 2), x)))


def twice_ndtr(x: Any) -> Any:
    """1 + erf(x / sqrt(2)), twice the probability that a normal variable is at most x, to the precision of 1.

    In single precision, erf is the hyperbolic tangent of a polynomial, because NumPy has vector instructions for tanh.
    The seven terms are closer to erf than PyTorch's formula here.
    """
    if x.dtype != F32:
        t = erf(np.multiply(x, math.sqrt(0.5), out=...))
        return np.add(t, 1, out=t)
    size = limited(x, -6, 6)                                # erf is 1 beyond
    square = np.square(size, out=...)
    t = np.multiply(square, _ARGUMENT[-1], out=...)
    for coefficient in _ARGUMENT[-2:0:-1]:
        np.add(t, coefficient, out=t)
        np.multiply(t, square, out=t)
    np.add(t, _ARGUMENT[0], out=t)
    np.tanh(np.multiply(t, size, out=t), out=t)
    return np.add(t, 1, out=t)


def entr(x: Any, *, out: Any = ...) -> Any:
    """-x * log(x), with 0 at 0 and -inf below 0."""
    value = np.log(x, out=...)
    np.multiply(np.negative(x), value, out=value)
    for flat, number in ((x == 0, 0.0), (x < 0, -math.inf)):
        if np.any(flat):
            where_into(value, flat, number)
    return value if out is ... else delivered(value, out)


def xlog1py(x: Any, y: Any, *, out: Any = ...) -> Any:
    """x * log(1 + y), and 0 if x is 0 and y is not nan."""
    return times_log(x, y, np.log1p(y, out=...), out)
