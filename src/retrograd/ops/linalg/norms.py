"""Norms, the distance of two arrays, and slices scaled down to a norm. All use the derivative of a norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.linalg import norms as kernels
from ..domains import subtracted
from ..framework import operator
from ..reductions import spread, sum_dim, tied


def norm_backward(g: Any, x: Any, out: Any, p: Any, axes: Any, keepdim: Any) -> Any:
    """The gradient of a p-norm. At a norm of 0 the subgradient is 0. Extremes that tie share the gradient evenly."""
    if p == 0:
        return np.zeros_like(x)
    if p == 2:
        inverse = np.where(out == 0.0, 0.0, 1.0 / out)      # no norm but 0 is small enough for an overflow
        return spread(g, x.shape, axes, keepdim) * (x * spread(inverse, x.shape, axes, keepdim))
    size, sign = np.abs(x), np.sign(x)
    if p == 1:
        return sign * spread(g, x.shape, axes, keepdim)
    if p in (math.inf, -math.inf):
        return sign * (spread(g, x.shape, axes, keepdim) / tied(size, out, axes, keepdim, True))
    if p < 1:
        scaled = np.where(x == 0.0, 0.0, sign * size ** (p - 1))
        return scaled * spread(g, x.shape, axes, keepdim) * spread(out ** (1 - p), x.shape, axes, keepdim)
    scaled = sign * size ** (p - 1) if p < 2 else x * size ** (p - 2)
    return scaled * spread(np.where(out == 0.0, 0.0, g / out ** (p - 1)), x.shape, axes, keepdim)


norm = operator("norm", kernels.norm, node="LinalgVectorNormBackward0", complex="adjoint", x=norm_backward)
frobenius = operator("norm", kernels.norm, node="NormBackward1", complex="adjoint", x=norm_backward)


def _dist(g: Any, x: Any, y: Any, out: Any, p: Any) -> Any:
    off = x - y
    return norm_backward(g, off, out, p, tuple(range(off.ndim)), False)


dist = operator("dist", kernels.dist, domain=subtracted, tensors=2, complex="adjoint", x=_dist,
                y=lambda g, x, y, out, p: -_dist(g, x, y, out, p))

_EPSILON = 1e-7


def _renorm(g: Any, x: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    """If a slice is scaled by maxnorm / norm, the derivative of that norm is subtracted."""
    axes = tuple([axis for axis in range(x.ndim) if axis != dim])
    size = norm(x, p, axes, True, None)
    along = sum_dim(np.real(np.conj(x) * g), axes, True, None)
    inverse = 1.0 / (size + _EPSILON)
    scaled = maxnorm * inverse * (g - inverse * norm_backward(along, x, size, p, axes, True))
    return np.where(size > maxnorm, scaled, g)


renorm = operator("renorm", kernels.renorm, complex="adjoint", x=_renorm)
