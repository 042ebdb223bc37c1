"""Convolutions and transposed convolutions as modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...tensors.functions.images import convolution as functional
from ...tensors.functions.images.padding import pad
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..parameter import UninitializedParameter
from .layer import Weighted
from .lazy import LazyModuleMixin
from .utils import repeated

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d",
           "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)

_PADDINGS, _MODES = ("same", "valid"), ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Weighted):
    """What convolutions of all dimensions share: their options and their text."""

    transposed = False

    def _set_up(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
                output_padding: Any, groups: int, bias: bool, padding_mode: str, device: DeviceLike | None,
                dtype: Any) -> None:
        dims = self.dims
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = repeated(kernel_size, dims), repeated(stride, dims)
        self.padding = padding if isinstance(padding, str) else repeated(padding, dims)
        self.dilation, self.transposed = repeated(dilation, dims), self.transposed
        self.output_padding, self.groups, self.padding_mode = repeated(output_padding, dims), groups, padding_mode
        if isinstance(padding, str):
            if padding not in _PADDINGS:
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {set(_PADDINGS)}")
            if padding == "same" and max(self.stride) > 1:
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'")
        self._reversed_padding_repeated_twice = self._around()
        outer, inner = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self._own((outer, inner // groups, *self.kernel_size), (out_channels,) if bias else None, device, dtype)

    def _around(self) -> Sequence[int]:
        """The numbers of elements before and after each dimension, from the last dimension to the first."""
        padding: Any = self.padding
        if padding == "valid":
            return [0] * (2 * self.dims)
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [size for n in total[::-1] for size in (n // 2, n - n // 2)]
        return tuple([n for n in padding[::-1] for _ in range(2)])

    def extra_repr(self) -> str:
        said = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            sizes = getattr(self, name)
            if sizes != (usual,) * len(sizes):
                said += f", {name}={sizes}"
        if self.groups != 1:
            said += f", groups={self.groups}"
        if self.bias is None:
            said += ", bias=False"
        if self.padding_mode != "zeros":
            said += f", padding_mode={self.padding_mode}"
        return said


class _Forward(_ConvNd):
    """A convolution of any number of dimensions."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode,
                     device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of the input."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        if self.padding_mode == "zeros":
            return self._function(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        input = pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
        return self._function(input, weight, bias, self.stride, 0, self.dilation, self.groups)


class Conv1d(_Forward, dims=1, function=functional.conv1d):
    """A convolution of lines (N, C, L) or (C, L).

    The options are those of `Conv2d`.

    >>> import retrograd as torch
    >>> torch.nn.Conv1d(3, 8, 5, padding="same")(torch.zeros(2, 3, 10)).shape
    torch.Size([2, 8, 10])
    """


class Conv2d(_Forward, dims=2, function=functional.conv2d):
    """A convolution of images (N, C, H, W) or (C, H, W).

    Weight (out_channels, in_channels / groups, *kernel_size) and bias (out_channels) start uniformly in ± 1 /
    sqrt(number of weights of an output). Each size is one int or a pair. `padding` is also "same" or "valid".
    `padding_mode` is "zeros", "reflect", "replicate" or "circular".

    >>> import retrograd as torch
    >>> layer = torch.nn.Conv2d(3, 8, 5, stride=2)
    >>> layer
    Conv2d(3, 8, kernel_size=(5, 5), stride=(2, 2))
    >>> layer(torch.zeros(1, 3, 28, 28)).shape
    torch.Size([1, 8, 12, 12])

    Raises ValueError for options that do not fit together, RuntimeError if the input does not fit.
    """


class Conv3d(_Forward, dims=3, function=functional.conv3d):
    """A convolution of volumes (N, C, D, H, W) or (C, D, H, W). The options are those of `Conv2d`."""


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution of any number of dimensions."""

    transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
                 output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
                 padding_mode: str = "zeros", device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._set_up(in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
                     padding_mode, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The transposed convolution of the input. `output_size` decides between sizes that are possible."""
        padding: Any = self.padding
        extra = self._output_padding(input, output_size, self.stride, padding, self.kernel_size, self.dims,
                                     self.dilation)
        return self._function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
                              self.dilation)

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None, stride: Sequence[int],
                        padding: Sequence[int], kernel_size: Sequence[int], num_spatial_dims: int,
                        dilation: Sequence[int] | None = None) -> Sequence[int]:
        """What `output_size` adds to the smallest possible size. Raises ValueError for impossible sizes."""
        if output_size is None:
            return self.output_padding
        dims = num_spatial_dims
        others = 2 if input.ndim == dims + 2 else 1
        sizes = output_size[others:] if len(output_size) == others + dims else output_size
        if len(sizes) != dims:
            raise ValueError(f"ConvTranspose{dims}D: for {input.ndim}D input, output_size must have {dims} or "
                             f"{others + dims} elements (got {len(sizes)})")
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in zip(
            input.shape[others:], stride, padding, dilation or [1] * dims, kernel_size)]
        most = [n + s - 1 for n, s in zip(least, stride)]
        if any([not a <= n <= b for n, a, b in zip(sizes, least, most)]):
            raise ValueError(f"requested an output size of {sizes}, but valid sizes range from {least} to {most} (for "
                             f"an input of {input.shape[2:]})")
        return [n - a for n, a in zip(sizes, least)]


