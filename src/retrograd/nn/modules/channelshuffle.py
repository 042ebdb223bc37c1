"""Channels in another order, as a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tensors.functions.images import padding as functional
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from .layer import Layer

__all__ = ["ChannelShuffle"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class ChannelShuffle(Layer):
    """The channels of (N, C, …) in another order: the first of each of `groups` groups, then the second of each, …

    >>> import retrograd as torch
    >>> torch.nn.ChannelShuffle(2)(torch.arange(4).reshape(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    _options_text = "groups={self.groups}"

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """`functional.channel_shuffle` of the input."""
        return functional.channel_shuffle(input, self.groups)
