"""The derivative of a gamma-distributed sample by the shape of its distribution.

A sample x of shape a stays at its quantile: P(a, x) does not change, so dx / da = -(dP / da) / (dP / dx) (Figurnov and
others, 2018). If x is small, P is a power series, and so is the quotient. Otherwise dP / da is an integral of the
density over one side of x, by Gauss-Legendre quadrature.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .gamma import digamma

_SERIES_BELOW = 60.0
_BLOCK = 4096                           # samples at a time, to save memory


def by_shape(shapes: Any, samples: Any) -> Any:
    """The derivative of each sample by its shape, in the samples' dtype. It is computed in double precision."""
    a, x = (np.asarray(v, np.float64).ravel() for v in (shapes, samples))
    result = np.empty_like(x)
    near = x < _SERIES_BELOW
    result[near] = _by_series(a[near], x[near])
    far = np.flatnonzero(~near)
    for start in range(0, far.size, _BLOCK):
        places = far[start : start + _BLOCK]
        result[places] = _by_quadrature(a[places], x[places])
    return result.reshape(samples.shape).astype(samples.dtype)


@cache
def _gauss_legendre() -> tuple[Any, Any]:
    """The nodes and weights of the quadrature from -1 to 1. They are computed on first use, which takes a while."""
    return np.polynomial.legendre.leggauss(100)


def _by_series(a: Any, x: Any) -> Any:
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


def _by_quadrature(a: Any, x: Any) -> Any:
    """The integral over the side of x with less of the density, in the logarithm of the variable over x."""
    side = np.where(x > a, 1.0, -1.0)
    off = np.abs(x - a)
    width = (np.sqrt(off * off + 90 * x) - off) / x         # there the density has fallen by exp(-45) or more
    nodes, weights = _gauss_legendre()
    step = side[:, None] * width[:, None] * (0.5 * (nodes + 1))
    density = np.exp(a[:, None] * step - x[:, None] * np.expm1(step))
    moved = density * ((np.log(x) - digamma(a))[:, None] + step)
    return side * x * (moved @ weights) * (0.5 * width)
