"""Maxima and means over windows, with PyTorch's checks of the arguments and PyTorch's messages.

The windows slide, or adapt to the size of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....foundations.dtypes import F32, F64, I64, Array, Shape, letter, unimplemented
from ....foundations.errors import noted
from ....foundations.modes import local
from ....kernels.images.pooling import outputs
from ....ops.images import pooling as ops
from ....tensors.state.base import TensorBase
from ...arguments.options import check_tensor, refuse_complex_gradient
from ...arguments.sliding import ints, shown, spelled
from ...recording.calls import recorded
from ...recording.public import public
from ...state.base import requires

_MAXIMA = {2: recorded(ops.max_pool2d), 3: recorded(ops.max_pool3d)}
_MEANS = {2: recorded(ops.avg_pool2d), 3: recorded(ops.avg_pool3d)}
_ADAPTIVE_MAXIMA = {2: recorded(ops.adaptive_max_pool2d), 3: recorded(ops.adaptive_max_pool3d)}
_ADAPTIVE_MEANS = {2: recorded(ops.adaptive_avg_pool2d), 3: recorded(ops.adaptive_avg_pool3d)}
_AXES = {2: "HW", 3: "THW"}


def _each(name: str, argument: str, value: Any, dims: int, words: str) -> tuple[int, ...]:
    """A size for each dimension. A single size stands for all dimensions."""
    sizes = ints(name, argument, value)
    if len(sizes) == 1:
        return sizes * dims
    if len(sizes) != dims:
        raise RuntimeError(f"{name}: {argument} must {words}a single int, or a tuple of {spelled(dims)} ints")
    return sizes


def _has_stride(stride: Any) -> bool:
    return stride is not None and not (isinstance(stride, (tuple, list)) and not stride)


def _window_of(name: str, kernel_size: Any, stride: Any, padding: Any, dims: int, *,
              mean: bool = False) -> tuple[tuple[int, ...], ...]:
    """The kernel, the stride and the padding for each dimension. The default of the stride is the kernel size."""
    be = "be " if mean and dims == 3 else "either be "
    kernel = _each(name, "kernel_size", kernel_size, dims, be)
    steps = _each(name, "stride", stride, dims, f"{be}omitted, ") if _has_stride(stride) else kernel
    return kernel, steps, _each(name, "padding", padding, dims, be)


def check_type(kernel: str, array: Array, kinds: str) -> None:
    """Raise NotImplementedError if the kernel does not support the dtype.

    In `kinds`, `i` stands for all integers, `l` for int64, `w` for float32 and float64.
    """
    kind = letter(array.dtype)
    if kind in kinds or ("w" in kinds and array.dtype in (F32, F64)) or ("i" in kinds and kind == "u") or (
            "l" in kinds and array.dtype == I64):
        return
    raise unimplemented(kernel, array.dtype, "convert with .float() first")


def _check_window(window: Any, dims: int) -> None:
    """PyTorch's checks of the sizes of a window, which come before the checks of the image."""
    for kernel, stride, padding, dilation in zip(*window):
        if stride == 0:
            raise noted(
                RuntimeError("stride should not be zero"), because="the default of the stride is the kernel size")
        if padding < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
        if padding > (dilation * (kernel - 1) + 1) // 2:
            raise RuntimeError("pad should be at most half of effective kernel size, but got pad="
                               f"{padding}, kernel_size={kernel} and dilation={dilation}")
    names = _AXES[dims]
    for what, name, sizes in (("kernel size", "k", window[0]), ("stride", "d", window[1]),
                              ("dilation", "dilation", window[3])):
        if min(sizes) <= 0:
            said = " ".join([f"{name}{axis}: {size}" for axis, size in zip(names, sizes)])
            raise RuntimeError(f"{what} should be greater than zero, but got {said}")


