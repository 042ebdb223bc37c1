"""The derivative of a component of a Dirichlet-distributed sample by its concentration.

A component x with concentration a is beta-distributed, with a and b = total - a. It stays at its quantile: P(x; a, b)
does not change, so dx / da = -(dP / da) / (dP / dx) (Figurnov and others, 2018). dP / da is an integral of the density
times log(t) - E[log(t)] over one side of x. In the variable log(t / (1 - t)), the logarithm of the density is concave,
so Gauss-Legendre quadrature computes the integral up to where the density has fallen by exp(-45).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from .gamma import digamma
from .incomplete_gamma import gauss_legendre

_BLOCK, _NODES, _FALL, _STEPS = 1024, 80, 45.0, 8


def dirichlet_sample_by_concentration(samples: Array, concentrations: Array, totals: Array) -> Any:
    """dx / da / (1 - x) for each component x of the samples, in their dtype. It is computed in double precision.

    The other components together fall by dx, in proportion to their size. So the gradient of a sample with the
    cotangent g is this number times (g minus the sum of x times g over the row).
    """
    parts = np.broadcast_arrays(samples, concentrations, totals)
    x, a, total = (np.asarray(part, np.float64).ravel() for part in parts)
    result = np.empty_like(x)
    with np.errstate(all="ignore"):
        for start in range(0, x.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = _slope(x[part], a[part], total[part] - a[part])
    return result.reshape(parts[0].shape).astype(samples.dtype)


def _slope(x: Array, a: Array, b: Array) -> Any:
    """The integral over the side of x with less of the density. To the right of x, the roles of x and 1 - x change."""
    right = x * (a + b) > a
    share, own, other = np.where(right, 1 - x, x), np.where(right, b, a), np.where(right, a, b)
    logit = np.log(share) - np.log1p(-share)
    width = _reach(logit, share, own, other)
    nodes, weights = gauss_legendre(_NODES)
    # The nodes lie closer near x, where the density is largest.
    part = 0.5 * (nodes + 1)
    moved = logit[:, None] - width[:, None] * (part * part)
    log_rest = -np.logaddexp(0, moved)
    log_share = log_rest + moved
    density = np.exp(_rise(log_share, log_rest, share[:, None], own[:, None], other[:, None]))
    log_t = np.where(right[:, None], log_rest, log_share)
    sum_ = (density * (log_t - (digamma(a) - digamma(a + b))[:, None])) @ (weights * part)
    return np.where(right, x, -x) * sum_ * width


def _reach(logit: Array, share: Array, own: Array, other: Array) -> Any:
    """How far to the left of the logit the density has fallen by exp(-45) or a little more.

    Newton's method comes down to there from a bound: the logarithm of the density is concave.
    """
    width = (_FALL - (own + other) * np.log1p(-share)) / own
    for _ in range(_STEPS):
        at = logit - width
        log_rest = -np.logaddexp(0, at)
        excess = -_rise(log_rest + at, log_rest, share, own, other) - _FALL
        part = np.exp(log_rest + at)
        width = width - excess / (own * (1 - part) - other * part)
    return width


def _rise(log_share: Array, log_rest: Array, share: Array, own: Array, other: Array) -> Any:
    """By how much the logarithm of the density at a point is larger than at x."""
    return own * (log_share - np.log(share)) + other * (log_rest - np.log1p(-share))
