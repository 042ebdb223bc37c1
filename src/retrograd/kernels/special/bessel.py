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

from ...foundations.dtypes import Array
from . import tables as tables
from .expansions import by_parts, chebyshev, in_double

_NEAR = 8.0                 # Hankel's form is used from here on
# The squares of the first two zeros of J0 and of J1, each as a sum of two numbers.
_ZEROS = (((5.783185962946784, 4.123247343506204e-16), (30.471262343662087, -2.366534485750659e-16)),
          ((14.681970642123893, -9.858177825793294e-17), (49.2184563216946, 5.086354069436341e-16)))


# Modified Bessel functions, whose scaled form is computed


def _scaled_i(size: Array, near: tuple[float, ...], far: tuple[float, ...]) -> Any:
    """exp(-x) I(x) for x >= 0, of order 0, or of order 1 and divided by x near 0."""
    return by_parts(size, (size <= _NEAR, lambda x: chebyshev(near, x, 0.0, _NEAR)),
                    (size > _NEAR, lambda x: chebyshev(far, 1 / x, 0.0, 1 / _NEAR) / np.sqrt(x)))


def _i0e(x: Array) -> Any:
    return _scaled_i(np.abs(x), tables.I0_NEAR, tables.I0_FAR)


def _i1e(x: Array) -> Any:
    size = np.abs(x)
    value = _scaled_i(size, tables.I1_NEAR, tables.I1_FAR)
    return np.where(size <= _NEAR, x * value + 0.0, np.copysign(value, x))       # 0.0 at -0.0, as in PyTorch


_FIRST_KIND = "The modified Bessel function of the first kind, of order"
i0 = in_double(lambda x: np.exp(np.abs(x)) * _i0e(x), f"{_FIRST_KIND} 0.")
i0e = in_double(_i0e, f"{_FIRST_KIND} 0, times exp(-abs(x)).")
i1 = in_double(lambda x: np.exp(np.abs(x)) * _i1e(x), f"{_FIRST_KIND} 1.")
i1e = in_double(_i1e, f"{_FIRST_KIND} 1, times exp(-abs(x)).")


def _k0_near(x: Array) -> Any:
    return chebyshev(tables.K0_NEAR, x * x, 0.0, 4.0) - np.log(x / 2) * np.exp(x) * _i0e(x)


def _k1_near(x: Array) -> Any:
    return chebyshev(tables.K1_NEAR, x * x, 0.0, 4.0) / x + np.log(x / 2) * np.exp(x) * _i1e(x)


def _k(x: Array, order: int, scaled: bool) -> Any:
    """The second kind, for positive numbers. It is infinite at 0."""
    near, far = (_k0_near, tables.K0_FAR) if not order else (_k1_near, tables.K1_FAR)
    return by_parts(
        x, (x == 0, lambda x: np.inf), ((x > 0) & (x <= 2), lambda x: near(x) * (np.exp(x) if scaled else 1.0)),
        (x > 2, lambda x: chebyshev(far, 1 / x, 0.0, 0.5) / np.sqrt(x) * (1.0 if scaled else np.exp(-x))))


_SECOND_KIND = "The modified Bessel function of the second kind, of order"
k0 = in_double(lambda x: _k(x, 0, False), f"{_SECOND_KIND} 0.")
k1 = in_double(lambda x: _k(x, 1, False), f"{_SECOND_KIND} 1.")
k0e = in_double(lambda x: _k(x, 0, True), f"{_SECOND_KIND} 0, times exp(x).")
k1e = in_double(lambda x: _k(x, 1, True), f"{_SECOND_KIND} 1, times exp(x).")


# Bessel functions that oscillate


def _j_near(x: Array, order: int) -> Any:
    square = x * x
    first, second = [(square - high) - low for high, low in _ZEROS[order]]
    value = first * second * chebyshev(tables.J1_NEAR if order else tables.J0_NEAR, square, 0.0, _NEAR * _NEAR)
    return x * value if order else value


