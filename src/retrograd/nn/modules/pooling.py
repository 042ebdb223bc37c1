"""Pooling over sliding windows, and to a given size, as modules.

Sizes are one int, or one int for each dimension of space. Without `stride` the windows lie side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import pooling as functional, unpooling
from .layer import Layer
from .utils import repeated

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _MaxPoolNd(Layer):
    _options_text = ("kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                     "dilation={self.dilation}, ceil_mode={self.ceil_mode}")

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The maxima; with `return_indices` a tuple of the maxima and their places."""
        return self._function(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
                              self.return_indices)


class MaxPool1d(_MaxPoolNd, function=functional.max_pool1d):
    """The maxima of windows along lines (N, C, L) or (C, L). The options are those of `MaxPool2d`."""


class MaxPool2d(_MaxPoolNd, function=functional.max_pool2d):
    """The maxima of windows of images (N, C, H, W) or (C, H, W).

    >>> import retrograd as torch
    >>> torch.nn.MaxPool2d(2)(torch.arange(16.).view(1, 4, 4))
    tensor([[[ 5.,  7.],
             [13., 15.]]])

    With `return_indices` the call returns the maxima and their places. Raises RuntimeError if the window does not fit.
    """


class MaxPool3d(_MaxPoolNd, function=functional.max_pool3d):
    """The maxima of windows of volumes (N, C, D, H, W) or (C, D, H, W). The options are those of `MaxPool2d`."""


class _MaxUnpoolNd(Layer):
    _options_text = "kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self.dims)
        self.stride = repeated(kernel_size if stride is None else stride, self.dims)
        self.padding = repeated(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Zeros, with the elements of the input at the places that `indices` names."""
        return self._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd, dims=1, function=unpooling.max_unpool1d):
    """Puts the maxima of `MaxPool1d` back in place, with zeros around them."""


class MaxUnpool2d(_MaxUnpoolNd, dims=2, function=unpooling.max_unpool2d):
    """Puts the maxima of `MaxPool2d` back in place, with zeros around them.

    >>> import retrograd as torch
    >>> maxima, places = torch.nn.MaxPool2d(2, return_indices=True)(torch.arange(4.).view(1, 2, 2))
    >>> torch.nn.MaxUnpool2d(2)(maxima, places)
    tensor([[[0., 0.],
             [0., 3.]]])
    """


class MaxUnpool3d(_MaxUnpoolNd, dims=3, function=unpooling.max_unpool3d):
    """Puts the maxima of `MaxPool3d` back in place, with zeros around them."""


class _AvgPoolNd(Layer):
    _options_text = "kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return self._function(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                              self.count_include_pad, self.divisor_override)


class AvgPool1d(_AvgPoolNd, function=functional.avg_pool1d):
    """The means of windows along lines (N, C, L) or (C, L)."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True) -> None:
        super().__init__(repeated(kernel_size, 1), repeated(kernel_size if stride is None else stride, 1),
                         repeated(padding, 1), ceil_mode, count_include_pad)
        del self.divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return self._function(input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
                              self.count_include_pad)


class AvgPool2d(_AvgPoolNd, function=functional.avg_pool2d):
    """The means of windows of images (N, C, H, W) or (C, H, W).

    >>> import retrograd as torch
    >>> torch.nn.AvgPool2d(2)(torch.arange(16.).view(1, 4, 4))
    tensor([[[ 2.5000,  4.5000],
             [10.5000, 12.5000]]])

    The zeros of the padding count as elements unless `count_include_pad` is False; `divisor_override` replaces the
    number of elements. Raises RuntimeError if the window does not fit.
    """


class AvgPool3d(_AvgPoolNd, function=functional.avg_pool3d):
    """The means of windows of volumes (N, C, D, H, W) or (C, D, H, W)."""


class _LPPoolNd(Layer):
    _options_text = ("norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
                     "ceil_mode={self.ceil_mode}")

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The sum of x ** norm_type over each window, to the power of 1 / norm_type."""
        return self._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd, function=functional.lp_pool1d):
    """The norms of windows along lines (N, C, L) or (C, L)."""


class LPPool2d(_LPPoolNd, function=functional.lp_pool2d):
    """The norms of windows of images (N, C, H, W) or (C, H, W)."""


class LPPool3d(_LPPoolNd, function=functional.lp_pool3d):
    """The norms of windows of volumes (N, C, D, H, W) or (C, D, H, W)."""


class _FractionalMaxPoolNd(Layer):
    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
                 return_indices: bool = False, _random_samples: Any = None) -> None:
        super().__init__()
        sizes = kernel_size if isinstance(kernel_size, (tuple, list, int)) else ()
        if self.dims == 3 and not all([size > 0 for size in repeated(sizes, 3)]):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size, self.return_indices = repeated(kernel_size, self.dims), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, self.dims)
        self.output_ratio = None if output_ratio is None else repeated(output_ratio, self.dims)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all([0 < ratio < 1 for ratio in self.output_ratio]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The maxima; with `return_indices` a tuple of the maxima and their places."""
        return self._function(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                              self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd, dims=2, function=unpooling.fractional_max_pool2d):
    """The maxima of windows at random places of images (N, C, H, W) or (C, H, W).

    Either `output_size` or `output_ratio`, a part of the input's size, is given; otherwise ValueError is raised.
    """


class FractionalMaxPool3d(_FractionalMaxPoolNd, dims=3, function=unpooling.fractional_max_pool3d):
    """The maxima of windows at random places of volumes. The options are those of `FractionalMaxPool2d`."""


class _AdaptiveAvgPoolNd(Layer):
    _options_text = "output_size={self.output_size}"

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The means."""
        return self._function(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd, function=functional.adaptive_avg_pool1d):
    """The means of `output_size` windows along lines (N, C, L) or (C, L)."""


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd, function=functional.adaptive_avg_pool2d):
    """The means of `output_size` windows of images (N, C, H, W) or (C, H, W). None keeps the size of the input.

    >>> import retrograd as torch
    >>> torch.nn.AdaptiveAvgPool2d((None, 2))(torch.arange(8.).view(1, 2, 4))
    tensor([[[0.5000, 2.5000],
             [4.5000, 6.5000]]])
    """


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd, function=functional.adaptive_avg_pool3d):
    """The means of `output_size` windows of volumes (N, C, D, H, W) or (C, D, H, W)."""


class _AdaptiveMaxPoolNd(Layer):
    _options_text = "output_size={self.output_size}"

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        """The maxima; with `return_indices` a tuple of the maxima and their places."""
        return self._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd, function=functional.adaptive_max_pool1d):
    """The maxima of `output_size` windows along lines (N, C, L) or (C, L)."""


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd, function=functional.adaptive_max_pool2d):
    """The maxima of `output_size` windows of images (N, C, H, W) or (C, H, W)."""


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd, function=functional.adaptive_max_pool3d):
    """The maxima of `output_size` windows of volumes (N, C, D, H, W) or (C, D, H, W)."""
