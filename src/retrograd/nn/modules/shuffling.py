"""Layers that deal channels anew, among each other or as pixels."""

from __future__ import annotations

from typing import Any

from ..functional import padding as functional
from ..module import Module

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """Channels, `upscale_factor` squared at a time, as pixels: (…, C r², H, W) becomes (…, C, H r, W r).

    >>> import retrograd as torch
    >>> torch.nn.PixelShuffle(2)(torch.zeros(1, 12, 4, 5)).shape
    torch.Size([1, 3, 8, 10])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        """`functional.pixel_shuffle` of the input."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Pixels as channels, which undoes PixelShuffle: (…, C, H r, W r) becomes (…, C r², H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        """`functional.pixel_unshuffle` of the input."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """The channels of (N, C, …) dealt anew: the first of each of `groups` groups, then the second of each, and so on.

    >>> import retrograd as torch
    >>> torch.nn.ChannelShuffle(2)(torch.arange(4).reshape(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        """`functional.channel_shuffle` of the input."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
