"""The regularized incomplete gamma functions, and the derivative of a gamma-distributed sample by its shape.

Below the diagonal the method is a power series, above it Legendre's continued fraction, and for small arguments a
series for the upper function itself (Gautschi, "A Computational Procedure for Incomplete Gamma Functions", 1979). For
large arguments near the diagonal these methods are slow, so Gauss-Legendre quadrature gives the tail.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from .expansions import chebyshev, in_double_of_two, where_so
from .gamma import digamma, log_gamma_of_positive, stirling_rest
from .tables import LOG1PMX

_STEPS = 500  # more than any series or fraction here needs; each ends when all its elements have converged
_NODES = 48
_EPS = 1e-17


def _excess(ratio: Array) -> Any:
    """u - log(1 + u), without cancellation for small u."""
    u = np.clip(ratio, -0.4, 0.5)
    near = -u * u * chebyshev(LOG1PMX, u, -0.4, 0.5)
    return np.where(u == ratio, near, ratio - np.log1p(ratio))


def _weight(a: Array, x: Array) -> Any:
    """x ** a * exp(-x) / gamma(a + 1)."""
    result = np.empty_like(x)
    large = a >= 10
    where_so(~large, lambda a, x: np.exp(a * np.log(x) - x - log_gamma_of_positive(a + 1)), result, a, x)
    where_so(large, lambda a, x: np.exp(-a * _excess((x - a) / a) - stirling_rest(a)) * np.sqrt(0.5 / (math.pi * a)),
             result, a, x)
    return result


def _lower_series(a: Array, x: Array) -> Any:
    """The lower function, if x is not much above a."""
    term, total, n = np.ones_like(x), np.ones_like(x), a
    for _ in range(_STEPS):
        n = n + 1
        term = term * (x / n)
        total = total + term
        if np.all(term <= _EPS * total):
            break
    return _weight(a, x) * total


def _upper_fraction(a: Array, x: Array) -> Any:
    """The upper function, if x is above a and 1, by the modified method of Lentz. Converged elements are removed."""
    weight, result = a * _weight(a, x), np.empty_like(x)
    places = np.arange(x.size)
    b = x + 1 - a
    c, d = np.full_like(x, 1e300), 1 / b
    value = d
    for n in range(1, _STEPS):
        factor = -n * (n - a)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        change = c * d
        value = value * change
        if n % 6 == 0:
            going = np.abs(change - 1) >= 3e-16
            left = np.count_nonzero(going)
            if not left:
                break
            if left < 0.8 * places.size:
                result[places[~going]] = value[~going]
                places, a, b, c, d, value = [part[going] for part in (places, a, b, c, d, value)]
    result[places] = value
    return weight * result


def _upper_series(a: Array, x: Array) -> Any:
    """The upper function if both arguments are small, when the lower function may be close to 1."""
    term, total = np.ones_like(x), np.zeros_like(x)
    for n in range(1, 40):
        term = term * (-x / n)
        total = total + term / (a + n)
    log = a * np.log(x) - log_gamma_of_positive(1 + a)
    return -np.expm1(log) - np.exp(log) * a * total


@cache
def gauss_legendre(count: int) -> tuple[Any, Any]:
    """The nodes and weights of the quadrature from -1 to 1. They are computed on first use, which takes a while."""
    return np.polynomial.legendre.leggauss(count)


def _tail(a: Array, x: Array, upper: Array) -> Any:
    """The integral of the weight for large a, from x upwards or down to 0, until the weight has fallen by exp(-40)."""
    slope = np.abs((a - 1) / x - 1)
    spread = np.sqrt((a - 1) / (x * x))
    reach = 80 / (slope + np.sqrt(slope * slope + 80 * spread * spread))
    reach = np.where(upper, reach * (1 + reach / x), np.minimum(reach, x))
    points, weights = gauss_legendre(_NODES)
    direction = np.where(upper, 1.0, -1.0)
    total = np.zeros_like(x)
    for point, weight in zip(points, weights, strict=True):
        t = reach * ((point + 1) / 2)
        u = direction * t / x
        total += weight * np.exp((a - 1) * np.log1p(u) - direction * t)
    return a * _weight(a, x) / x * total * reach / 2


def _lower_and_upper(a: Array, x: Array) -> tuple[Any, Any]:
    """Both functions of finite positive arguments. The smaller value has all its digits."""
    lower, upper = np.full_like(x, np.nan), np.full_like(x, np.nan)
    near = (a > 20) & (np.abs(x - a) < 0.3 * a)             # near the diagonal
    above = x >= a
    tails = np.empty_like(x)
    where_so(near, lambda a, x: _tail(a, x, x >= a), tails, a, x)
    small = ~near & (x <= 1.1) & np.where(x <= 0.5, a <= -0.4 / np.log(np.where(x < 0.5, x, 0.5)), a <= 1.1 * x)
    fraction = ~near & ~small & (x > 1.1) & above
    series = ~near & ~small & ~fraction
    where_so(fraction, _upper_fraction, upper, a, x)
    where_so(small, _upper_series, upper, a, x)
    where_so(series | small, _lower_series, lower, a, x)
    upper = np.where(near & above, tails, np.where(series, 1 - lower, upper))
    lower = np.where(near & ~above, tails, lower)
    return np.where(fraction | (near & above), 1 - upper, lower), np.where(near & ~above, 1 - lower, upper)


def _regularized(a: Array, x: Array, which: int) -> Any:
    """The lower (0) or upper (1) function, with its limits."""
    result = np.full_like(x, np.nan)
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    where_so(inside, lambda a, x: _lower_and_upper(a, x)[which], result, a, x)
    at_origin, at_end = (0.0, 1.0) if which == 0 else (1.0, 0.0)
    allowed = ~((x < 0) | (a < 0))
    result = np.where(allowed & np.isposinf(x) & ~np.isinf(a), at_end, result)
    result = np.where(allowed & np.isposinf(a) & ~np.isinf(x), at_origin, result)
    result = np.where(allowed & (x == 0), at_origin, result)
    return np.where(allowed & (a == 0), np.where(x > 0, at_end, np.nan), result)


igamma = in_double_of_two(lambda a, x: _regularized(a, x, 0), "The lower regularized incomplete gamma function: the "
                          "probability that a gamma variable is below x.")
igammac = in_double_of_two(lambda a, x: _regularized(a, x, 1), "The upper regularized incomplete gamma function: 1 "
                           "minus the lower function.")


# The derivative of a gamma-distributed sample by the shape of its distribution
#
# A sample x of shape a stays at its quantile: P(a, x) does not change, so dx / da = -(dP / da) / (dP / dx) (Figurnov
# and others, 2018). If x is small, P is a power series, and so is the quotient. Otherwise dP / da is an integral of the
# density over one side of x, by Gauss-Legendre quadrature.

_SERIES_BELOW = 60.0
_BLOCK, _NODES_OF_SLOPE = 4096, 100     # samples at a time, to save memory; and points of the quadrature


def gamma_sample_by_shape(shapes: Array, samples: Array) -> Any:
    """The derivative of each sample by its shape, in the samples' dtype. It is computed in double precision."""
    dtype, (shapes, samples) = samples.dtype, np.broadcast_arrays(shapes, samples)
    a, x = (np.asarray(v, np.float64).ravel() for v in (shapes, samples))
    result = np.empty_like(x)
    near = x < _SERIES_BELOW
    result[near] = _by_series(a[near], x[near])
    far = np.flatnonzero(~near)
    for start in range(0, far.size, _BLOCK):
        places = far[start : start + _BLOCK]
        result[places] = _by_quadrature(a[places], x[places])
    return result.reshape(samples.shape).astype(dtype)


def _by_series(a: Array, x: Array) -> Any:
    """x times the sum of x**n / (a (a + 1) … (a + n)) * (digamma(a + n + 1) - log(x))."""
    slope, n = digamma(a) + 1 / a - np.log(x), 0
    term = 1 / a
    total = term * slope
    while (np.abs(term * slope) > 1e-17 * np.abs(total)).any() and n < 4 * _SERIES_BELOW:
        n += 1
        term = term * (x / (a + n))
        slope = slope + 1 / (a + n)
        total = total + term * slope
    return x * total


def _by_quadrature(a: Array, x: Array) -> Any:
    """The integral over the side of x with less of the density, in the logarithm of the variable over x."""
    side = np.where(x > a, 1.0, -1.0)
    off = np.abs(x - a)
    width = (np.sqrt(off * off + 90 * x) - off) / x         # there the density has fallen by exp(-45) or more
    nodes, weights = gauss_legendre(_NODES_OF_SLOPE)
    step = side[:, None] * width[:, None] * (0.5 * (nodes + 1))
    density = np.exp(a[:, None] * step - x[:, None] * np.expm1(step))
    moved = density * ((np.log(x) - digamma(a))[:, None] + step)
    return side * x * (moved @ weights) * (0.5 * width)
