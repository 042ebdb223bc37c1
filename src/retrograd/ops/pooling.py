"""Pooling: maxima, whose gradient goes to where they are, and means, which are linear.

To take the elements at some places and to add to these places are adjoint to each other; so are a mean and its
`..._backward`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import adaptive_pooling as adaptive, pooling as kernels
from .framework import Op, linear, operator

gathered: Op = linear("gather_pooled", kernels.gathered, tensors=2,
                      x=lambda g, indices, x_shape, dims: scattered(g, indices, x_shape, dims))
scattered: Op = linear("max_pool_backward", kernels.scattered, tensors=2,
                       g=lambda g, indices, dims: gathered(g, indices, dims))


def _maxima(name: str, dims: int, kernel: Callable[..., Any], tensors: int = 1) -> Op:
    def back(g: Any, indices: Any, x_shape: Any) -> Any:
        return scattered(g, indices, x_shape, dims)

    node = "".join([part.title() for part in name.split("_")]) + "Backward0"
    return operator(name, kernel, node=node, tensors=tensors, outputs="values indices",
                    differentiable="values", x=back)


max_pool2d, max_pool3d = [_maxima(f"max_pool{d}d_with_indices", d, kernels.max_pool) for d in (2, 3)]
adaptive_max_pool2d, adaptive_max_pool3d = [
    _maxima(f"adaptive_max_pool{d}d", d, adaptive.adaptive_max_pool) for d in (2, 3)]
fractional_max_pool2d, fractional_max_pool3d = [
    _maxima(f"fractional_max_pool{d}d", d, adaptive.fractional_max_pool, 2) for d in (2, 3)]


def _unplaced(g: Any, indices: Any, sizes: Any) -> Any:
    return gathered(g, indices, len(sizes))


max_unpool2d, max_unpool3d = [
    linear(f"max_unpool{d}d", kernels.placed, node=f"MaxUnpool{d}DBackward0", tensors=2, x=_unplaced) for d in (2, 3)]


def _from_mean(g: Any, x_shape: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, count_include_pad: Any,
               divisor: Any) -> Any:
    return avg_pool_backward(g, x_shape[-len(kernel):], kernel, stride, padding, ceil_mode, count_include_pad, divisor)


def _to_mean(g: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, count_include_pad: Any,
             divisor: Any) -> Any:
    return avg_pool2d(g, kernel, stride, padding, ceil_mode, count_include_pad, divisor)


avg_pool2d, avg_pool3d = [
    linear(f"avg_pool{d}d", kernels.avg_pool, node=f"AvgPool{d}DBackward0", x=_from_mean) for d in (2, 3)]
avg_pool_backward: Op = linear("avg_pool_backward", kernels.avg_pool_backward, g=_to_mean)


def _from_adaptive(g: Any, x_shape: Any, to: Any) -> Any:
    return adaptive_avg_pool_backward(g, x_shape[-len(to):], len(to))


adaptive_avg_pool2d, adaptive_avg_pool3d = [
    linear(f"adaptive_avg_pool{d}d", adaptive.adaptive_avg_pool, node=f"AdaptiveAvgPool{d}DBackward0", x=_from_adaptive)
    for d in (2, 3)]
adaptive_avg_pool_backward: Op = linear(
    "adaptive_avg_pool_backward", adaptive.adaptive_avg_pool_backward,
    g=lambda g, g_shape, dims: adaptive_avg_pool2d(g, g_shape[len(g_shape) - dims:]))