class ConvTranspose1d(_ConvTransposeNd, dims=1, function=functional.conv_transpose1d):
    """The transpose of `Conv1d`, for lines (N, C, L) or (C, L)."""


class ConvTranspose2d(_ConvTransposeNd, dims=2, function=functional.conv_transpose2d):
    """The transpose of `Conv2d`, for images (N, C, H, W) or (C, H, W).

    >>> import retrograd as torch
    >>> torch.nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1)(torch.zeros(1, 8, 14, 14)).shape
    torch.Size([1, 3, 28, 28])

    Raises ValueError for options that do not fit together, RuntimeError if the input does not fit.
    """


class ConvTranspose3d(_ConvTransposeNd, dims=3, function=functional.conv_transpose3d):
    """The transpose of `Conv3d`, for volumes (N, C, D, H, W) or (C, D, H, W)."""


class _LazyConvXdMixin(LazyModuleMixin):
    """What lazy convolutions of all kinds share."""

    dims: int
    in_channels: int
    out_channels: int
    groups: int
    kernel_size: tuple[int, ...]
    transposed: bool
    weight: Any
    bias: Any

    def _begin_lazily(self, out_channels: int, bias: bool, device: DeviceLike | None, dtype: Any) -> None:
        """Put uninitialized parameters in place of the empty ones."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw a new weight and a new bias if they have a shape."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()                                            # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give weight and bias the shapes that fit the input. Raises ValueError or RuntimeError if none fit."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        self.weight.materialize((outer, inner // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        alone, batched = self.dims + 1, self.dims + 2
        if input.dim() not in (alone, batched):
            raise RuntimeError(f"Expected {alone}D (unbatched) or {batched}D (batched) input to {type(self).__name__}, "
                               f"but got input of size: {input.shape}")
        return int(input.shape[1] if input.dim() == batched else input.shape[0])


class _LazyForward(_LazyConvXdMixin):
    def __init__(self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                 groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._begin_lazily(out_channels, bias, device, dtype)


class _LazyTransposed(_LazyConvXdMixin):
    def __init__(self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
                 groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._begin_lazily(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):
    """A `Conv1d` that takes `in_channels` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """A `Conv2d` that takes `in_channels` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """A `Conv3d` that takes `in_channels` from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """A `ConvTranspose1d` that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """A `ConvTranspose2d` that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """A `ConvTranspose3d` that takes `in_channels` from its first input."""

    cls_to_become = ConvTranspose3d
