"""Reductions: sums, means, variances, extremes. Each drops axes, or keeps them with size 1.

`axes` is a tuple of non-negative axes, `dim` is one such axis, and `dtype` is a NumPy dtype or None. The gradient of a
sum is the cotangent repeated over the dropped axes: `spread` repeats, and `sum_dim` is its adjoint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Shape
from ..kernels import reductions as kernels, sums
from ..kernels.sums import count
from .elementwise.arithmetic import among
from .framework import Op, composed, linear, operator

if TYPE_CHECKING:
    from .values import Value

spread = linear("expand", sums.spread, view=True,
                x=lambda g, axes, keepdim: sum_dim(g, axes, keepdim, None))

# Sums and means

sum_all = linear("sum", sums.sum_all, x=lambda g, x_shape: spread(g, x_shape, (), False))
sum_dim: Op = linear("sum", sums.sum_dim, node=1, x=lambda g, x_shape, axes, keepdim: spread(
    g, x_shape, axes, keepdim))
# Unlike the gradient of a sum, that of a mean is no view, so programs may write to it.
_shares = composed("div", sums.shares, lambda g, shape, axes, keepdim, n: among(spread(g, shape, axes, keepdim), n),
                   tensors=1)
mean_all = linear("mean", sums.mean_all,
                  x=lambda g, x_shape: _shares(g, x_shape, (), False, max(math.prod(x_shape), 1)))


def _mean_dim(g: Value, x_shape: Shape, axes: tuple[int, ...], keepdim: bool) -> Any:
    return _shares(g, x_shape, axes, keepdim, max(count(x_shape, axes), 1))


mean_dim = linear("mean", sums.mean_dim, node=1, x=_mean_dim)


nansum = operator("nansum", sums.nansum, x=lambda g, x, axes, keepdim: np.where(
    np.isnan(x), 0.0, spread(g, x.shape, axes, keepdim)))

# Variance. The variance of a complex array is real, so it is not holomorphic.


def slope_of_variance(shape: Shape, axes: tuple[int, ...], correction: Any) -> float:
    """What the distance of an element from the mean is multiplied by in the derivative of the variance."""
    freedom = count(shape, axes) - correction
    if not shape and freedom <= 0:
        return math.nan
    return 2.0 / freedom if freedom else math.inf


def _var(g: Value, x: Value, axes: tuple[int, ...], keepdim: bool, correction: Any) -> Any:
    slope = slope_of_variance(x.shape, axes, correction)
    if math.isnan(slope):                                  # for all x, so nothing depends on x
        return g * slope
    off = x - mean_dim(x, axes, True, None)
    g = spread(g, x.shape, axes, keepdim)
    return slope * g * off


def _std(g: Value, x: Value, out: Value, axes: tuple[int, ...], keepdim: bool, correction: Any) -> Any:
    """The gradient of a standard deviation. At a deviation of 0 the subgradient is 0."""
    g = np.where(out == 0.0, 0.0, g / (out * 2.0))
    return _var(g, x, axes, keepdim, correction)


def _var_mean(g: Sequence[Value | None], x: Value, axes: tuple[int, ...], keepdim: bool, correction: Any) -> Any:
    return _with_mean(None if g[0] is None else _var(g[0], x, axes, keepdim, correction), g[1], x, axes, keepdim)


def _std_mean(g: Sequence[Value | None], x: Value, std: Value, axes: tuple[int, ...], keepdim: bool,
              correction: Any) -> Any:
    return _with_mean(None if g[0] is None else _std(g[0], x, std, axes, keepdim, correction), g[1], x, axes, keepdim)


def _with_mean(of_spread: Value | None, g: Value | None, x: Value, axes: tuple[int, ...], keepdim: bool) -> Any:
    """The sum of both shares of a gradient. The variance of one element is nan, so its share is left out if unused."""
    if g is None:
        return of_spread
    of_mean = _mean_dim(g, x.shape, axes, keepdim)
    return of_mean if of_spread is None else of_spread + of_mean


var = operator("var", kernels.var, complex="adjoint", x=_var)
std = operator("std", kernels.std, complex="adjoint", x=_std)
var_mean = operator("var_mean", kernels.var_mean, outputs="var mean", unfilled=True, complex="adjoint",
                    x=_var_mean)
std_mean = operator("std_mean", kernels.std_mean, outputs="std mean", unfilled=True, complex="adjoint",
                    x=_std_mean)

# Extremes. Without a dim, and for amax and amin, ties share the gradient evenly. With a dim, the first tie gets all.

tied = operator("tied", kernels.tied, tensors=2)


def shared(g: Value, x: Value, out: Value) -> Any:
    """All elements that equal the result share the gradient evenly."""
    return spread(g, x.shape, (), False) / tied(x, out, tuple(range(x.ndim)), False, True)


def _extreme(g: Value, x: Value, out: Value, axes: tuple[int, ...], keepdim: bool) -> Any:
    return spread(g, x.shape, axes, keepdim) / tied(x, out, axes, keepdim, False)


max_all, min_all = [operator(name, kernels.extreme_all, node=1, x=shared) for name in ("max", "min")]
amax, amin = [operator(name, kernels.extreme, x=_extreme) for name in ("amax", "amin")]
aminmax = operator("aminmax", kernels.aminmax, outputs="min max", x=lambda g, x, min, max, axes, keepdim: (
    _extreme(g[0], x, min, axes, keepdim) + _extreme(g[1], x, max, axes, keepdim)))

# Reductions without a derivative

argmax, argmin = [operator(name, kernels.argextreme, tensors=1) for name in ("argmax", "argmin")]
any_of = operator("any", kernels.any_of, tensors=1)
all_of = operator("all", kernels.all_of, tensors=1)
count_nonzero = operator("count_nonzero", kernels.count_nonzero, tensors=1)
hash_tensor = operator("hash_tensor", kernels.xor_of_bits, tensors=1, any_type=True)
