"""Conversion to another element type or device: `to` and its shorthands; type promotion; and kinds of tensors.

Programs branch on the kinds, also on kinds that only PyTorch has. Here those answers are fixed: tensors are dense,
strided, on the CPU, in memory of one process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Number
from types import FunctionType
from typing import Any

from ...foundations import dtypes
from ...foundations.devices import DeviceLike, Meta, checked, device as Device, on_meta
from ...foundations.dtypes import dtype as torch_dtype, letter
from ...foundations.errors import kind_of, noted, warn_of_discarded_part
from ...foundations.names import public as public_name
from ...kernels.layout import channels_last
from ...ops import basic as ops
from ..arguments.options import check_tensor, element_type, layout as Layout, number, order_in, strided
from ..recording.calls import recorded
from ..recording.public import methods, public, public_property
from ..state.base import TensorBase
from .layout import data_ptr
from .legacy import BY_NAME

_cast = recorded(ops.cast)
_cast_in = recorded(ops.cast_in)
_PACKAGE = __name__.partition(".")[0] + "."
_BUILTIN = (bool, int, float, complex)


# The ways to call `to`.
WAYS_TO_CONVERT = tuple([
    f"to(Tensor input, {first}bool non_blocking=False, bool copy=False, *, memory_format? memory_format=None)"
    for first in ("device? device=None, dtype? dtype=None, ", "dtype dtype, ", "Tensor tensor, ")])


@public(*WAYS_TO_CONVERT, event="aten::to", method=True, bound=True)
def to(self: TensorBase, *args: Any, dtype: torch_dtype | None = None, device: Any = None, non_blocking: bool = False,
       copy: bool = False, memory_format: Any = None) -> TensorBase:
    """The tensor in another type or on another device: `to(dtype)`, `to(device, dtype)` or `to(other)`.

    If nothing changes, it returns the tensor itself, unless `copy` is set. Gradients are converted back.
    """
    if len(args) == 1 and type(args[0]) is torch_dtype:
        dtype = args[0]
    elif args:
        dtype, device, non_blocking, copy = positional(args, dtype, device, non_blocking, copy)
    if device is not None:
        if on_meta(device):
            return Meta.tools().moved(self, dtype, copy, memory_format)  # type: ignore[no-any-return]
        checked(device)
    target = self._array.dtype if dtype is None else element_type("to", dtype)
    order = order_in("to", memory_format, self._array, "K")
    # Every other layout than channels last counts as row by row, as in PyTorch.
    if target is self._array.dtype and not copy and (order == "K" or (order != "C") == channels_last(self._array)):
        return self
    warn_of_discarded_part(self._array.dtype, target)
    result: TensorBase = _cast(self, target) if order == "K" else _cast_in(self, target, order)
    return result


def positional(args: tuple[Any, ...], dtype: Any, device: DeviceLike | None, *flags: bool) -> tuple[Any, ...]:
    """The positional arguments of `to`: (dtype | other | device [, dtype]), then non_blocking and copy."""
    first, rest = args[0], args[1:]
    if isinstance(first, TensorBase):
        dtype, device = torch_dtype.of[first._array.dtype], first.device
    elif type(first) is torch_dtype or first in _BUILTIN:
        dtype = first
    elif first is None or isinstance(first, (str, Device, int)):
        device = first
        if rest and not isinstance(rest[0], bool):
            dtype, rest = rest[0], rest[1:]
    else:
        raise TypeError(f"to(): the first argument must be a dtype, a device or a tensor, not {kind_of(first)}")
    return dtype, device, *rest, *flags[len(rest):]


def _shorthand(target: torch_dtype, name: str) -> Callable[..., Any]:
    @public(name=name, doc=f"The tensor as {target!r}; the tensor itself if it has that type.")
    def convert(self: TensorBase, memory_format: Any = None) -> TensorBase:
        if self._array.dtype is target.dtype and memory_format is None:
            return self
        return to(self, target, memory_format=memory_format)

    return convert


@public(name="type")
def type_(self: TensorBase, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of the tensor's type, such as 'torch.FloatTensor'. With `dtype`, or such a name, the same as `to`."""
    if dtype is None:
        return f"torch.{self.dtype.legacy}Tensor"
    target = BY_NAME.get(dtype, dtype) if isinstance(dtype, str) else getattr(dtype, "of_type", dtype)
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
    """The tensor itself, since it is on the CPU; in another memory format, a copy."""
    return self if memory_format is None else to(self, memory_format=memory_format)


@public(method=True)
def cuda(self: TensorBase, device: DeviceLike | None = None, non_blocking: bool = False,
         memory_format: Any = None) -> TensorBase:
    """Raises AssertionError, like PyTorch without CUDA, and RuntimeError for a device of another kind."""
    _refuse("cuda", device)
    return self


def _refuse(kind: str, place: DeviceLike | None) -> None:
    """Raise the error for a device of this kind, or for one of another kind."""
    if place is not None and Device(place).type != kind:
        raise RuntimeError(f"Invalid device, must be {'MTIA' if kind == 'mtia' else kind} device")
    checked(kind if place is None else place)


def _refusing(kind: str, doc: str) -> Any:
    @public(method=True, name=kind, doc=doc)
    def method(self: TensorBase, device: DeviceLike | None = None, non_blocking: bool = False,
               memory_format: Any = None) -> TensorBase:
        _refuse(kind, device)
        return self

    return method


ipu = _refusing("ipu", "Raises RuntimeError, like PyTorch without Graphcore's devices.")
xpu = _refusing("xpu", "Raises AssertionError, like PyTorch without Intel's GPUs.")
mtia = _refusing("mtia", "Raises AssertionError, like PyTorch without Meta's accelerators.")


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, TensorBase)


