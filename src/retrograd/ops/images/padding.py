"""Padding, and channels that become pixels. Each derivative reverses the operator: it crops, adds up or puts back."""

from __future__ import annotations

from ...kernels.images import padding as kernels
from ..framework import Op, linear, not_differentiable, operator

constant_pad: Op = operator("constant_pad_nd", kernels.constant_pad, layout="kept", complex="real",
                            x=lambda g, pad: constant_pad(g, tuple([-n for n in pad]), 0))

reflection_pad1d, reflection_pad2d, reflection_pad3d = [
    linear(f"reflection_pad{d}d", kernels.reflect, node=f"ReflectionPad{d}DBackward0", layout="kept",
           x=lambda g, x_shape, pad: reflect_backward(g, x_shape, pad)) for d in (1, 2, 3)]
replication_pad1d, replication_pad2d, replication_pad3d = [
    linear(f"replication_pad{d}d", kernels.replicate, node=f"ReplicationPad{d}DBackward0", layout="kept",
           x=lambda g, x_shape, pad: replicate_backward(g, x_shape, pad)) for d in (1, 2, 3)]
reflect_backward: Op = linear("reflection_pad_backward", kernels.reflect_backward,
                              g=lambda g, pad: reflection_pad1d(g, pad))
replicate_backward: Op = linear("replication_pad_backward", kernels.replicate_backward,
                                g=lambda g, pad: replication_pad1d(g, pad))

pixel_shuffle: Op = linear("pixel_shuffle", kernels.pixel_shuffle, x=lambda g, factor: pixel_unshuffle(g, factor))
pixel_unshuffle: Op = linear("pixel_unshuffle", kernels.pixel_unshuffle, x=lambda g, factor: pixel_shuffle(g, factor))
channel_shuffle: Op = linear("channel_shuffle", kernels.channel_shuffle,
                             x=lambda g, x_shape, groups: channel_shuffle(g, max(x_shape[1] // groups, 1)))
native_channel_shuffle: Op = linear("native_channel_shuffle", kernels.channel_shuffle, node="NotImplemented",
                                    x=not_differentiable("native_channel_shuffle"))
