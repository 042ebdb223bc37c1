"""Columns of what a kernel sees, and back, as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import convolution as functional
from .layer import Layer

__all__ = ["Fold", "Unfold"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class Unfold(Layer):
    """What a kernel sees at each position of images (N, C, H, W), as columns (N, C * prod(kernel_size), positions).

    >>> import retrograd as torch
    >>> torch.nn.Unfold((2, 3))(torch.zeros(1, 3, 4, 5)).shape
    torch.Size([1, 18, 9])
    """

    _options_text = ("kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
                     "stride={self.stride}")

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns: (N, C * prod(kernel_size), positions)."""
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Layer):
    """The sum of columns (N, C * prod(kernel_size), positions), each added where `Unfold` sees it: (N, C,
    *output_size).
    """

    _options_text = "output_size={self.output_size}, " + Unfold._options_text

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
                 stride: Any = 1) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The images: (N, C, *output_size)."""
        return functional.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