def _check_image(shape: Shape, window: Any, dims: int, ceil_mode: bool, mean: bool) -> None:
    """PyTorch's checks of an image (C, ...) or a batch of images, and of whether the windows fit into the image."""
    if not all(shape[-dims - 1:]):
        if dims == 3:
            at = next(i for i, n in enumerate(shape[-4:]) if not n)
            raise RuntimeError(f"{'avg' if mean else 'max'}_pool3d(): Expected input's non-batch dimensions to have "
                               f"positive length, but input has a shape of {[*shape]} and non-batch dimension {at} has "
                               "length zero!")
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                           f"{[*shape]}")
    sizes, (kernel, stride, padding, dilation) = shape[-dims:], window
    if mean and dims == 3 and any([n < k for n, k in zip(sizes, kernel)]):
        have, want = ((" ".join([f"{prefix}{axis}: {n}" for axis, n in zip(_AXES[3], values)]))
                      for prefix, values in (("", sizes), ("k", kernel)))
        raise RuntimeError(f"input image ({have}) smaller than kernel size ({want})")
    if any([p > k // 2 for p, k in zip(padding, kernel)]):
        raise RuntimeError("pad should be smaller than or equal to half of kernel size, but got "
                           f"{_too_far(kernel, padding)}")
    found = [outputs(n, k, s, p, d, ceil_mode) for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation)]
    if min(found) < 1:
        channels = shape[-dims - 1]
        raise RuntimeError(f"Given input size: ({shown((channels, *sizes))}). Calculated output size: "
                           f"({shown((channels, *found))}). Output size is too small")


def _too_far(kernel: Shape, padding: Shape) -> str:
    """The sizes of a kernel and of a padding that exceeds half of the kernel, in the words of PyTorch."""
    if len(kernel) == 2:
        return f"padW = {padding[1]}, padH = {padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
    return " ".join([f"{name}{axis}: {sizes[i]}" for name, sizes in (("k", kernel), ("pad", padding))
                     for axis, i in (("T", 0), ("W", 2), ("H", 1))])


def maxima(name: str, input: TensorBase, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
           dims: int) -> Any:
    """The maxima over windows of two or three dimensions, and their indices."""
    check_tensor(name, input)
    window = _window_of(name, kernel_size, stride, padding, dims)
    window = *window, _each(name, "dilation", dilation, dims, "be either ")
    if not isinstance(ceil_mode, bool):
        raise TypeError(f"{name}(): argument 'ceil_mode' (position 6) must be bool, not {type(ceil_mode).__name__}")
    array = input._array
    if array.ndim not in (dims + 1, dims + 2):
        raise noted(
            RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input"),
            given=f"its shape is {[*array.shape]}")
    _check_window(window, dims)
    _check_image(array.shape, window, dims, ceil_mode, False)
    check_type(f"max_pool{dims}d", array, "fi")
    return _MAXIMA[dims](input, *window, ceil_mode)


def means(name: str, input: TensorBase, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
          count_include_pad: bool, divisor_override: int | None, dims: int) -> Any:
    """The means over windows of two or three dimensions."""
    kernel, steps, around = _window_of(name, kernel_size, stride, padding, dims, mean=True)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    array, window = input._array, (kernel, steps, around, (1,) * dims)
    if dims == 3 and array.ndim not in (4, 5):
        raise noted(
            RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input"),
            given=f"its shape is {[*array.shape]}")
    if array.ndim >= dims:
        _check_window(window, dims)
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                           f"{[*array.shape]}")
    _check_image(array.shape, window, dims, ceil_mode, True)
    check_type(*(("avg_pool2d", array, "fl") if dims == 2 else ("avg_pool3d_out_frame", array, "wl")))
    return _MEANS[dims](input, kernel, steps, around, ceil_mode, count_include_pad, divisor_override)


def _one(name: str, argument: str, value: Any) -> int:
    sizes = ints(name, argument, value)
    if len(sizes) != 1:
        kinds = {"stride": "None, an int, list of ints,", "padding": "an int, list of ints,"}.get(
            argument, "an int, list of ints")
        raise RuntimeError(f"{name}() {argument} must be {kinds} or tuple of ints of size 1 but got size "
                           f"{len(sizes)}")
    return sizes[0]


