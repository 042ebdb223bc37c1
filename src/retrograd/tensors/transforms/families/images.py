"""Convolutions, pooling, padding, resizing: the batch becomes a part of the first axis, or of the groups."""

from __future__ import annotations

from typing import Any

from ....ops.elementwise.arithmetic import add
from ....ops.framework import Op
from ....ops.images import resampling
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


def _convolution(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
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


def _with_bias(found: Any, bias: Any) -> Any:
    size, channels = bias.shape
    return add.run(found, as_shape(bias, (size, 1, channels, *[1] * (found.ndim - 3))))


def _convolution_backward(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    x, g, shape, *window, groups = args
    moved = [folded_second(first(a, level)) for a in (x, g)]
    found = op.run(*moved, (level.size * shape[0], *shape[1:]), *window, groups * level.size)
    return unfolded(found, level.size)


def _over_time(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """Signals of (time, batch, channels)."""
    x, weight, bias, pad = args
    if is_batched(weight, level) or is_batched(bias, level):
        return NotImplemented
    return unfolded_second(op.run(folded_second(shown(x, level)), weight, bias, pad), level.size)


def _fractional(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    """A random sample says where the windows of each image lie."""
    return by_fold(level, op, args) if args[0].ndim == len(args[2]) + 2 else NotImplemented


def _im2col(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    return (by_stack if args[0].ndim == len(args[1]) + 1 else by_fold)(level, op, args)


def _col2im(level: Any, op: Op, args: tuple[Any, ...]) -> Any:
    return (by_stack if args[0].ndim == 2 else by_fold)(level, op, args)


# The resizings of PyTorch's names, and their adjoints.
_RESIZED = [pair.name for pair in (*resampling.NEAREST.values(), *resampling.NEAREST_EXACT.values(),
                                   *resampling.SMOOTH.values(), resampling.windows)]

IMAGES: dict[str, Rule] = {
    "convolution": _convolution, "convolution_backward": _convolution_backward, "im2col": _im2col, "col2im": _col2im,
    "conv_tbc": _over_time, **rules(_fractional, "fractional_max_pool2d fractional_max_pool3d"),
    **dict.fromkeys([name for each in _RESIZED for name in (each, f"{each}_backward")], by_fold),
    **rules(by_fold, "affine_grid affine_grid_backward grid_sampler_2d grid_sampler_3d grid_scatter grid_slopes "
                       "channel_shuffle native_channel_shuffle"),
    **rules(by_stack, "constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d reflection_pad_backward "
                      "replication_pad1d replication_pad2d replication_pad3d replication_pad_backward pixel_shuffle "
                      "pixel_unshuffle avg_pool2d avg_pool3d avg_pool_backward adaptive_avg_pool2d "
                      "adaptive_avg_pool3d adaptive_avg_pool_backward max_pool2d_with_indices "
                      "max_pool3d_with_indices adaptive_max_pool2d adaptive_max_pool3d max_unpool2d max_unpool3d "
                      "max_pool_backward gather_pooled"),
}
