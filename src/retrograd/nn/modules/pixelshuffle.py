"""Channels as pixels, and pixels as channels, as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tensors.functions.images import padding as functional
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from .layer import Layer

__all__ = ["PixelShuffle", "PixelUnshuffle"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class PixelShuffle(Layer):
    """Turns groups of `upscale_factor` squared channels into pixels: (…, C r², H, W) becomes (…, C, H r, W r).

    >>> import retrograd as torch
    >>> torch.nn.PixelShuffle(2)(torch.zeros(1, 12, 4, 5)).shape
    torch.Size([1, 3, 8, 10])
    """

    _options_text = "upscale_factor={self.upscale_factor}"

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pixel_shuffle` of the input."""
        return functional.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Layer):
    """Turns pixels into channels, the inverse of PixelShuffle: (…, C, H r, W r) becomes (…, C r², H, W).

    >>> import retrograd as torch
    >>> torch.nn.PixelUnshuffle(2)(torch.zeros(1, 3, 8, 10)).shape
    torch.Size([1, 12, 4, 5])
    """

    _options_text = "downscale_factor={self.downscale_factor}"

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`functional.pixel_unshuffle` of the input."""
        return functional.pixel_unshuffle(input, self.downscale_factor)
