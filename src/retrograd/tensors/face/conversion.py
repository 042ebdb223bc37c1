"""Conversion to another element type or device: `to` and its shorthands, predicates of types, type promotion."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from ...devices import checked, device as Device
from ...dtypes import (
    ALL,
    bool_,
    category,
    complex64,
    complex128,
    dtype as torch_dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    promote_types as promoted,
    result_dtype,
    uint8,
)
from ...errors import warn
from ...ops import basic as ops
from ..arguments.options import (
    check_tensor,
    element_type,
    layout as Layout,
    lies_in,
    number,
    order_in,
    strided,
)
from ..recording.calls import recorded
from ..recording.public import methods, public, public_property
from ..state.base import TensorBase

_cast = recorded(ops.cast)
_clone = recorded(ops.clone)
_BUILTIN = (bool, int, float, complex)
_BY_LEGACY_NAME = {f"torch.{d.legacy}Tensor": d for d in ALL}


@public(event="aten::to", method=True)
def to(self: TensorBase, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
       copy: bool = False, memory_format: Any = None) -> TensorBase:
    """The tensor in another type or on another device: `to(dtype)`, `to(device, dtype)` or `to(other)`.

    If nothing changes, it returns the tensor itself, unless `copy` is set. Gradients are converted back.
    """
    if len(args) == 1 and type(args[0]) is torch_dtype:
        dtype = args[0]
    elif args:
        dtype, device, non_blocking, copy = _positional(args, dtype, device, non_blocking, copy)
    if device is not None:
        checked(device)
    target = self._array.dtype if dtype is None else element_type("to", dtype)
    order = order_in("to", memory_format, self._array, "K")
    if target is self._array.dtype and not copy and (order == "K" or lies_in(memory_format, self._array)):
        return self
    if self._array.dtype.kind == "c" and target.kind not in "cb":
        warn("Casting complex values to real discards the imaginary part. Use .real to avoid the warning.", UserWarning)
    result: TensorBase = _cast(self, target)
    if order != "K" and not lies_in(memory_format, result._array):
        result = _clone(result, order)
    return result


def _positional(args: tuple[Any, ...], dtype: Any, device: Any, *flags: bool) -> tuple[Any, ...]:
    """The positional arguments of `to`: (dtype | other | device [, dtype]), then non_blocking and copy."""
    first, rest = args[0], args[1:]
    if isinstance(first, TensorBase):
        dtype, device = torch_dtype.of[first._array.dtype], None
    elif type(first) is torch_dtype or first in _BUILTIN:
        dtype = first
    elif first is None or isinstance(first, (str, Device, int)):
        device = first
        if rest and not isinstance(rest[0], bool):
            dtype, rest = rest[0], rest[1:]
    else:
        kinds = ", ".join(type(arg).__name__ for arg in args)
        raise TypeError(f"to() received an invalid combination of arguments - got ({kinds}), but expected one of: "
                        "(dtype), (device, dtype), (other)")
    return dtype, device, *rest, *flags[len(rest):]


def _shorthand(target: torch_dtype, name: str) -> Callable[..., Any]:
    @public(name=name, doc=f"The tensor as {target!r}; the tensor itself if it has that type.")
    def convert(self: TensorBase, memory_format: Any = None) -> TensorBase:
        return to(self, target, memory_format=memory_format)

    return convert


@public(name="type")
def type_(self: TensorBase, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, such as 'torch.FloatTensor'. With `dtype`, or such a name, the same as `to`."""
    if dtype is None:
        return f"torch.{self.dtype.legacy}Tensor"
    target = _BY_LEGACY_NAME.get(dtype, dtype) if isinstance(dtype, str) else getattr(dtype, "of_type", dtype)
    if type(target) is not torch_dtype:
        name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", type(dtype).__name__)
        raise ValueError(f"invalid type: '{name}'")
    return to(self, target)


@public(method=True)
def type_as(self: TensorBase, other: TensorBase) -> TensorBase:
    """The tensor in the type of `other`."""
    check_tensor("type_as", other, "other")
    return to(self, other.dtype)


@public(method=True)
def cpu(self: TensorBase, memory_format: Any = None) -> TensorBase:
    """The tensor itself, since it is on the CPU."""
    return self


