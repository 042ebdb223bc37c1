"""The columns that a kernel of a convolution sees."""

from __future__ import annotations

import math
from typing import Any

from ...foundations.dtypes import Shape, unimplemented
from ...foundations.errors import noted
from ...ops.images import convolution as ops
from ...tensors.arguments.dims import axis_of
from ...tensors.arguments.options import check_tensor
from ...tensors.arguments.sliding import ints
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor

__all__ = ["fold", "unfold"]

_unfold, _fold = recorded(ops.unfold), recorded(ops.fold)
_POSITIVE = "{0} should be greater than zero, but got {1}_height: {2} {1}_width: {3}"


def _pair(name: str, function: str, value: Any) -> tuple[int, int]:
    sizes = ints(function, name, value)
    if not isinstance(value, (tuple, list)):
        return sizes[0], sizes[0]
    if len(sizes) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(sizes)}")
    return sizes[0], sizes[1]


def _window(function: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[tuple[int, int], ...]:
    kernel, dilation, padding, stride = (_pair(name, function, value) for name, value in (
        ("kernel_size", kernel_size), ("dilation", dilation), ("padding", padding), ("stride", stride)))
    if min(kernel) <= 0:
        raise RuntimeError(_POSITIVE.format("kernel size", "kernel", *kernel))
    for name, sizes in (("stride", stride), ("dilation", dilation)):
        if min(sizes) <= 0:
            raise RuntimeError(_POSITIVE.format(name, name, *sizes))
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")
    return kernel, dilation, padding, stride


def _positions(sizes: Shape, window: Any) -> tuple[int, ...]:
    return tuple([(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, d, p, s in zip(sizes, *window)])


def _check_type(name: str, array: Any) -> None:
    if array.dtype.kind in "iu":
        raise unimplemented(f"{name}_out_cpu", array.dtype, "convert with .float() first")


@public()
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """What a kernel sees at each position of images (N, C, H, W), as columns: (N, C * prod(kernel_size), positions).

    The images may also be (C, H, W). Each size is one int or a pair.

    >>> import retrograd as torch
    >>> torch.nn.functional.unfold(torch.zeros(1, 3, 4, 5), (2, 3)).shape
    torch.Size([1, 18, 9])

    Raises RuntimeError if the kernel does not fit, NotImplementedError for ints.
    """
    check_tensor("im2col", input)
    shape = input._array.shape
    axis_of("im2col", 2, len(shape))
    window = _window("im2col", kernel_size, dilation, padding, stride)
    if len(shape) not in (3, 4) or not all(shape[-3:]):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
                           f"dimensions for input, but got: {[*shape]}")
    positions = _positions(shape[-2:], window)
    if min(positions) < 1:
        kernel, dilation, padding, stride = window
        raise RuntimeError(f"Given input with spatial size {tuple(shape[-2:])}, kernel_size={kernel}, "
                           f"dilation={dilation}, padding={padding}, calculated shape of the array of sliding blocks "
                           f"as {positions}, but its components must be at least one.")
    _check_type("im2col", input._array)
    return _unfold(input, *window)


@public()
def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
         stride: Any = 1) -> Tensor:
    """The sum of columns (N, C * prod(kernel_size), positions), each added where `unfold` sees it: (N, C,
    *output_size).

    >>> import retrograd as torch
    >>> columns = torch.nn.functional.unfold(torch.ones(1, 1, 3, 3), 2)
    >>> torch.nn.functional.fold(columns, (3, 3), 2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])

    Raises RuntimeError if the number of columns does not fit the sizes, NotImplementedError for ints.
    """
    check_tensor("col2im", input)
    sizes, window = _pair("output_size", "col2im", output_size), _window("col2im", kernel_size, dilation, padding,
                                                                          stride)
    shape = input._array.shape
    if len(shape) not in (2, 3) or not all(shape[-2:]):
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
                           f"dimensions for input, but got: {[*shape]}")
    kernel, dilation, padding, stride = window
    if shape[-2] % math.prod(kernel):
        raise noted(
            RuntimeError("Expected size of input's dimension 1 to be divisible by the product of kernel_size, but "
                         f"got input.size(1)={shape[-2]} and kernel_size={kernel}."),
            because="each channel has so many elements of a column")
    high, wide = _positions(sizes, window)
    given = (f"Given output_size={sizes}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
             f"stride={stride}, ")
    if high * wide != shape[-1]:
        raise RuntimeError(f"{given}expected size of input's dimension 2 to match the calculated number of sliding "
                           f"blocks {high} * {wide} = {high * wide}, but got input.size(2)={shape[-1]}.")
    if min(high, wide) < 1:
        raise RuntimeError(f"{given}calculated shape of the array of sliding blocks as ({high}, {wide}), which is too "
                           "small (non-positive)")
    _check_type("col2im", input._array)
    return _fold(input, sizes, *window)
