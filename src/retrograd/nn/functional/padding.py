"""Padding, and channels that become pixels."""

from __future__ import annotations

from ...tensors.functions.images.padding import (
    channel_shuffle,
    native_channel_shuffle,
    pad,
    pixel_shuffle,
    pixel_unshuffle,
)

__all__ = ["channel_shuffle", "native_channel_shuffle", "pad", "pixel_shuffle", "pixel_unshuffle"]
