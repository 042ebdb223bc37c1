"""The logarithm of the gamma function, its derivatives, and Hurwitz's zeta function.

From 3 on, the functions use the asymptotic series, and Chebyshev expansions in 1 / x for the rest (Abramowitz and
Stegun, 6.1.40, 6.3.18, 6.4.12). Below 3 the logarithm uses an expansion without the zeros at 1 and 2. Recurrence and
reflection give the other values (6.1.15, 6.1.17, 6.3.5, 6.3.7, 6.4.6). Zeta uses the Euler-Maclaurin formula; the
higher derivatives are multiples of zeta.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, dtype as torch_dtype
from . import tables as tables
from .expansions import by_parts, chebyshev, in_double, in_double_of_two, where_so

# The Bernoulli numbers of even index, from B_2 on.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
              854513 / 138, -236364091 / 2730)
_CLOSE = 1e-20              # the gamma function of x is 1 / x up to here, though the sine may be rounded
_FAR = 3                    # the expansions in 1 / x hold from here on


def _in_reciprocal(table: tuple[float, ...], reciprocal: Array) -> Any:
    """The value of a table for x from `_FAR` on, as a function of 1 / x."""
    return chebyshev(table, reciprocal, 0.0, 1 / _FAR)


def stirling_rest(x: Array) -> Any:
    """log(gamma(x)) minus Stirling's formula, for x from 3 on."""
    return _in_reciprocal(tables.STIRLING, 1 / x) / x