def _y_near(x: Array, order: int) -> Any:
    table = tables.Y1_NEAR if order else tables.Y0_NEAR
    value = chebyshev(table, x * x, 0.0, _NEAR * _NEAR)
    product = np.log(x) * _j_near(x, order)
    return x * value + 2 / math.pi * (product - 1 / x) if order else value + 2 / math.pi * product


def _far(x: Array, order: int, second: bool) -> Any:
    """Hankel's form. Sums apply the phase of an odd multiple of pi / 4, because x minus that phase would be rounded."""
    p, q = (tables.P1_FAR, tables.Q1_FAR) if order else (tables.P0_FAR, tables.Q0_FAR)
    ratio = (_NEAR / x) ** 2
    even, odd = chebyshev(p, ratio, 0.0, 1.0), chebyshev(q, ratio, 0.0, 1.0) / x
    sine, cosine = np.sin(x), np.cos(x)
    rotated = (sine - cosine, -(sine + cosine)) if order else (cosine + sine, sine - cosine)
    value = rotated[1] * even + rotated[0] * odd if second else rotated[0] * even - rotated[1] * odd
    return value / np.sqrt(math.pi * x)


def _j(x: Array, order: int) -> Any:
    size = np.abs(x)
    result = by_parts(size, (size <= _NEAR, lambda x: _j_near(x, order)),
                      (size > _NEAR, lambda x: _far(x, order, False)))
    return np.where(np.signbit(x), -result, result) if order else result


def _y(x: Array, order: int) -> Any:
    return by_parts(x, (x == 0, lambda x: -np.inf), ((x > 0) & (x <= _NEAR), lambda x: _y_near(x, order)),
                    (x > _NEAR, lambda x: _far(x, order, True)))


j0 = in_double(lambda x: _j(x, 0), "The Bessel function of the first kind, of order 0.")
j1 = in_double(lambda x: _j(x, 1), "The Bessel function of the first kind, of order 1.")
y0 = in_double(lambda x: _y(x, 0), "The Bessel function of the second kind, of order 0; nan for negative numbers.")
y1 = in_double(lambda x: _y(x, 1), "The Bessel function of the second kind, of order 1; nan for negative numbers.")


@in_double
def spherical_j0(x: Array) -> Any:
    """sin(x) / x, with 1 at 0 and 0 at the infinities."""
    return np.where(np.isinf(x), 0.0, np.where(x == 0, 1.0, np.sin(x) / x))


# Airy's function

_MIDDLE = 2.25              # up to this absolute value, an expansion in x itself
_LEAST = 2 / 3 * _MIDDLE ** 1.5


def _airy_decaying(x: Array) -> Any:
    zeta = 2 / 3 * x * np.sqrt(x)
    factor = chebyshev(tables.AI_DECAY, 1 / zeta, 0.0, 1 / _LEAST)
    return factor * np.exp(-zeta) / (2 * math.sqrt(math.pi) * np.sqrt(np.sqrt(x)))


def _airy_oscillating(x: Array) -> Any:
    zeta = 2 / 3 * -x * np.sqrt(-x)
    ratio = 1 / (zeta * zeta)
    even, odd = [chebyshev(table, ratio, 0.0, 1 / _LEAST ** 2) for table in (tables.AI_SINE, tables.AI_COSINE)]
    sine, cosine = np.sin(zeta), np.cos(zeta)
    value = (sine + cosine) * even - (cosine - sine) * odd / zeta
    return value / (math.sqrt(2 * math.pi) * np.sqrt(np.sqrt(-x)))


@in_double
def airy_ai(x: Array) -> Any:
    """Airy's function, which oscillates below 0 and decays above 0. It is nan at the infinities."""
    finite = np.isfinite(x)
    return by_parts(x, (np.abs(x) <= _MIDDLE, lambda x: chebyshev(tables.AI_MIDDLE, x, -_MIDDLE, _MIDDLE)),
                    (finite & (x > _MIDDLE), _airy_decaying), (finite & (x < -_MIDDLE), _airy_oscillating))
