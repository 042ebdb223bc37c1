"""The gamma function's logarithm, its derivatives, and Hurwitz's zeta function. Arrays in, arrays out.

Methods: for the logarithm Stirling's series, Chebyshev expansions from 1 on, one with the zeros at 1 and 2 taken out,
recurrence and reflection (Abramowitz and Stegun, 6.1.15, 6.1.17, 6.1.41); for its derivative recurrence, an asymptotic
series and reflection (6.3.5, 6.3.7, 6.3.18); for zeta, of which the higher ones are multiples, the sum formula of Euler
and Maclaurin. Must not know ops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import dtype as torch_dtype
from .expansions import chebyshev, in_double, in_double_of_two, where_so
from .special_tables import LGAMMA, LGAMMA_MIDDLE

# The Bernoulli numbers of even index, from B_2 on.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
              854513 / 138, -236364091 / 2730)
_FAR = 10.0                 # from here on the series in 1 / x are right to the last bits


def stirling_rest(x: Any) -> Any:
    """What Stirling's formula for log(gamma(x)) leaves, for x from 10 on: a series in 1 / x."""
    square = 1 / (x * x)
    total = np.zeros_like(x)
    for k in range(8, 0, -1):
        total = total * square + _BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return total / x


def _log_gamma_far(x: Any) -> Any:
    log = np.log(x)
    return np.where(x == np.inf, x, (x - 0.5) * (log - 1) - 0.5 + 0.5 * math.log(2 * math.pi) + stirling_rest(x))


def _log_gamma_near(x: Any) -> Any:
    """Between 0 and 3: between 1 and 3 with both zeros taken out, below from 1 more."""
    small = x < 1
    y = np.where(small, x + 1, x)
    # The zeros as differences that are exact: x + 1 is rounded.
    zeros = np.where(small, x * (x - 1), (y - 1) * (y - 2))
    return zeros * chebyshev(LGAMMA, y, 1.0, 3.0) - np.log(np.where(small, x, 1.0))


def log_gamma_of_positive(x: Any) -> Any:
    """log(gamma(x)) of float64 above 0."""
    result = np.full_like(x, np.nan)
    where_so(x >= _FAR, _log_gamma_far, result, x)
    where_so((x >= 3) & (x < _FAR), lambda x: chebyshev(LGAMMA_MIDDLE, x, 3.0, _FAR), result, x)
    where_so(x < 3, _log_gamma_near, result, x)
    return result


def _log_gamma_reflected(x: Any) -> Any:
    """For x below 0, by the reflection at 1 / 2; infinite at the integers."""
    fraction = np.abs(x - np.rint(x))
    sine = np.sin(math.pi * fraction)
    value = math.log(math.pi) - np.log(sine) - log_gamma_of_positive(1 - x)
    return np.where(fraction == 0, np.inf, np.where(x == -np.inf, np.inf, value))


def _log_gamma(x: Any) -> Any:
    result = np.full_like(x, np.nan)
    where_so(x > 0, log_gamma_of_positive, result, x)
    where_so(x <= 0, _log_gamma_reflected, result, x)
    return result


@in_double
def lgamma(x: Any) -> Any:
    """log(abs(gamma(x)))."""
    return _log_gamma(x)


@in_double
def _mvlgamma(x: Any, p: int) -> Any:
    total = np.full_like(x, p * (p - 1) / 4 * math.log(math.pi))
    for k in range(p):
        total += _log_gamma(x - k / 2)
    return total