def _log_gamma_far(x: Array) -> Any:
    value = (x - 0.5) * (np.log(x) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + stirling_rest(x)
    value[x == np.inf] = np.inf
    return value


def _log_gamma_near(x: Array) -> Any:
    """log(gamma(x)) for x between 0 and 3. Both zeros are factored out; below 1 the recurrence uses x + 1."""
    small = x < 1
    y = np.where(small, x + 1, x)
    # The zeros as exact differences: x + 1 is rounded.
    zeros = np.where(small, x * (x - 1), (y - 1) * (y - 2))
    return zeros * chebyshev(tables.LGAMMA, y, 1.0, 3.0) + 0.0 - np.log(np.where(small, x, 1.0))


def log_gamma_of_positive(x: Array) -> Any:
    """log(gamma(x)) for positive float64."""
    return by_parts(x, (x >= _FAR, _log_gamma_far), (x < _FAR, _log_gamma_near))


def _log_gamma_reflected(x: Array) -> Any:
    """log(abs(gamma(x))) for x below 0, by the reflection at 1 / 2. It is infinite at the integers."""
    fraction = np.abs(x - np.rint(x))
    sine = np.sin(math.pi * fraction)
    value = math.log(math.pi) - np.log(sine) - log_gamma_of_positive(1 - x)
    value = np.where(fraction < _CLOSE, -np.log(fraction), value)        # only 0 has numbers that are so close
    return np.where(fraction == 0, np.inf, np.where(x == -np.inf, np.inf, value))


def _log_gamma(x: Array) -> Any:
    return by_parts(x, (x > 0, log_gamma_of_positive), (x <= 0, _log_gamma_reflected))


lgamma = in_double(_log_gamma, "log(abs(gamma(x))).")


@in_double
def _mvlgamma(x: Array, p: int) -> Any:
    total = np.full_like(x, p * (p - 1) / 4 * math.log(math.pi))
    for k in range(p):
        total += _log_gamma(x - k / 2)
    return total


def mvlgamma(x: Array, p: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension p. The result is row-major, as in PyTorch."""
    return np.asarray(_mvlgamma(x, p), order="C")


def _digamma_far(x: Array) -> Any:
    reciprocal = 1 / x
    return np.log(x) - reciprocal * (0.5 + reciprocal * _in_reciprocal(tables.DIGAMMA, reciprocal))


def _digamma_near(x: Array) -> Any:
    """digamma for x between 0 and 3: its value at x + 3, and the recurrence."""
    return _digamma_far(x + 3) - (1 / x + 1 / (x + 1) + 1 / (x + 2))


def _digamma_of_positive(x: Array) -> Any:
    return by_parts(x, (x >= _FAR, _digamma_far), (x < _FAR, _digamma_near))


def _digamma_reflected(x: Array) -> Any:
    """digamma for x below 0. It is nan at the integers."""
    fraction = x - np.trunc(x)
    value = _digamma_of_positive(1 - x) - math.pi / np.tan(math.pi * fraction)
    return np.where(fraction == 0, np.nan, value)


@in_double
def digamma(x: Array) -> Any:
    """The derivative of log(gamma(x)): nan at the negative integers, and infinite at 0 with the opposite sign."""
    return by_parts(x, (x > 0, _digamma_of_positive), (x < 0, _digamma_reflected),
                    (x == 0, lambda x: np.copysign(np.inf, -x)))


def _zeta(s: Array, q: Array) -> Any:
    """The sum of (q + k) ** -s over k from 0 on, for q > 0: nine terms and the Euler-Maclaurin formula."""
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


def _zeta_of_negative(s: Array, q: Array) -> Any:
    """The sum of (q + k) ** -s for q < 0 and whole s: the terms above 0, and the terms from q up to 0."""
    gap = q - np.rint(q)                                    # exact, while q - floor(q) may be rounded to 1
    above, below = np.where(gap < 0, 1 + gap, gap), np.where(gap < 0, -gap, 1 - gap)
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    return _zeta(s, above) + sign * _zeta(s, below) - sign * _zeta(s, 1 - q)


def _zeta_everywhere(s: Array, q: Array) -> Any:
    """Hurwitz's zeta with its poles. It is nan where zeta is not defined."""
    pole = (s == 1) | (~(s < 1) & (q <= 0) & (q == np.floor(q)))
    undefined = (s < 1) | ((q < 0) & (s != np.floor(s))) | np.isnan(q) | np.isnan(s)
    result = np.where(pole, np.inf, np.nan)
    endless = (s == np.inf) & ~(pole | undefined)
    where_so(endless, lambda s, q: np.where(q < 0, np.inf, np.power(q, -s)), result, s, q)    # the largest term
    undefined |= endless
    where_so(~(pole | undefined) & (q > 0), _zeta, result, s, q)
    where_so(~(pole | undefined) & (q < 0), _zeta_of_negative, result, s, q)
    return result


zeta = in_double_of_two(_zeta_everywhere, "Hurwitz's zeta: the sum of (y + k) ** -x over all k from 0 on.")


def _trigamma_far(x: Array) -> Any:
    reciprocal = 1 / x
    rest = reciprocal * (0.5 + reciprocal * _in_reciprocal(tables.TRIGAMMA, reciprocal))
    return reciprocal * (1 + rest)


def _trigamma_near(x: Array) -> Any:
    """trigamma for x between 0 and 3: its value at x + 3, and the recurrence."""
    return _trigamma_far(x + 3) + (1 / (x * x) + 1 / ((x + 1) * (x + 1)) + 1 / ((x + 2) * (x + 2)))


def _trigamma_of_positive(x: Array) -> Any:
    return by_parts(x, (x >= _FAR, _trigamma_far), (x < _FAR, _trigamma_near))


def _trigamma_reflected(x: Array) -> Any:
    sine = np.sin(math.pi * (x - np.rint(x)))
    return (math.pi / sine) ** 2 - _trigamma_of_positive(1 - x)


@in_double
def _polygamma(x: Array, n: int) -> Any:
    if n == 1:
        return by_parts(x, (x > 0, _trigamma_of_positive), (x <= 0, _trigamma_reflected))
    factorial = math.factorial(n) if n < 171 else math.inf
    return (-1) ** (n + 1) * factorial * _zeta_everywhere(np.full_like(x, n + 1.0), x)


def polygamma(x: Array, n: int) -> Any:
    """The n-th derivative of digamma. Raises RuntimeError if n is negative, NotImplementedError if x is complex."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if x.dtype.kind == "c":
        name = ("digamma", "trigamma", "polygamma")[min(n, 2)]
        raise NotImplementedError(f'"{name}" not implemented for \'{torch_dtype.of[x.dtype].legacy}\'')
    return _polygamma(x, n) if n else digamma(x)
