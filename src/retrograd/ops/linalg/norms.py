"""Norms, slices scaled down to a norm, cross products, and distances: of two arrays, and between all pairs of rows.

The derivative of a distance d by a difference is `_powers` / d^(p - 1). At a distance of 0 the subgradient is 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.linalg import norms as kernels
from ...kernels.sums import count
from ..choosing import choose
from ..domains import subtracted
from ..elementwise.elementary import sgn
from ..framework import Op, linear, operator
from ..reductions import spread, sum_dim, tied
from ..shape import squeeze_dim, transpose, unsqueeze

if TYPE_CHECKING:
    from ..values import Value


def norm_backward(g: Value, x: Value, out: Value, p: float, axes: tuple[int, ...], keepdim: bool) -> Any:
    """The gradient of a p-norm. At a norm of 0 the subgradient is 0. Extremes that tie share the gradient evenly."""
    if p == 0:
        return np.zeros_like(x)
    if p == 2:
        if x.dtype.itemsize == 2 or count(x.shape, axes) == 1:               # whose inverse may overflow
            length = spread(out, x.shape, axes, keepdim)
            return spread(g, x.shape, axes, keepdim) * np.where(length == 0.0, 0.0, x / length)
        inverse = np.where(out == 0.0, 0.0, 1.0 / out)      # no root of squares but 0 is so small
        return spread(g, x.shape, axes, keepdim) * (x * spread(inverse, x.shape, axes, keepdim))
    size, sign = np.abs(x), sgn(x)
    if p == 1:
        return sign * spread(g, x.shape, axes, keepdim)
    if p in (math.inf, -math.inf):
        return sign * (spread(g, x.shape, axes, keepdim) / tied(size, out, axes, keepdim, True))
    if p < 1:
        steep = np.where(x == 0.0, 0.0, sign * size ** (p - 1))
        return steep * spread(g, x.shape, axes, keepdim) * spread(out ** (1 - p), x.shape, axes, keepdim)
    scaled = sign * size ** (p - 1) if p < 2 else x * size ** (p - 2)
    return scaled * spread(np.where(out == 0.0, 0.0, g / out ** (p - 1)), x.shape, axes, keepdim)


norm = operator("norm", kernels.norm, node="LinalgVectorNormBackward0", complex="adjoint", x=norm_backward)
frobenius = operator("norm", kernels.norm, node=1, complex="adjoint", x=norm_backward)


def _along(g: Value, v: Value, dim: int) -> tuple[Any, Any]:
    """For each slice of `v` along a dimension: the sum of its products with `g`, and 1 / its norm."""
    axes = tuple([axis for axis in range(v.ndim) if axis != dim])
    return sum_dim(g * v, axes, True, None), 1.0 / norm(v, 2, axes, True, None)


def _by_directions(g: Value, v: Value, scale: Value, dim: int) -> Any:
    along, inverse = _along(g, v, dim)
    return scale * inverse * (g - v * (along * inverse * inverse))


def _by_scale(g: Value, v: Value, dim: int) -> Any:
    along, inverse = _along(g, v, dim)
    return along * inverse


weight_norm = operator("weight_norm_interface", kernels.weight_norm, tensors=2, v=_by_directions, scale=_by_scale)


def _dist(g: Value, x: Value, y: Value, out: Value, p: float) -> Any:
    off = x - y
    return norm_backward(g, off, out, p, tuple(range(off.ndim)), False)


dist = operator("dist", kernels.dist, domain=subtracted, tensors=2, complex="adjoint", x=_dist,
                y=lambda g, x, y, out, p: -_dist(g, x, y, out, p))

RENORM_EPSILON = 1e-7


def _renorm(g: Value, x: Value, p: float, dim: int, maxnorm: float) -> Any:
    """If a slice is scaled by maxnorm / norm, the derivative of that norm is subtracted."""
    axes = tuple([axis for axis in range(x.ndim) if axis != dim])
    size = norm(x, p, axes, True, None)
    along = sum_dim(np.real(np.conj(x) * g), axes, True, None)
    inverse = 1.0 / (size + RENORM_EPSILON)
    scaled = maxnorm * inverse * (g - inverse * norm_backward(along, x, size, p, axes, True))
    return np.where(size > maxnorm, scaled, g)


renorm = operator("renorm", kernels.renorm, complex="adjoint", x=_renorm)

# How many differences of elements a rule holds at a time.
_BLOCK = 1 << 18

cross: Op = operator("linalg_cross", kernels.cross, x=lambda g, y, dim: cross(y, g, dim),
                     y=lambda g, x, dim: cross(g, x, dim))


def _powers(difference: Value, distance: Value, p: float) -> Any:
    """d^(p - 1) times the derivative of a distance d by a difference. Each of several extremes that tie counts in full,
    as in PyTorch."""
    if p == 2:
        return difference
    sign = choose(difference == difference, sgn(difference), difference)       # a nan is kept, as in PyTorch
    if p == 1:
        return sign
    size = np.abs(difference)
    if p == math.inf:
        off = size - unsqueeze(distance, distance.ndim)
        return choose(off == 0.0, sign, choose(off == off, 0.0, off))           # nan between infinities, as in PyTorch
    flat = difference == 0.0
    return np.where(flat, 0.0, sign * np.where(flat, 1.0, size) ** (p - 1))


def _over_power(g: Value, distance: Value, p: float) -> Any:
    """g over the distance to the power p - 1, and 0 where the distance is 0."""
    if p in (1, math.inf):
        return g
    none = distance == 0.0
    divisor = np.where(none, 1.0, distance)
    return np.where(none, 0.0, g / (divisor if p == 2 else divisor ** (p - 1)))


def _by_first(g: Value, x: Value, y: Value, out: Value, p: float) -> Any:
    """The gradient by x, for a few rows of x at a time, so that their differences from all rows of y fit in a block."""
    if p == 0:
        return np.zeros_like(x)
    count = x.shape[-2]
    step = max(1, _BLOCK * count // max(1, math.prod(g.shape) * x.shape[-1]))
    if step >= count:
        return _by_rows(g, x, y, out, p)
    return np.concatenate([_by_rows(g[..., i : i + step, :], x[..., i : i + step, :], y, out[..., i : i + step, :], p)
                           for i in range(0, count, step)], axis=-2)


def _by_rows(g: Value, x: Value, y: Value, out: Value, p: float) -> Any:
    """The sum over the rows of y, computed as a product of a row and a matrix for each row of x."""
    powers = _powers(unsqueeze(x, x.ndim - 1) - unsqueeze(y, y.ndim - 2), out, p)
    factors = _over_power(g, out, p)
    return squeeze_dim(np.matmul(unsqueeze(factors, factors.ndim - 1), powers), factors.ndim - 1)


cdist = operator("_cdist_forward", kernels.cdist, node="CdistBackward0", x=_by_first, y=lambda g, x, y, out, p: (
    _by_first(transpose(g, -1, -2), y, x, transpose(out, -1, -2), p)))


def _by_left(g: Value, x: Value, y: Value, out: Value) -> Any:
    """The gradient by x without the differences of all pairs, which the distances themselves do not form either."""
    ratio = _over_power(g, out, 2)
    return x * sum_dim(ratio, (g.ndim - 1,), True, None) - np.matmul(ratio, y)


euclidean_dist = operator("_euclidean_dist", kernels.euclidean_dist, x=_by_left, y=lambda g, x, y, out: (
    _by_left(transpose(g, -1, -2), y, x, transpose(out, -1, -2))))
symmetric: Op = linear("symmetric", kernels.symmetric, x=lambda g: paired(g))
paired: Op = linear("paired", kernels.paired, x=lambda g, x_shape: symmetric(g, x_shape[0]))


def _pdist(g: Value, x: Value, out: Value, p: float) -> Any:
    """The gradients of the distances as a symmetric matrix, since each pair counts for both of its rows."""
    rows = x.shape[0]
    return _by_first(symmetric(g, rows), x, x, symmetric(out, rows), p)


pdist = operator("_pdist_forward", kernels.pdist, node="PdistBackward0", x=_pdist)
