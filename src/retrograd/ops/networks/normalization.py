"""Layer, group and batch normalization. Mean and deviation are functions of x, so derivatives flow through both.

Three operators compute the derivatives of any order: the standardized x, its adjoint, and the gradient of a weight.
They are given the mean and 1 / deviation of the forward pass, but their rules treat them as functions of x alone.
Layer normalization has a kernel that computes all three gradients of arrays in one pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.networks import moments, normalization as kernels, standardizing
from ..framework import Op, composed, linear, operator
from ..reductions import mean_dim, sum_dim

if TYPE_CHECKING:
    from ..values import Value


def _adjoint(v: Value, x: Value, weight: Value | None, mean: Value, rstd: Value, axes: tuple[int, ...],
             eps: float) -> Any:
    """The derivative by g. The Jacobian of standardizing is symmetric, so this is the same operator."""
    g = standardize_backward(v, x, None, mean, rstd, axes, eps)
    return g if weight is None else g * weight


def _adjoint_by_x(v: Value, g: Value, x: Value, weight: Value | None, axes: tuple[int, ...], eps: float) -> Any:
    """The derivative by x, from the mean products of three centered arrays: v, the weighted g, the standardized x."""
    off, v = _centered(x, axes), _centered(v, axes)
    g = _centered(g if weight is None else g * weight, axes)
    rstd = 1.0 / np.sqrt(_mean(off * off, axes) + eps)
    off = off * rstd
    by_v, by_g = _mean(off * v, axes), _mean(off * g, axes)
    return -(rstd * rstd) * ((_mean(v * g, axes) - 3.0 * by_v * by_g) * off + by_g * v + by_v * g)


def _mean(x: Value, axes: tuple[int, ...]) -> Any:
    return mean_dim(x, axes, True, None)


def _centered(x: Value, axes: tuple[int, ...]) -> Any:
    return x - _mean(x, axes)


standardize = operator(
    "standardize", standardizing.standardize, tensors=3,
    x=lambda g, x, mean, rstd, axes, eps: standardize_backward(g, x, None, mean, rstd, axes, eps))
standardize_backward: Op = operator(
    "standardize_backward", standardizing.standardize_backward, tensors=5, node="NativeLayerNormBackwardBackward0",
    g=_adjoint, x=_adjoint_by_x,
    weight=lambda v, g, x, mean, rstd, axes, eps: g * standardize_backward(v, x, None, mean, rstd, axes, eps))
standardized_sum = operator(
    "standardized_sum", standardizing.standardized_sum, tensors=4,
    g=lambda v, x, mean, rstd, axes, eps: v * standardize(x, mean, rstd, axes, eps),
    x=lambda v, g, x, mean, rstd, axes, eps: standardize_backward(v * g, x, None, mean, rstd, axes, eps))


# Layer normalization

def _last(x: Value, rank: int) -> Any:
    return tuple(range(x.ndim - rank, x.ndim))


def _layer_gradients(g: Value, x: Value, weight: Value, mean: Value, rstd: Value, rank: int, eps: float,
                     wanted: Sequence[bool]) -> tuple[Any, ...]:
    """The composition for `layer_norm_backward`."""
    by_x = standardize_backward(g, x, weight, mean, rstd, _last(x, rank), eps) if wanted[0] else None
    by_weight = None
    if wanted[1]:
        total = standardized_sum(g, x, mean, rstd, tuple(range(x.ndim - rank)), _last(x, rank), eps)
        by_weight = np.reshape(total, weight.shape)
    return by_x, by_weight, sum_over_rows(g, rank) if wanted[2] else None


sum_over_rows = linear("sum_over_rows", moments.sum_over_rows, x=lambda g, x_shape: np.broadcast_to(g, x_shape))
layer_norm_backward = composed("layer_norm_backward", standardizing.layer_norm_backward, _layer_gradients, tensors=5)
layer_norm = operator(
    "layer_norm", kernels.layer_norm, tensors=3, node="NativeLayerNormBackward0", outputs="out mean rstd",
    differentiable="out", joint=lambda g, wanted, x, weight, mean, rstd, rank, eps: layer_norm_backward(
        g, x, weight, mean, rstd, rank, eps, wanted))


# Group normalization

def _in_groups(x: Value, shape: Shape, groups: int) -> Any:
    return np.reshape(x, (shape[0], groups, shape[1] // groups, -1 if 0 not in shape else 0))


def _for_groups(stat: Value) -> Any:
    return np.reshape(stat, (*stat.shape, 1, 1))


def _group_x(g: Value, x: Value, weight: Value | None, mean: Value, rstd: Value, groups: int, eps: float) -> Any:
    parts = [_in_groups(a, x.shape, groups) for a in (g, x)]
    if weight is not None:
        weight = np.reshape(weight, (1, groups, x.shape[1] // groups, 1))
    return np.reshape(standardize_backward(*parts, weight, _for_groups(mean), _for_groups(rstd), (2, 3), eps), x.shape)


def _group_weight(g: Value, x: Value, weight_shape: Shape, mean: Value, rstd: Value, groups: int, eps: float) -> Any:
    parts = [_in_groups(a, x.shape, groups) for a in (g, x)]
    total = standardized_sum(*parts, _for_groups(mean), _for_groups(rstd), (0, 3), (2, 3), eps)
    return np.reshape(total, weight_shape)


def _by_channel(g: Value) -> Any:
    """The axes that a sum for each channel runs over."""
    return (0, *range(2, g.ndim))


def _channel_sum(g: Value) -> Any:
    return sum_dim(g, _by_channel(g), False, None)


group_norm = operator("group_norm", kernels.group_norm, tensors=3, node="NativeGroupNormBackward0",
                      outputs="out mean rstd", differentiable="out", layout="kept",
                      x=_group_x, weight=_group_weight, bias=_channel_sum)


def _native_group_x(g: Any, x: Value, weight: Value | None, mean: Value, rstd: Value, groups: int, eps: float) -> Any:
    """As in PyTorch, the gradients of the means and of 1 / the deviations count only together."""
    by_out, by_mean, by_rstd = g
    total = None if by_out is None else _group_x(by_out, x, weight, mean, rstd, groups, eps)
    if by_mean is None or by_rstd is None:
        return total
    grouped = _in_groups(x, x.shape, groups)
    slope = (grouped - _for_groups(mean)) * _for_groups(by_rstd * rstd * rstd * rstd)
    part = np.reshape((_for_groups(by_mean) - slope) / (math.prod(grouped.shape[2:]) or 1), x.shape)
    return part if total is None else total + part


def _native_group_weight(g: Any, x: Value, weight_shape: Shape, mean: Value, rstd: Value, groups: int) -> Any:
    """Unlike that of `group_norm`, this gradient depends on the means and on 1 / the deviations, as results."""
    if g[0] is None:
        return None
    standard = (_in_groups(x, x.shape, groups) - _for_groups(mean)) * _for_groups(rstd)
    return np.reshape(np.sum(_in_groups(g[0], x.shape, groups) * standard, axis=(0, 3)), weight_shape)


native_group_norm = operator(
    "native_group_norm", kernels.group_norm, tensors=3, node="NativeGroupNormBackward0", outputs="out mean rstd",
    unfilled=True, layout="kept", x=_native_group_x,
    weight=_native_group_weight,
    bias=lambda g: None if g[0] is None else _channel_sum(g[0]))


# Batch normalization, with the moments of the batch and with given moments

def _for_channels(stat: Value, x: Value) -> Any:
    return np.reshape(stat, (1, -1, *[1 for _ in range(x.ndim - 2)]))


def _batch_x(g: Value, x: Value, weight: Value | None, mean: Value, rstd: Value, eps: float) -> Any:
    weight = None if weight is None else _for_channels(weight, x)
    return standardize_backward(g, x, weight, _for_channels(mean, x), _for_channels(rstd, x), _by_channel(x), eps)


def _batch_weight(g: Value, x: Value, weight_shape: Shape, mean: Value, rstd: Value, eps: float) -> Any:
    axes = _by_channel(x)
    return np.reshape(standardized_sum(g, x, _for_channels(mean, x), _for_channels(rstd, x), axes, axes, eps),
                      weight_shape)


batch_norm = operator("batch_norm", kernels.batch_norm, tensors=3, node="NativeBatchNormBackward0", layout="kept",
                      outputs="out mean rstd variance", differentiable="out",
                      x=_batch_x, weight=_batch_weight, bias=_channel_sum)


def _by_x(g: Value, weight: Value | None, running_var: Value, eps: float) -> Any:
    rstd = 1.0 / np.sqrt(running_var + eps)
    return g * _for_channels(rstd if weight is None else rstd * weight, g)


centered_sum = operator("centered_sum", kernels.centered_sum, tensors=3,
                       g=lambda v, x, mean: _for_channels(v, x) * (x - _for_channels(mean, x)),
                       x=lambda v, g: _for_channels(v, g) * g)
batch_norm_by = operator(
    "batch_norm_by", kernels.batch_norm_by, tensors=5, node="NativeBatchNormBackward0", layout="kept", x=_by_x,
    weight=lambda g, x, running_mean, running_var, eps: centered_sum(g, x, running_mean) / np.sqrt(running_var + eps),
    bias=_channel_sum)

# The update of a running statistic, which is written over.
blend = operator("blend", kernels.blend, tensors=2)