@public(method=True)
def cuda(self: TensorBase, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> TensorBase:
    """Raises AssertionError, like PyTorch without CUDA."""
    checked("cuda" if device is None else device)
    return self


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, TensorBase)


@public(method=True)
def is_floating_point(input: TensorBase) -> bool:
    """Whether the elements are floating-point numbers."""
    check_tensor("is_floating_point", input)
    return bool(input._array.dtype.kind == "f")


@public(method=True)
def is_complex(input: TensorBase) -> bool:
    """Whether the elements are complex numbers."""
    check_tensor("is_complex", input)
    return bool(input._array.dtype.kind == "c")


@public(method=True)
def is_signed(input: TensorBase) -> bool:
    """Whether the element type has negative numbers."""
    check_tensor("is_signed", input)
    return bool(input._array.dtype.kind not in "ub")


@public()
def is_nonzero(input: TensorBase) -> bool:
    """Whether the single element is not zero. Raises RuntimeError for any other number of elements."""
    check_tensor("is_nonzero", input)
    return bool(input)


@public()
def result_type(tensor1: Any, tensor2: Any) -> torch_dtype:
    """The result type of an elementwise operation on two tensors or numbers.

    >>> import retrograd as torch
    >>> torch.result_type(torch.arange(2), 1.0)
    torch.float32
    """
    tensors, scalars = [], []
    for position, value in enumerate((tensor1, tensor2), 1):
        if isinstance(value, TensorBase):
            tensors.append((value._array.dtype, value._array.ndim > 0))
        else:
            if not isinstance(value, Number):
                raise TypeError("result_type() received an invalid combination of arguments - argument "
                                f"'tensor{position}' must be Tensor or Number, not {type(value).__name__}")
            scalars.append(number("result_type", f"tensor{position}", position, value))
    return torch_dtype.of[result_dtype(tensors, scalars)]


@public()
def promote_types(type1: torch_dtype, type2: torch_dtype) -> torch_dtype:
    """The smallest type that holds the numbers of both types. An integer type never widens a float type."""
    _check_dtypes("promote_types", type1=type1, type2=type2)
    return torch_dtype.of[promoted(type1.dtype, type2.dtype)]


@public()
def can_cast(from_: torch_dtype, to: torch_dtype) -> bool:
    """Whether an in-place operation may write `from_` to `to`: the category of `from_` must not be higher."""
    _check_dtypes("can_cast", from_=from_, to=to)
    return category(from_.dtype) <= category(to.dtype)


def _check_dtypes(name: str, **values: Any) -> None:
    for position, (argument, value) in enumerate(values.items(), 1):
        if type(value) is not torch_dtype:
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be torch.dtype, not "
                            f"{type(value).__name__}")


def _true(self: TensorBase) -> bool:
    """True: every tensor is on the CPU."""
    return True


def _false(self: TensorBase) -> bool:
    """False: every tensor is strided, on the CPU, and holds plain numbers."""
    return False


def _layout(self: TensorBase) -> Layout:
    """The layout in memory: `torch.strided`."""
    return strided


def _itemsize(self: TensorBase) -> int:
    """The number of bytes of an element."""
    return self._array.itemsize


def _nbytes(self: TensorBase) -> int:
    """The number of bytes of all elements."""
    return self._array.nbytes


@public(method=True)
def get_device(self: TensorBase) -> int:
    """The number of the device: -1 for the CPU."""
    return -1


methods(
    type_, half=_shorthand(float16, 'half'), float=_shorthand(float32, 'float'), double=_shorthand(float64, 'double'),
    cfloat=_shorthand(complex64, 'cfloat'), cdouble=_shorthand(complex128, 'cdouble'), char=_shorthand(int8, 'char'),
    short=_shorthand(int16, 'short'), int=_shorthand(int32, 'int'), long=_shorthand(int64, 'long'),
    byte=_shorthand(uint8, 'byte'), bool=_shorthand(bool_, 'bool'), is_cpu=public_property(_true),
    is_cuda=public_property(_false), is_mps=public_property(_false), is_meta=public_property(_false),
    is_sparse=public_property(_false), is_quantized=public_property(_false), layout=public_property(_layout),
    itemsize=public_property(_itemsize), nbytes=public_property(_nbytes))
