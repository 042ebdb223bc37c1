"""Bessel functions of orders 0 and 1, and Airy's function.

The methods follow Clenshaw ("Chebyshev Series for Mathematical Functions", 1962). Near 0 they are Chebyshev expansions
in x or x squared, without the singular part (Abramowitz and Stegun, 9.1.13, 9.6.13), and for J also without the first
zeros. Further out they are Hankel's form of a cosine and a sine with slowly varying factors, or an exponential with
such a factor (9.2.5, 9.7, 10.4.59).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import tables as tables
from .expansions import chebyshev, in_double, where_so

_NEAR = 8.0                 # Hankel's form is used from here on
# The squares of the first two zeros of J0 and of J1, each as a sum of two numbers.
_ZEROS = (((5.783185962946784, 4.123247343506204e-16), (30.471262343662087, -2.366534485750659e-16)),
          ((14.681970642123893, -9.858177825793294e-17), (49.2184563216946, 5.086354069436341e-16)))


# Modified Bessel functions, whose scaled form is computed


def _scaled_i(size: Any, near: tuple[float, ...], far: tuple[float, ...]) -> Any:
    """exp(-x) I(x) for x >= 0, of order 0, or of order 1 and divided by x near 0."""
    result = np.full_like(size, np.nan)
    where_so(size <= _NEAR, lambda x: chebyshev(near, x, 0.0, _NEAR), result, size)
    where_so(size > _NEAR, lambda x: chebyshev(far, 1 / x, 0.0, 1 / _NEAR) / np.sqrt(x), result, size)
    return result


def _i0e(x: Any) -> Any:
    return _scaled_i(np.abs(x), tables.I0_NEAR, tables.I0_FAR)


def _i1e(x: Any) -> Any:
    size = np.abs(x)
    value = _scaled_i(size, tables.I1_NEAR, tables.I1_FAR)
    return np.where(size <= _NEAR, x * value, np.copysign(value, x))


@in_double
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind, of order 0."""
    return np.exp(np.abs(x)) * _i0e(x)


@in_double
def i0e(x: Any) -> Any:
    """The modified Bessel function of the first kind, of order 0, times exp(-abs(x))."""
    return _i0e(x)


@in_double
def i1(x: Any) -> Any:
    """The modified Bessel function of the first kind, of order 1."""
    return np.exp(np.abs(x)) * _i1e(x)


@in_double
def i1e(x: Any) -> Any:
    """The modified Bessel function of the first kind, of order 1, times exp(-abs(x))."""
    return _i1e(x)


def _k0_near(x: Any) -> Any:
    return chebyshev(tables.K0_NEAR, x * x, 0.0, 4.0) - np.log(x / 2) * np.exp(x) * _i0e(x)


def _k1_near(x: Any) -> Any:
    return chebyshev(tables.K1_NEAR, x * x, 0.0, 4.0) / x + np.log(x / 2) * np.exp(x) * _i1e(x)


def _k(x: Any, order: int, scaled: bool) -> Any:
    """The second kind, for positive numbers. It is infinite at 0."""
    near, far = (_k0_near, tables.K0_FAR) if not order else (_k1_near, tables.K1_FAR)
    result = np.where(x == 0, np.inf, np.nan)
    where_so((x > 0) & (x <= 2), lambda x: near(x) * (np.exp(x) if scaled else 1.0), result, x)
    where_so(x > 2, lambda x: chebyshev(far, 1 / x, 0.0, 0.5) / np.sqrt(x) * (1.0 if scaled else np.exp(-x)), result, x)
    return result


