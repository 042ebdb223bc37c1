"""Convolutions as functions, with PyTorch's checks of their arguments and PyTorch's messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import C_NAMES, F32, I64, Array, Shape, dtype as torch_dtype, unimplemented
from ....foundations.errors import noted, warn_once
from ....ops.images import convolution as ops
from ....tensors.state.base import TensorBase
from ...arguments.options import refuse_complex_gradient
from ...arguments.sliding import ints, shown
from ...recording.calls import recorded
from ...recording.public import public
from .padding import constant_pad_nd

_convolution, _conv_tbc = recorded(ops.convolution), recorded(ops.conv_tbc)


def _each(name: str, value: Any, dims: int) -> tuple[int, ...]:
    """A size for each spatial dimension. A single size stands for all dimensions."""
    sizes = ints("convolution", name, value)
    if len(sizes) == 1:
        return sizes * dims
    if len(sizes) != dims:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {dims} values to match the "
                           f"convolution dimensions, but got {name}={[*sizes]}")
    return sizes


def _check_sizes(kernel: tuple[int, ...], stride: Shape, padding: Shape, dilation: Shape,
                 output_padding: tuple[int, ...], groups: int, transposed: bool, shape: Shape,
                 dtype: np.dtype[Any]) -> None:
    for wrong, message, given in (
            (min(padding) < 0, "negative padding is not supported", padding),
            (min(output_padding) < 0, "negative output_padding is not supported", output_padding),
            (min(stride) <= 0, "non-positive stride is not supported", stride),
            (min(dilation) < 0, "dilation should be greater than zero", dilation),
            (groups <= 0, "non-positive groups is not supported", groups)):
        if wrong:
            raise noted(RuntimeError(message), given=str(given))
    if not min(dilation) and dtype == F32 and len(shape) < 5 and shape[0] > 1:     # PyTorch calls oneDNN
        raise noted(RuntimeError("non-positive dilation is not supported"), given=f"the dilation is {[*dilation]}")
    if not min(dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {_sizes('dilation', dilation, transposed)}")
    if not min(kernel):
        sizes = shown(kernel, " x ") + " (TxHxW)" if len(kernel) == 3 else _sizes("kernel", kernel, True, " ")
        raise RuntimeError(f"kernel size should be greater than zero, but got{':' * (len(kernel) == 3)} {sizes}")


def _sizes(what: str, values: tuple[int, ...], named: bool, between: str = ", ") -> str:
    """Sizes as PyTorch's kernels show them. The kernels treat a line as an image of height 1."""
    values = (1, *values) if len(values) == 1 else values
    names = ("depth", "height", "width")[-len(values):]
    return between.join([f"{what}_{name}: {n}" for name, n in zip(names, values)]) if named else str([*values])


def _check_shapes(x: Array, weight: Array, bias: Array | None, padding: Shape, dilation: Shape, transposed: bool,
                  groups: int) -> None:
    shape, sizes = [*weight.shape], [*x.shape]
    if x.ndim != weight.ndim:
        raise noted(
            RuntimeError(f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {shape}, "
                         f"but got {x.ndim}-dimensional input of size {sizes} instead"),
            because="the input has the shape (batch, channels, ...). conv1d, conv2d and conv3d also take (channels, "
                    "...)")
    if shape[0] < groups:
        raise noted(
            RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got "
                         f"weight of size {shape} instead"),
            because="dimension 0 of the weight counts the output channels")
    if shape[0] % groups:
        raise noted(
            RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but "
                         f"got weight of size [{shape}] instead"),
            because="all groups make the same number of channels")
    wanted = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != wanted:
        given = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
        raise noted(
            RuntimeError(f"Given {given}, weight of size {shape}, expected input{sizes} to have {wanted} channels, "
                         f"but got {x.shape[1]} channels instead"), "shapes#channels",
            because="dimension 1 of the input counts the channels")
    channels = shape[1] * groups if transposed else shape[0]
    if bias is not None and bias.shape != (channels,):
        raise RuntimeError(f"Given {'transposed=1, ' if transposed else ''}weight of size {shape}, expected bias to be "
                           f"1-dimensional with {channels} elements, but got bias of size {[*bias.shape]} instead")
    if transposed:
        return
    padded = [n + 2 * p for n, p in zip(x.shape[2:], padding)]
    reach = [d * (k - 1) + 1 for k, d in zip(shape[2:], dilation)]
    if any([n < k for n, k in zip(padded, reach)]):
        raise RuntimeError(f"Calculated padded input size per channel: ({shown(padded, ' x ')}). Kernel size: "
                           f"({shown(reach, ' x ')}). Kernel size can't be greater than actual input size")


