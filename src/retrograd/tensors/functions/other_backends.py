"""What PyTorch computes only for tensors of other kinds than those of the CPU, such as quantized tensors.

PyTorch's CPU build has the names and raises NotImplementedError when they are called. So do these functions, with a
note that says what to call instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...foundations.dtypes import F32
from ...foundations.errors import no_kernel
from ...ops.elementwise.arithmetic import dequantize as op
from ..recording.calls import recorded
from ..recording.public import methods, public
from ..state.base import TensorBase

_dequantize = recorded(op)


def unavailable(name: str, advice: str) -> NotImplementedError:
    """PyTorch's error for an operator that the CPU lacks."""
    return no_kernel(f"aten::{name}", "CPU", because=advice[0].lower() + advice[1:].rstrip("."))


def only_elsewhere(schema: str, advice: str, **options: Any) -> Callable[..., Any]:
    """The function of this schema, which compares its arguments with the schema, and refuses arguments that fit."""
    name = schema.partition("(")[0]

    @public(schema, name=name, strict=True, **options,
            doc=f"Raise NotImplementedError: the CPU has no such function, as in PyTorch. {advice}")
    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise unavailable(name, advice)

    return function


def _of_quantized(name: str, result: str) -> Callable[..., Any]:
    return only_elsewhere(f"{name}(Tensor input) -> {result}", "The tensor is not quantized; it holds its numbers.",
                          method=True)


int_repr = _of_quantized("int_repr", "Tensor")
q_scale = _of_quantized("q_scale", "float")
q_zero_point = _of_quantized("q_zero_point", "int")
q_per_channel_axis = _of_quantized("q_per_channel_axis", "int")
q_per_channel_scales = _of_quantized("q_per_channel_scales", "Tensor")
q_per_channel_zero_points = _of_quantized("q_per_channel_zero_points", "Tensor")
qscheme = _of_quantized("qscheme", "Any")
to_padded_tensor = only_elsewhere(
    "to_padded_tensor(Tensor input, float padding, ints? output_size=None)",
    "The tensor is not nested; torch.nn.functional.pad pads it.", method=True)


@public(method=True)
def record_stream(self: TensorBase, s: Any) -> NoReturn:
    """Raise NotImplementedError: the CPU computes in order, and has no streams, as in PyTorch."""
    raise unavailable("record_stream", "The CPU computes in order, so leave the call out.")


@public("dequantize(Tensor input) -> Tensor", "dequantize(Tensors tensors) -> Tensors")
def dequantize(input: TensorBase) -> Any:
    """The numbers as float32: the tensor itself if it is float32. A gradient of other types is refused.

    >>> import retrograd as torch
    >>> torch.tensor([1, 2]).dequantize()
    tensor([1., 2.])
    """
    if not isinstance(input, TensorBase):
        raise unavailable("dequantize.tensors", "The tensors are not quantized; they hold their numbers.")
    return input if input._array.dtype is F32 else _dequantize(input)


@public("dequantize(Tensor input) -> Tensor", name="dequantize")
def _dequantize_method(input: TensorBase) -> Any:
    """The numbers as float32. See `torch.dequantize`."""
    return dequantize(input)


methods(dequantize=_dequantize_method)