@in_double
def k0(x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 0."""
    return _k(x, 0, False)


@in_double
def k1(x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 1."""
    return _k(x, 1, False)


@in_double
def k0e(x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 0, times exp(x)."""
    return _k(x, 0, True)


@in_double
def k1e(x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 1, times exp(x)."""
    return _k(x, 1, True)


# Bessel functions that oscillate


def _j_near(x: Any, order: int) -> Any:
    square = x * x
    first, second = [(square - high) - low for high, low in _ZEROS[order]]
    value = first * second * chebyshev(tables.J1_NEAR if order else tables.J0_NEAR, square, 0.0, _NEAR * _NEAR)
    return x * value if order else value


def _y_near(x: Any, order: int) -> Any:
    table = tables.Y1_NEAR if order else tables.Y0_NEAR
    value = chebyshev(table, x * x, 0.0, _NEAR * _NEAR)
    product = np.log(x) * _j_near(x, order)
    return x * value + 2 / math.pi * (product - 1 / x) if order else value + 2 / math.pi * product


def _far(x: Any, order: int, second: bool) -> Any:
    """Hankel's form. Sums apply the phase of an odd multiple of pi / 4, because x minus that phase would be rounded."""
    p, q = (tables.P1_FAR, tables.Q1_FAR) if order else (tables.P0_FAR, tables.Q0_FAR)
    ratio = (_NEAR / x) ** 2
    even, odd = chebyshev(p, ratio, 0.0, 1.0), chebyshev(q, ratio, 0.0, 1.0) / x
    sine, cosine = np.sin(x), np.cos(x)
    rotated = (sine - cosine, -(sine + cosine)) if order else (cosine + sine, sine - cosine)
    value = rotated[1] * even + rotated[0] * odd if second else rotated[0] * even - rotated[1] * odd
    return value / np.sqrt(math.pi * x)


def _j(x: Any, order: int) -> Any:
    size = np.abs(x)
    result = np.full_like(x, np.nan)
    where_so(size <= _NEAR, lambda x: _j_near(x, order), result, size)
    where_so(size > _NEAR, lambda x: _far(x, order, False), result, size)
    return np.where(np.signbit(x), -result, result) if order else result


def _y(x: Any, order: int) -> Any:
    result = np.where(x == 0, -np.inf, np.nan)
    where_so((x > 0) & (x <= _NEAR), lambda x: _y_near(x, order), result, x)
    where_so(x > _NEAR, lambda x: _far(x, order, True), result, x)
    return result


@in_double
def j0(x: Any) -> Any:
    """The Bessel function of the first kind, of order 0."""
    return _j(x, 0)


@in_double
def j1(x: Any) -> Any:
    """The Bessel function of the first kind, of order 1."""
    return _j(x, 1)


@in_double
def y0(x: Any) -> Any:
    """The Bessel function of the second kind, of order 0; nan for negative numbers."""
    return _y(x, 0)


@in_double
def y1(x: Any) -> Any:
    """The Bessel function of the second kind, of order 1; nan for negative numbers."""
    return _y(x, 1)


@in_double
def spherical_j0(x: Any) -> Any:
    """sin(x) / x, with 1 at 0 and 0 at the infinities."""
    return np.where(np.isinf(x), 0.0, np.where(x == 0, 1.0, np.sin(x) / x))


# Airy's function

_MIDDLE = 2.25              # up to this absolute value, an expansion in x itself
_LEAST = 2 / 3 * _MIDDLE ** 1.5


def _airy_decaying(x: Any) -> Any:
    zeta = 2 / 3 * x * np.sqrt(x)
    factor = chebyshev(tables.AI_DECAY, 1 / zeta, 0.0, 1 / _LEAST)
    return factor * np.exp(-zeta) / (2 * math.sqrt(math.pi) * np.sqrt(np.sqrt(x)))


def _airy_oscillating(x: Any) -> Any:
    zeta = 2 / 3 * -x * np.sqrt(-x)
    ratio = 1 / (zeta * zeta)
    even, odd = [chebyshev(table, ratio, 0.0, 1 / _LEAST ** 2) for table in (tables.AI_SINE, tables.AI_COSINE)]
    sine, cosine = np.sin(zeta), np.cos(zeta)
    value = (sine + cosine) * even - (cosine - sine) * odd / zeta
    return value / (math.sqrt(2 * math.pi) * np.sqrt(np.sqrt(-x)))


@in_double
def airy_ai(x: Any) -> Any:
    """Airy's function, which oscillates below 0 and decays above 0. It is nan at the infinities."""
    result = np.full_like(x, np.nan)
    finite = np.isfinite(x)
    where_so(np.abs(x) <= _MIDDLE, lambda x: chebyshev(tables.AI_MIDDLE, x, -_MIDDLE, _MIDDLE), result, x)
    where_so(finite & (x > _MIDDLE), _airy_decaying, result, x)
    where_so(finite & (x < -_MIDDLE), _airy_oscillating, result, x)
    return result