def _check_transposed(x: Array, window: Any, output_padding: tuple[int, ...], groups: int) -> None:
    _, stride, padding, dilation = window
    if any([e >= s and e >= d for e, s, d in zip(output_padding, stride, dilation)]):
        pairs = zip(("output_padding", "stride", "dilation"), (output_padding, stride, dilation))
        names = ("depth", "height", "width")[-len(stride):] if len(stride) > 1 else ("height", "width")
        said = " ".join([f"{what}_{name}: {value}" for what, values in pairs
                         for name, value in zip(names, values if len(stride) > 1 else (values[0],) * 2)])
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {said}")
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1
             for n, k, s, p, d, e in zip(x.shape[2:], *window, output_padding)]
    if min(sizes) < 1:
        raise noted(
            RuntimeError(f"Given input size per channel: ({shown(x.shape[2:], ' x ')}). Calculated output size per "
                         f"channel: ({shown(sizes, ' x ')}). Output size is too small"),
            given=f"the padding is {[*padding]}")


def _unlike(what: str, x: Array, other: Array) -> RuntimeError:
    """The error for a weight or a bias of another dtype than x, with the names of types that PyTorch had of old."""
    names = [torch_dtype.of[array.dtype].legacy for array in (x, other)]
    kinds = [f"CPU{name}Type" if "Complex" in name or name == "Bool" else f"torch.{name}Tensor" for name in names]
    return RuntimeError(f"Input type ({kinds[0]}) and {what} type ({kinds[1]}) should be the same" + (
        f" or input should be a MKLDNN tensor and {what} is a dense tensor" if x.dtype == F32 else ""))


def _check_types(x: Any, weight: Array, bias: Any, late: bool) -> None:
    """Raise RuntimeError if the dtypes differ. The words depend on x's dtype, which selects PyTorch's kernel.

    PyTorch looks at the bias late if the convolution is transposed or its padding has a name.
    """
    unlike = None if bias is None or bias.dtype == x.dtype else noted(
        RuntimeError(f"Input type ({C_NAMES[x.dtype.name]}) and bias type ({C_NAMES[bias.dtype.name]}) should be "
                     "the same"), instead="convert one of them")
    if unlike is not None and not late and (x.dtype != F32 or x.dtype == weight.dtype):
        raise unlike
    if x.dtype != weight.dtype:
        if "c" in (x.dtype.kind, weight.dtype.kind) or x.dtype == F32:
            raise _unlike("weight", x, weight)
        names = torch_dtype.of[x.dtype].legacy, torch_dtype.of[weight.dtype].legacy
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
    if unlike is not None:
        raise _unlike("bias", x, bias) if x.dtype == F32 or x.dtype.kind == "c" else unlike


def _check_kernel(x: Array, dilation: Shape, transposed: bool) -> None:
    """Raise NotImplementedError for the integer dtypes and bools for which PyTorch has no kernel."""
    if x.dtype.kind not in "bui" or x.dtype == I64 or not x.size:
        return
    dims = x.ndim - 2
    if transposed:
        kernel = f"slow_conv_transpose{max(2, dims)}d_out_cpu"
    elif max(dilation) > 1:
        kernel = "slow_conv_dilated<>"
    elif x.dtype.kind == "b":
        kernel = "compute_columns3d" if dims == 3 else "slow_conv2d_cpu"
    else:
        return
    raise unimplemented(kernel, x.dtype, "convert with .float() first")


@public("convolution(Tensor input, Tensor weight, Tensor? bias, ints stride, ints padding, ints dilation, "
        "bool transposed, ints output_padding, int groups)", strict=True)
def convolution(input: TensorBase, weight: TensorBase, bias: TensorBase | None, stride: Any, padding: Any,
                dilation: Any, transposed: bool, output_padding: Any, groups: int) -> Any:
    """A convolution of an input (N, C, ...). The weight decides the number of spatial dimensions.

    The weight has the shape (O, C / groups, ...), or (C, O / groups, ...) if `transposed`; the bias (O), the result
    (N, O, ...). Raises RuntimeError if sizes, shapes or dtypes do not fit.
    """
    return _checked(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def _checked(input: TensorBase, weight: TensorBase, bias: TensorBase | None, stride: Shape, padding: Any, dilation: Any,
             transposed: bool, output_padding: Any, groups: int, named: bool = False) -> Any:
    """The convolution, after the checks. A single size stands for all spatial dimensions.

    `named` says that the padding has a name.
    """
    x, w, b = input._array, weight._array, None if bias is None else bias._array
    dims = w.ndim - 2
    if dims < 1:
        raise RuntimeError("weight should have at least three dimensions")
    window = (w.shape[2:], _each("stride", stride, dims), _each("padding", padding, dims),
              _each("dilation", dilation, dims))
    output_padding = _each("output_padding", output_padding, dims)
    _check_sizes(*window, output_padding, groups, transposed, x.shape, x.dtype)
    _check_shapes(x, w, b, window[2], window[3], transposed, groups)
    _check_types(x, w, b, transposed or named)
    _check_kernel(x, window[3], transposed)
    if x.size == 0 and x.shape[0] and x.shape[1]:
        raise RuntimeError("Only zero batch or zero channel inputs are supported, but got input shape: "
                           f"{[*x.shape]}")
    if transposed:
        _check_transposed(x, window, output_padding, groups)
    return _convolution(input, weight, bias, *window[1:], transposed, output_padding, groups)


def _batched(name: str, input: TensorBase, dims: int, call: Callable[[Any], Any]) -> Any:
    """The result of `call` for an input with or without a batch dimension."""
    ndim = input._array.ndim
    if ndim == dims + 1:
        return call(input.unsqueeze(0)).squeeze(0)
    if ndim != dims + 2:
        raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input "
                           f"of size: {[*input._array.shape]}")
    return call(input)