def _line(input: TensorBase, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
          ceil_mode: bool) -> tuple[int, ...]:
    """The checked sizes of a window along one dimension."""
    name, shape = "max_pool1d", input._array.shape
    if len(shape) not in (2, 3) or not all(shape[-2:]):
        raise RuntimeError("max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
                           f"input, but got:{[*shape]}")
    kernel = _one(name, "kernel_size", kernel_size)
    step = _one(name, "stride", stride) if _has_stride(stride) else kernel
    around, apart = _one(name, "padding", padding), _one(name, "dilation", dilation)
    for what, value in (("kernel_size", kernel), ("stride", step)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {what} must be greater than zero, but got {value}")
    if around < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {around}")
    if around > kernel // 2:
        raise RuntimeError("max_pool1d() padding should be at most half of kernel size, but got "
                           f"padding={around} and kernel_size={kernel}")
    if apart <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {apart}")
    found = outputs(shape[-1], kernel, step, around, apart, ceil_mode)
    if found <= 0:
        raise noted(
            RuntimeError(f"max_pool1d() Invalid computed output size: {found}"), because="the window does not fit")
    return kernel, step, around, apart


@public()
def max_pool1d_with_indices(input: TensorBase, kernel_size: Any, stride: Any = None, padding: Any = 0,
                            dilation: Any = 1, ceil_mode: bool = False) -> tuple[Any, Any]:
    """`max_pool1d`, and the index of each maximum along the last dimension."""
    check_tensor("max_pool1d", input)
    kernel, step, around, apart = _line(input, kernel_size, stride, padding, dilation, ceil_mode)
    values, indices = maxima("max_pool2d", input.unsqueeze(-2), (1, kernel), (1, step), (0, around), (1, apart),
                             ceil_mode, 2)
    return values.squeeze(-2), indices.squeeze(-2)


@public()
def max_pool1d(input: TensorBase, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
               ceil_mode: bool = False) -> Any:
    """The maxima over windows that slide along the last dimension of (N, C, L) or (C, L).

    Raises RuntimeError if the window does not fit, NotImplementedError for ints.

    >>> import retrograd as torch
    >>> torch.max_pool1d(torch.tensor([[1., 3., 2., 4., 0.]]), 2)
    tensor([[3., 4.]])
    """
    check_tensor("max_pool1d", input)
    graph = local.thread.grad and requires(input)
    if not graph:
        _line(input, kernel_size, stride, padding, dilation, ceil_mode)
        check_type("max_pool1d_impl", input._array, "f")
    values = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)[0]
    return values if graph else values.contiguous()


def _images(dims: int) -> Callable[..., Any]:
    """The function max_pool2d or max_pool3d."""
    name = f"max_pool{dims}d"

    @public(name=name, doc=f"""The maxima over windows that slide over {dims} dimensions of (N, C, ...) or (C, ...).

    Raises RuntimeError if the window does not fit, NotImplementedError for bools and complex numbers.
    """)
    def function(input: TensorBase, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 ceil_mode: bool = False) -> Any:
        return maxima(name, input, kernel_size, stride, padding, dilation, ceil_mode, dims)[0]

    return function


max_pool2d, max_pool3d = _images(2), _images(3)


@public(
    "avg_pool1d(Tensor input, ints[1] kernel_size, ints[1] stride=[], ints[1] padding=[0], bool ceil_mode=False, bool "
    "count_include_pad=True)", strict=True)
def avg_pool1d(input: TensorBase, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
               count_include_pad: bool = True) -> Any:
    """The means over windows that slide along the last dimension of (N, C, L) or (C, L).

    The zeros of the padding count as elements, unless `count_include_pad` is False. Raises RuntimeError if the window
    does not fit.
    """
    _check_lines("avg_pool1d", input)
    kernel = _one_size("avg_pool1d", "kernel_size", kernel_size)
    step = _one_size("avg_pool1d", "stride", stride) if _has_stride(stride) else kernel
    around = _one_size("avg_pool1d", "padding", padding)
    return means("avg_pool2d", input.unsqueeze(-2), (1, kernel), (1, step), (0, around), ceil_mode, count_include_pad,
                 None, 2).squeeze(-2)


