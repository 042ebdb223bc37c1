"""Pooling to a size, and columns of what a kernel sees, as modules."""

from __future__ import annotations

from typing import Any

from ..functional import convolution, pooling as functional
from ..module import Module

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
           "AdaptiveMaxPool3d", "Fold", "Unfold"]


class _Adaptive(Module):
    dims = 0

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveAvgPool(_Adaptive):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        """The means."""
        call = (functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d,
                functional.adaptive_avg_pool3d)[self.dims - 1]
        return call(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of so many windows along lines (N, C, L) or (C, L)."""

    dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The means of so many windows of images (N, C, H, W) or (C, H, W).

    >>> import retrograd as torch
    >>> torch.nn.AdaptiveAvgPool2d((None, 2))(torch.arange(8.).view(1, 2, 4))
    tensor([[[0.5000, 2.5000],
             [4.5000, 6.5000]]])
    """

    dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The means of so many windows of volumes (N, C, D, H, W) or (C, D, H, W)."""

    dims = 3


class _AdaptiveMaxPool(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Any) -> Any:
        """The maxima; with `return_indices`, and where each is."""
        call = (functional.adaptive_max_pool1d, functional.adaptive_max_pool2d,
                functional.adaptive_max_pool3d)[self.dims - 1]
        return call(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of so many windows along lines (N, C, L) or (C, L)."""

    dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maxima of so many windows of images (N, C, H, W) or (C, H, W)."""

    dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maxima of so many windows of volumes (N, C, D, H, W) or (C, D, H, W)."""

    dims = 3


class Unfold(Module):
    """What a kernel sees at each position of images (N, C, H, W), as columns."""

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Any) -> Any:
        """The columns: (N, C * prod(kernel_size), positions)."""
        return convolution.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
                f"stride={self.stride}")


class Fold(Module):
    """Columns added where Unfold sees them."""

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
                 stride: Any = 1) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input: Any) -> Any:
        """The images: (N, C, *output_size)."""
        return convolution.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
                f"padding={self.padding}, stride={self.stride}")