@public("is_floating_point(Tensor input) -> bool", method=True)
def is_floating_point(input: TensorBase) -> bool:
    """Whether the elements are floating-point numbers."""
    return letter(input._array.dtype) == "f"


@public("is_complex(Tensor input) -> bool", method=True)
def is_complex(input: TensorBase) -> bool:
    """Whether the elements are complex numbers."""
    return bool(input._array.dtype.kind == "c")


@public("is_signed(Tensor input) -> bool", method=True)
def is_signed(input: TensorBase) -> bool:
    """Whether the element type has negative numbers."""
    return torch_dtype.of[input._array.dtype].is_signed


@public("is_nonzero(Tensor input) -> bool", strict=True)
def is_nonzero(input: TensorBase) -> bool:
    """Whether the single element is not zero. Raises RuntimeError for any other number of elements."""
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
    return torch_dtype.of[dtypes.result_dtype(tensors, scalars)]


@public("promote_types(dtype type1, dtype type2) -> dtype", strict=True)
def promote_types(type1: torch_dtype, type2: torch_dtype) -> torch_dtype:
    """The smallest type that holds the numbers of both types. An integer type never widens a float type."""
    if dtypes.complex32 in (type1, type2):                 # which has no numbers here, but a place among the types
        other = type2 if type1 is dtypes.complex32 else type1
        if other in (dtypes.complex32, dtypes.float16) or other.category < dtypes.FLOATING:
            return dtypes.complex32
        type1, type2 = dtypes.complex64, other
    return torch_dtype.of[dtypes.promote_types(*[element_type("promote_types", kind) for kind in (type1, type2)])]


@public("can_cast(dtype from_, dtype to) -> bool", strict=True)
def can_cast(from_: torch_dtype, to: torch_dtype) -> bool:
    """Whether an in-place operation may write `from_` to `to`: the category of `from_` must not be higher."""
    lower, higher = (kind.category if isinstance(kind, torch_dtype) else dtypes.category(element_type("can_cast", kind))
                     for kind in (from_, to))
    return lower <= higher


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


@public("get_device(Tensor input) -> int", strict=True, method=True)
def get_device(input: TensorBase) -> int:
    """The number of the device: -1 for the CPU."""
    return -1


def _function_name(function: FunctionType) -> str:
    """The name of a function of the package, as of PyTorch's function: most are those of a class in C."""
    name, package = function.__name__, sys.modules[_PACKAGE.removesuffix(".")]
    if f"{_PACKAGE}nn.functional." in function.__module__:
        return f"torch.nn.functional.{name}"
    if vars(package).get(name) is function:
        return f"torch._VariableFunctionsClass.{name}"
    return f"{public_name(function.__module__)}.{function.__qualname__}"


@public()
def typename(obj: Any, /) -> str:
    """The name of a type: for a tensor, that of `type()`; for a class, a function or an instance, the dotted name.

    >>> import retrograd as torch
    >>> torch.typename(torch.ones(2)), torch.typename(torch.nn.functional.relu), torch.typename(3)
    ('torch.FloatTensor', 'torch.nn.functional.relu', 'int')
    """
    if isinstance(obj, TensorBase):
        return str(obj.type())
    if isinstance(obj, FunctionType) and f"{obj.__module__}.".startswith(_PACKAGE):
        return _function_name(obj)
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or "builtins"
    return named.__qualname__ if module == "builtins" else f"{public_name(module)}.{named.__qualname__}"


@public("is_inference(Tensor input) -> bool", strict=True)
def is_inference(input: TensorBase) -> bool:
    """Whether the tensor was made under `inference_mode`."""
    return input.is_inference()  # type: ignore[no-any-return]


@public("is_distributed(Tensor input) -> bool", strict=True, method=True)
def is_distributed(input: TensorBase) -> bool:
    """Whether parts of the tensor are in other processes: False."""
    return False


def _none(self: TensorBase) -> None:
    """None: tensors have no names."""


def _identity(self: TensorBase) -> int:
    """A number of this tensor alone, while the tensor exists."""
    return id(self)


@public(method=True)
def is_pinned(self: TensorBase, device: DeviceLike | None = None) -> bool:
    """Whether its memory is pinned for a GPU: False."""
    return False


@public(method=True)
def pin_memory(self: TensorBase, device: DeviceLike | None = None) -> TensorBase:
    """Raises RuntimeError, since there is no GPU to pin memory for."""
    raise noted(
        RuntimeError("Cannot access accelerator device when none is available."), because="memory is pinned for a GPU")


@public(method=True)
def to_dense(self: TensorBase, dtype: torch_dtype | None = None, *, masked_grad: bool | None = None) -> TensorBase:
    """The tensor itself, since it is dense; or a conversion to `dtype`, if that is given."""
    return self if dtype is None else to(self, dtype)


_SHORTHANDS = {
    "bfloat16": dtypes.bfloat16, "half": dtypes.float16, "float": dtypes.float32, "double": dtypes.float64,
    "chalf": dtypes.complex32, "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128, "char": dtypes.int8, "short": dtypes.int16, "int": dtypes.int32,
    "long": dtypes.int64, "byte": dtypes.uint8, "bool": dtypes.bool_}
_OTHERS = ("cuda", "mps", "meta", "sparse", "quantized", "nested", "sparse_csr", "mkldnn", "vulkan", "ipu", "maia",
           "mtia", "xla", "xpu")
methods(
    type_, **{name: _shorthand(target, name) for name, target in _SHORTHANDS.items()},
    is_cpu=public_property(_true), **{f"is_{name}": public_property(_false) for name in _OTHERS},
    name=public_property(_none), layout=public_property(_layout), itemsize=public_property(_itemsize),
    nbytes=public_property(_nbytes), const_data_ptr=data_ptr, _cdata=public_property(_identity))
