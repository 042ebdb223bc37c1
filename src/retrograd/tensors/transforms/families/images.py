"""Convolutions, pooling, padding, resizing: the batch becomes a part of the first axis, or of the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....ops.elementwise.arithmetic import add
from ....ops.framework import Op
from ....ops.images import convolution, padding, pooling, resampling
from ..batched import is_batched, shown
from .operands import (
    Rule,
    as_shape,
    by_fold,
    by_stack,
    first,
    folded,
    folded_second,
    rules,
    unfolded,
    unfolded_second,
)

if TYPE_CHECKING:
    from ....ops.values import Value
    from ....tensors.transforms.batching import BatchLevel


def _convolution(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """With a weight for each sample, the samples are groups of channels."""
    x, weight, bias, *window, groups = args
    if not is_batched(weight, level):
        own = None if is_batched(bias, level) else bias
        found = unfolded(op.run(folded(first(x, level)), weight, own, *window, groups), level.size)
        return found if own is bias else _with_bias(found, first(bias, level))
    weights = folded(shown(weight, level))
    found = op.run(folded_second(first(x, level)), weights, None, *window, groups * level.size)
    found = unfolded_second(found, level.size)
    return found if bias is None else _with_bias(found, first(bias, level))


def _with_bias(found: Any, bias: Value) -> Any:
    size, channels = bias.shape
    return add.run(found, as_shape(bias, (size, 1, channels, *[1] * (found.ndim - 3))))


def _convolution_backward(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, g, shape, *window, groups = args
    moved = [folded_second(first(a, level)) for a in (x, g)]
    found = op.run(*moved, (level.size * shape[0], *shape[1:]), *window, groups * level.size)
    return unfolded(found, level.size)


def _over_time(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Signals of (time, batch, channels)."""
    x, weight, bias, pad = args
    if is_batched(weight, level) or is_batched(bias, level):
        return NotImplemented
    return unfolded_second(op.run(folded_second(shown(x, level)), weight, bias, pad), level.size)


def _fractional(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """A random sample says where the windows of each image lie."""
    return by_fold(level, op, args) if args[0].ndim == len(args[2]) + 2 else NotImplemented


def _im2col(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return (by_stack if args[0].ndim == len(args[1]) + 1 else by_fold)(level, op, args)


def _col2im(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return (by_stack if args[0].ndim == 2 else by_fold)(level, op, args)


IMAGES: dict[Op, Rule] = {
    convolution.convolution: _convolution, convolution.convolution_weight: _convolution_backward,
    convolution.unfold: _im2col, convolution.fold: _col2im, convolution.conv_tbc: _over_time,
    **rules(_fractional, pooling.fractional_max_pool2d, pooling.fractional_max_pool3d),
    **rules(by_fold, *resampling.RESIZINGS, resampling.affine_grid, resampling.affine_grid_backward,
            resampling.grid_sampler_2d, resampling.grid_sampler_3d, resampling.grid_scatter, resampling.grid_slopes,
            padding.channel_shuffle, padding.native_channel_shuffle),
    **rules(by_stack, padding.constant_pad, padding.reflection_pad1d, padding.reflection_pad2d,
            padding.reflection_pad3d, padding.reflect_backward, padding.replication_pad1d, padding.replication_pad2d,
            padding.replication_pad3d, padding.replicate_backward, padding.pixel_shuffle, padding.pixel_unshuffle,
            pooling.avg_pool2d, pooling.avg_pool3d, pooling.avg_pool_backward, pooling.adaptive_avg_pool2d,
            pooling.adaptive_avg_pool3d, pooling.adaptive_avg_pool_backward, pooling.max_pool2d, pooling.max_pool3d,
            pooling.adaptive_max_pool2d, pooling.adaptive_max_pool3d, pooling.max_unpool2d, pooling.max_unpool3d,
            pooling.scattered, pooling.gathered),
}