def _same(input: TensorBase, weight: TensorBase, bias: TensorBase | None, stride: Any, dilation: Any, groups: int,
          dims: int) -> Any:
    """A convolution whose result has the size of its input. An odd number of zeros puts one more at the end."""
    kernel = weight._array.shape[2:]
    stride, dilation = _each("stride", stride, dims), _each("dilation", dilation, dims)
    if max(stride) > 1:
        raise noted(
            RuntimeError("padding='same' is not supported for strided convolutions"),
            instead="pass the padding as ints")
    total = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if any([n % 2 for n in total]):
        warn_once("Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of "
                  "the input be created")
        input = constant_pad_nd(input, [size for n in total[::-1] for size in (0, n % 2)])
    return _checked(input, weight, bias, stride, tuple([n // 2 for n in total]), dilation, False, 0, groups, True)


def _forward(dims: int) -> Callable[..., Any]:
    """The function conv1d, conv2d or conv3d."""
    name = f"conv{dims}d"

    @public(*(f"{name}(Tensor input, Tensor weight, Tensor bias=None, ints[{dims}] stride=1, {padding}, ints[{dims}] "
              "dilation=1, int groups=1)" for padding in (f"ints[{dims}] padding=0", "str padding=\"valid\"")),
            name=name,
            doc=f"""A convolution over {dims} dimension{'s' * (dims > 1)} of an input (N, C, ...) or (C, ...).

    The weight has the shape (O, C / groups, ...), the bias (O). `padding` is the number of zeros on each side, "valid"
    for no zeros, or "same" for a result of the input's size. Raises RuntimeError if sizes, shapes or dtypes do not fit.
    """)
    def function(input: TensorBase, weight: TensorBase, bias: TensorBase | None = None, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, groups: int = 1) -> Any:
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise noted(
                RuntimeError(f"Invalid padding string: '{padding}'"), because="A string must be 'same' or 'valid'")

        def call(x: TensorBase) -> Any:
            if padding == "same":
                return _same(x, weight, bias, stride, dilation, groups, dims)
            stride_, padding_ = _each("stride", stride, dims), padding if padding != "valid" else 0
            return _checked(x, weight, bias, stride_, padding_, dilation, False, 0, groups, padding == "valid")

        return _batched(name, input, dims, call)

    return function


def _transposed(dims: int) -> Callable[..., Any]:
    """The function conv_transpose1d, conv_transpose2d or conv_transpose3d."""
    name = f"conv_transpose{dims}d"

    ones, zeros = [1] * dims, [0] * dims

    @public(f"{name}(Tensor input, Tensor weight, Tensor bias=None, ints[{dims}] stride={ones}, ints[{dims}] "
            f"padding={zeros}, ints[{dims}] output_padding={zeros}, int groups=1, ints[{dims}] dilation={ones})",
            name=name, doc=f"""The transpose of conv{dims}d as a linear map, for an input (N, C, ...) or (C, ...).

    The weight has the shape (C, O / groups, ...), the bias (O). With a stride above 1, several sizes of the result are
    possible: `output_padding` is added to the smallest. Raises RuntimeError if sizes, shapes or dtypes do not fit.
    """)
    def function(input: TensorBase, weight: TensorBase, bias: TensorBase | None = None, stride: Any = 1,
                 padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:
        return _batched(name, input, dims, lambda x: _checked(
            x, weight, bias, _each("stride", stride, dims), padding, dilation, True, output_padding, groups))

    return function


conv1d, conv2d, conv3d = _forward(1), _forward(2), _forward(3)
conv_transpose1d, conv_transpose2d, conv_transpose3d = _transposed(1), _transposed(2), _transposed(3)


@public("conv_tbc(Tensor input, Tensor weight, Tensor bias, int pad=0)")
def conv_tbc(input: TensorBase, weight: TensorBase, bias: TensorBase, pad: int = 0) -> Any:
    """A convolution over the first dimension (time) of an input (T, B, C).

    The weight has the shape (kernel, C, O), the bias (O), the result (T', B, O). Raises RuntimeError if the shapes do
    not fit, NotImplementedError for bools.
    """
    x, w, b = input._array, weight._array, bias._array
    if x.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if w.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if b.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if x.shape[2] != w.shape[1]:
        raise noted(
            RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor"),
            because=f"the sizes are {x.shape[2]} and {w.shape[1]}")
    if w.shape[2] != b.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    times = x.shape[0] + 2 * pad - w.shape[0] + 1
    if times < 0:
        raise noted(
            RuntimeError(f"Trying to create tensor with negative dimension {times}: {[times, x.shape[1], w.shape[2]]}"),
            because="the kernel is longer than the input")
    if x.dtype.kind == "b":
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")
    for value in (input, weight, bias):
        refuse_complex_gradient("conv_tbc", value)
    return _conv_tbc(input, weight, bias, pad)
