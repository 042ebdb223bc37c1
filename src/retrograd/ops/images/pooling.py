"""Pooling: maxima, whose gradients go to the places of the maxima, and means, which are linear.

Reading the elements at some places and adding to these places are adjoint operators. So are a mean and its
`..._backward`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import Shape
from ...kernels.images import adaptive_pooling as adaptive, pooling as kernels
from ..framework import Op, linear, operator

if TYPE_CHECKING:
    from ..values import Value

gathered: Op = linear("gather_pooled", kernels.gathered, tensors=2,
                      x=lambda g, indices, x_shape, dims, disjoint: scattered(g, indices, x_shape, dims, disjoint))
scattered: Op = linear("max_pool_backward", kernels.scattered, tensors=2,
                       g=lambda g, indices, dims, disjoint: gathered(g, indices, dims, disjoint))


def _maxima(name: str, kernel: Callable[..., Any], rule: Callable[..., Any], tensors: int = 1) -> Op:
    node = "".join([part.title() for part in name.split("_")]) + "Backward0"
    return operator(name, kernel, node=node, tensors=tensors, outputs="values indices", differentiable="values",
                    layout="kept", x=rule)


def _to_maxima(g: Value, indices: Value, x_shape: Shape, kernel: tuple[int, ...], stride: Shape,
               dilation: Shape) -> Any:
    disjoint = all([s > d * (k - 1) for k, s, d in zip(kernel, stride, dilation)])
    return scattered(g, indices, x_shape, len(kernel), disjoint)


def _to_any(g: Value, indices: Value, x_shape: Shape, to: tuple[int, ...]) -> Any:
    return scattered(g, indices, x_shape, len(to), False)


max_pool2d, max_pool3d = [
    _maxima(f"max_pool{d}d_with_indices", kernels.max_pool, _to_maxima) for d in (2, 3)]
adaptive_max_pool2d, adaptive_max_pool3d = [
    _maxima(f"adaptive_max_pool{d}d", adaptive.adaptive_max_pool, _to_any) for d in (2, 3)]
fractional_max_pool2d, fractional_max_pool3d = [
    _maxima(f"fractional_max_pool{d}d", adaptive.fractional_max_pool, _to_any, 2) for d in (2, 3)]


max_unpool2d, max_unpool3d = [
    linear(f"max_unpool{d}d", kernels.placed, layout="kept", node=f"MaxUnpool{d}DBackward0", tensors=2,
           x=lambda g, indices, sizes: gathered(g, indices, len(sizes), False)) for d in (2, 3)]


def _from_mean(g: Value, x_shape: Shape, kernel: tuple[int, ...], stride: Shape, padding: Shape, ceil_mode: bool,
               count_include_pad: bool, divisor: Any) -> Any:
    return avg_pool_backward(g, x_shape[-len(kernel):], kernel, stride, padding, ceil_mode, count_include_pad, divisor)


avg_pool2d, avg_pool3d = [
    linear(f"avg_pool{d}d", kernels.avg_pool, node=f"AvgPool{d}DBackward0", layout="kept", x=_from_mean)
    for d in (2, 3)]
avg_pool_backward: Op = linear(
    "avg_pool_backward", kernels.avg_pool_backward,
    g=lambda g, kernel, stride, padding, ceil_mode, count_include_pad, divisor: avg_pool2d(
        g, kernel, stride, padding, ceil_mode, count_include_pad, divisor))
adaptive_avg_pool2d, adaptive_avg_pool3d = [
    linear(f"adaptive_avg_pool{d}d", adaptive.adaptive_avg_pool, node=f"AdaptiveAvgPool{d}DBackward0", layout="kept",
           x=lambda g, x_shape, to: adaptive_avg_pool_backward(g, x_shape[-len(to):], len(to))) for d in (2, 3)]
adaptive_avg_pool_backward: Op = linear(
    "adaptive_avg_pool_backward", adaptive.adaptive_avg_pool_backward,
    g=lambda g, g_shape, dims: adaptive_avg_pool2d(g, g_shape[len(g_shape) - dims:]))
