"""The distance of two tensors, and slices scaled down to a norm: what takes the derivative of a norm with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import renorming as kernels
from .domains import subtracted
from .framework import operator
from .norms import norm, norm_backward
from .reductions import sum_dim


def _dist(g: Any, x: Any, y: Any, out: Any, p: Any) -> Any:
    off = x - y
    return norm_backward(g, off, out, p, tuple(range(off.ndim)), False)


def _minus_dist(g: Any, x: Any, y: Any, out: Any, p: Any) -> Any:
    return -_dist(g, x, y, out, p)


dist = operator("dist", kernels.dist, domain=subtracted, tensors=2, holomorphic=False, x=_dist, y=_minus_dist)

_EPSILON = 1e-7


def _renorm(g: Any, x: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    """Where a slice is scaled by maxnorm / norm, what the norm makes of a change is taken off."""
    axes = tuple([axis for axis in range(x.ndim) if axis != dim])
    size = norm(x, p, axes, True, None)
    along = sum_dim(np.real(np.conj(x) * g), axes, True, None)
    inverse = 1.0 / (size + _EPSILON)
    scaled = maxnorm * inverse * (g - inverse * norm_backward(along, x, size, p, axes, True))
    return np.where(size > maxnorm, scaled, g)


renorm = operator("renorm", kernels.renorm, holomorphic=False, x=_renorm)