def _one_size(name: str, argument: str, value: Any) -> int:
    """The size for a 1-d function. Raises RuntimeError for more than one int."""
    sizes = ints(name, argument, value)
    if len(sizes) != 1:
        raise RuntimeError(f"{name}() argument '{argument}' should contain one int (got {len(sizes)})")
    return sizes[0]


def _check_lines(name: str, input: TensorBase) -> None:
    """Raise RuntimeError if the shape is neither (N, C, L) nor (C, L)."""
    if input._array.ndim not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {input._array.ndim}-dimensional tensor for argument "
                           f"#1 'self' (while checking arguments for {name})")


# A given number of windows, which together cover the input

def _check_space(name: str, shape: Shape, first: int) -> None:
    """Raise RuntimeError if a dimension of the image has size 0. `first` is the first dimension to check."""
    for axis in range(first, len(shape)):
        if not shape[axis]:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input "
                               f"has sizes {[*shape]} with dimension {axis} being empty")


def adaptive_means(name: str, input: TensorBase, output_size: Shape, dims: int) -> Any:
    """The means over `output_size` windows along the last two or three dimensions."""
    to = output_size
    if len(to) != dims:
        raise RuntimeError(f"{name}: output_size must be {dims}")
    if min(to) < 0:
        separated = f"{to[0]}, {shown(to[1:], ',')}"
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 but received "
                           f"{{{separated}}}")
    array = input._array
    if max(to) == min(to) == 1:
        return input.mean(tuple(range(-dims, 0)), True)
    _check_space(name, array.shape, array.ndim - dims)
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {[*array.shape]}")
    if array.size or dims == 3:
        check_type(name if dims == 2 else f"{name}_cpu", array, "f")
    refuse_complex_gradient(f"_{name}", input)
    return _ADAPTIVE_MEANS[dims](input, to)


def adaptive_maxima(name: str, input: TensorBase, output_size: Shape, dims: int) -> Any:
    """The maxima over `output_size` windows along the last two or three dimensions, and their indices."""
    array, to = input._array, output_size
    if array.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {[*array.shape]}")
    _check_space(name, array.shape, array.ndim - dims - 1)
    if len(to) != dims:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")
    if min(to) < 0:
        raise noted(
            RuntimeError(f"Trying to create tensor with negative dimension {min(to)}: {[*array.shape[:-dims], *to]}"),
            because="the sizes of the result must not be negative")
    check_type(name if dims == 2 else f"{name}_cpu", array, "f")
    return _ADAPTIVE_MAXIMA[dims](input, to)


@public("adaptive_avg_pool1d(Tensor input, ints[1] output_size)")
def adaptive_avg_pool1d(input: TensorBase, output_size: Any) -> Any:
    """The means over `output_size` windows along the last dimension of (N, C, L) or (C, L).

    The windows cover the dimension. The result has the size `output_size` there. Raises RuntimeError for an input of
    another number of dimensions.

    >>> import retrograd as torch
    >>> torch.adaptive_avg_pool1d(torch.tensor([[1., 2., 3., 4.]]), 2)
    tensor([[1.5000, 3.5000]])
    """
    _check_lines("adaptive_avg_pool1d", input)
    to = _one_size("adaptive_avg_pool1d", "output_size", output_size)
    return adaptive_means("adaptive_avg_pool2d", input.unsqueeze(-2), (1, to), 2).squeeze(-2)


@public()
def adaptive_max_pool1d(input: TensorBase, output_size: Any) -> tuple[Any, Any]:
    """The maxima over `output_size` windows along the last dimension of (N, C, L) or (C, L), and their indices.

    The windows cover the dimension. Raises RuntimeError for an input of another number of dimensions.
    """
    check_tensor("adaptive_max_pool1d", input)
    _check_lines("adaptive_max_pool1d", input)
    to = _one_size("adaptive_max_pool1d", "output_size", output_size)
    shape = input._array.shape
    _check_space("adaptive_max_pool1d", shape, len(shape) - 2)
    values, indices = adaptive_maxima("adaptive_max_pool2d", input.unsqueeze(-2), (1, to), 2)
    return values.squeeze(-2), indices.squeeze(-2)
