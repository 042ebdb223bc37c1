"""Padding, and channels that become pixels. Each derivative reverses the operator: it crops, adds up or puts back."""

from __future__ import annotations

from typing import Any

from ...kernels.images import padding as kernels
from ..framework import Op, linear, not_differentiable, operator

constant_pad: Op = operator("constant_pad_nd", kernels.constant_pad,
                            x=lambda g, pad: constant_pad(g, tuple([-n for n in pad]), 0))

reflect_backward: Op = linear("reflection_pad_backward", kernels.reflect_backward,
                              g=lambda g, pad: reflection_pad1d(g, pad))
replicate_backward: Op = linear("replication_pad_backward", kernels.replicate_backward,
                                g=lambda g, pad: replication_pad1d(g, pad))


def _reflected(g: Any, x_shape: Any, pad: Any) -> Any:
    return reflect_backward(g, x_shape, pad)


def _replicated(g: Any, x_shape: Any, pad: Any) -> Any:
    return replicate_backward(g, x_shape, pad)


reflection_pad1d: Op = linear("reflection_pad1d", kernels.reflect, node="ReflectionPad1DBackward0", x=_reflected)
reflection_pad2d: Op = linear("reflection_pad2d", kernels.reflect, node="ReflectionPad2DBackward0", x=_reflected)
reflection_pad3d: Op = linear("reflection_pad3d", kernels.reflect, node="ReflectionPad3DBackward0", x=_reflected)
replication_pad1d: Op = linear("replication_pad1d", kernels.replicate, node="ReplicationPad1DBackward0", x=_replicated)
replication_pad2d: Op = linear("replication_pad2d", kernels.replicate, node="ReplicationPad2DBackward0", x=_replicated)
replication_pad3d: Op = linear("replication_pad3d", kernels.replicate, node="ReplicationPad3DBackward0", x=_replicated)

pixel_shuffle: Op = linear("pixel_shuffle", kernels.pixel_shuffle, x=lambda g, factor: pixel_unshuffle(g, factor))
pixel_unshuffle: Op = linear("pixel_unshuffle", kernels.pixel_unshuffle, x=lambda g, factor: pixel_shuffle(g, factor))
channel_shuffle: Op = linear("channel_shuffle", kernels.channel_shuffle,
                             x=lambda g, x_shape, groups: channel_shuffle(g, max(x_shape[1] // groups, 1)))
native_channel_shuffle: Op = linear("native_channel_shuffle", kernels.channel_shuffle, node="NotImplemented",
                                    x=not_differentiable("native_channel_shuffle"))