def mvlgamma(x: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension p. Row by row in memory, as PyTorch's is."""
    return np.asarray(_mvlgamma(x, p), order="C")


def _digamma_far(x: Any) -> Any:
    square = 1 / (x * x)
    series = np.zeros_like(x)
    for k in range(8, 0, -1):
        series = (series + _BERNOULLI[k - 1] / (2 * k)) * square
    return np.log(x) - 0.5 / x - series


def _digamma_near(x: Any) -> Any:
    """Between 0 and 10: from 10 more, by the recurrence."""
    total = 1 / x
    for k in range(1, int(_FAR)):
        total = total + 1 / (x + k)
    return _digamma_far(x + _FAR) - total


@in_double
def digamma(x: Any) -> Any:
    """The derivative of log(gamma(x)); nan at the negative integers, infinite at 0 with the other sign."""
    negative = x < 0
    fraction = x - np.trunc(x)
    correction = np.where(negative, math.pi / np.tan(math.pi * np.where(negative, fraction, 0.5)), 0.0)
    y = np.where(negative, 1 - x, x)
    value = np.full_like(x, np.nan)
    where_so(y >= _FAR, _digamma_far, value, y)
    where_so(y < _FAR, _digamma_near, value, y)
    value = value - correction
    value = np.where(x == np.inf, np.inf, np.where(negative & (fraction == 0), np.nan, value))
    return np.where(x == 0, np.copysign(np.inf, -x), value)


def _zeta(s: Any, q: Any) -> Any:
    """The sum of (q + k) ** -s over all k from 0 on, for q above 0: nine terms, and what Euler and Maclaurin say."""
    total, a = np.power(q, -s), q
    for _ in range(9):
        a = a + 1
        total = total + np.power(a, -s)
    last = np.power(a, -s)
    total = total + np.power(a, 1 - s) / (s - 1) - last / 2
    factor, power, going = s, last / a, np.ones(s.shape, bool)
    for k, number in enumerate(_BERNOULLI, 1):
        term = number / math.factorial(2 * k) * factor * power
        total = np.where(going, total + term, total)
        going &= np.abs(term) > 1e-17 * np.abs(total)
        factor = factor * (s + (2 * k - 1)) * (s + 2 * k)
        power = power / (a * a)
    return total


def _zeta_of_negative(s: Any, q: Any) -> Any:
    """The same for q below 0 and whole s: the terms to both sides of 0, of which those below end at q."""
    gap = q - np.rint(q)                                    # exact, where q - floor(q) may be rounded to 1
    above, below = np.where(gap < 0, 1 + gap, gap), np.where(gap < 0, -gap, 1 - gap)
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    return _zeta(s, above) + sign * _zeta(s, below) - sign * _zeta(s, 1 - q)


def _zeta_everywhere(s: Any, q: Any) -> Any:
    """Hurwitz's zeta with its poles; nan where it is not defined."""
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == np.floor(q)))
    undefined = (s < 1) | ((q < 0) & (s != np.floor(s))) | np.isnan(q) | np.isnan(s)
    result = np.where(pole, np.inf, np.nan)
    where_so(~(pole | undefined) & (q > 0), _zeta, result, s, q)
    where_so(~(pole | undefined) & (q < 0), _zeta_of_negative, result, s, q)
    return result


zeta = in_double_of_two(_zeta_everywhere)
zeta.__doc__ = "Hurwitz's zeta: the sum of (y + k) ** -x over all k from 0 on."


def _trigamma(x: Any) -> Any:
    reflected = x < 0.5
    y = np.where(reflected, 1 - x, x)
    value = np.where(x == np.inf, 0.0, _zeta_everywhere(np.full_like(x, 2.0), y))
    sine = np.sin(math.pi * np.where(reflected, x - np.rint(x), 0.5))
    return np.where(reflected, (math.pi / sine) ** 2 - value, value)


@in_double
def _polygamma(x: Any, n: int) -> Any:
    if n == 1:
        return _trigamma(x)
    factorial = math.factorial(n) if n < 171 else math.inf
    return (-1) ** (n + 1) * factorial * _zeta_everywhere(np.full_like(x, n + 1.0), x)


def polygamma(x: Any, n: int) -> Any:
    """The derivative of order n of digamma. Raises RuntimeError for a negative n, NotImplementedError for complex x."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if x.dtype.kind == "c":
        name = ("digamma", "trigamma", "polygamma")[min(n, 2)]
        raise NotImplementedError(f'"{name}" not implemented for \'{torch_dtype.of[x.dtype].legacy}\'')
    return _polygamma(x, n) if n else digamma(x)
