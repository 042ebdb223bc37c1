"""The shared options of functions that make tensors: size, element type, device, layout, whether to require grad.

Usual values pass with a comparison or two. Wrong values get PyTorch's message.
"""

from __future__ import annotations

from operator import index
from typing import Any, TypeVar

import numpy as np

from ...foundations.devices import DeviceLike, checked
from ...foundations.dtypes import (
    BOOL_,
    C128,
    DIFFERENTIABLE,
    F64,
    I64,
    Array,
    Shape,
    default_floating,
    dtype as torch_dtype,
    float16,
    float32,
    float64,
    letter,
    of_scalar,
)
from ...foundations.errors import called, kind_of, noted
from ...foundations.modes import local
from ...foundations.scalars import beyond_64_bits
from ...foundations.sealed import Fixed, Listed
from ...kernels.layout import in_rows, row_by_row, steps
from ...ops.creation import fresh
from ..state.base import TensorBase, mark_inference, meta_of, numbers_in, requires, with_edge
from .dims import not_a_tensor

# Python's own types that PyTorch accepts as element types.
_BUILTIN: dict[Any, Any] = {float: F64, int: I64, bool: BOOL_, complex: C128}


_K = TypeVar("_K", bound="_Named")


class _Named(Fixed):
    """A constant that prints as its name."""

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Named, metaclass=Listed):
    """How a tensor holds its elements: all of them (`strided`), or only some, with their indices (`sparse_coo`, …)."""

    __module__ = "retrograd"                                 # the module under which programs know the class
    __slots__ = ()


class memory_format(_Named, metaclass=Listed):
    """An order of the dimensions in memory.

    `contiguous_format` is row by row, and `preserve_format` is the order of the input. In `channels_last` and
    `channels_last_3d` the second dimension is the fastest.
    """

    __module__ = "retrograd"
    __slots__ = ()


class qscheme(_Named, metaclass=Listed):
    """How a quantized tensor keeps its scales: one for the tensor, or one for each channel. No tensor is quantized."""

    __module__ = "retrograd"
    __slots__ = ()


def _listed(kind: type[_K], *names: str) -> list[_K]:
    """All the objects of a type, by their names."""
    return [type.__call__(kind, name) for name in names]


strided, jagged, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc = _listed(
    layout, "strided", "jagged", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
contiguous_format, preserve_format, channels_last, channels_last_3d = _listed(
    memory_format, "contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
legacy_contiguous_format = contiguous_format
per_tensor_affine, per_channel_affine, per_tensor_symmetric, per_channel_symmetric, per_channel_affine_float_qparams = (
    _listed(qscheme, "per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric",
            "per_channel_affine_float_qparams"))
_CHANNELS_LAST = {"channels_last": 4, "channels_last_3d": 5}


def order_in(name: str, given: memory_format | None, array: Array, otherwise: str) -> Any:
    """The order of a copy of `array`: row by row ("C"), as the array ("K"), or strides; `otherwise` without a format.

    Raises TypeError if `given` is no format, RuntimeError if the format is for another number of dimensions.
    """
    return otherwise if given is None else order_of_shape(name, given, array.shape)


def order_of_shape(name: str, given: memory_format, shape: tuple[int, ...]) -> Any:
    """The order of a tensor of this shape in a memory format: row by row ("C"), as it is ("K"), or strides.

    Raises TypeError if `given` is no format, RuntimeError if the format is for another number of dimensions.
    """
    if not isinstance(given, memory_format):
        raise TypeError(f"{name}(): argument 'memory_format' must be torch.memory_format, not {kind_of(given)}")
    if given is contiguous_format or given is preserve_format:
        return "C" if given is contiguous_format else "K"
    rank = _CHANNELS_LAST[given.name]
    if len(shape) != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {given.name} format")
    by = row_by_row((shape[0], *shape[2:], shape[1]))
    return (by[0], by[-1], *by[1:-1])


def lies_in(given: memory_format, array: Array) -> bool:
    """Whether an array lies in memory as the memory format says."""
    if in_rows(array) and (given is None or given.name not in _CHANNELS_LAST):
        return True
    if given is preserve_format:
        return True
    if given is None or array.ndim != _CHANNELS_LAST.get(given.name):
        return False
    order = order_in("is_contiguous", given, array, "C")
    return all([n == 1 or a == b for n, a, b in zip(array.shape, steps(array), order)])


def shape_of(name: str, sizes: tuple[Any, ...], size: Shape | None = None) -> tuple[int, ...]:
    """The shape given as `2, 3`, as one tuple, or as the keyword `size`. Raises TypeError, or RuntimeError for -1."""
    if not sizes:
        if size is None:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        sizes = (size,)
    elif size is not None:
        raise TypeError(f"{name}() got multiple values for argument 'size'")
    if isinstance(sizes[0], (tuple, list)):
        if len(sizes) > 1:
            raise TypeError(f"{name}() takes 1 positional argument but {len(sizes)} were given")
        sizes = tuple(sizes[0])
        given = True
    else:
        given = False
    for n in sizes:
        if type(n) is not int or n < 0:
            return _checked_shape(name, sizes, given)
    return sizes


def _checked_shape(name: str, sizes: tuple[Any, ...], in_tuple: bool) -> tuple[int, ...]:
    shape = []
    for i, n in enumerate(sizes):
        try:
            if not i and isinstance(n, (bool, np.bool_)):     # PyTorch looks closely only at the first element
                raise TypeError
            shape.append(index(n))
        except TypeError:
            kind = kind_of(n)
            if i:
                raise TypeError(f"{name}(): argument 'size' failed to unpack the object at pos {i + 1} with error \""
                                f'type must be tuple of ints,but got {kind}"') from None
            wrong = f"but found element of type {kind} at pos {i}" if in_tuple else f"not {kind}"
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, {wrong}") from None
    for n in shape:
        if n < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative." if name == "zeros" else
                               f"Trying to create tensor with negative dimension {n}: {shape}")
    return tuple(shape)


def element_type(name: str, dtype: torch_dtype | None) -> np.dtype[Any]:
    """The NumPy dtype of PyTorch's `dtype`; the default float for None. Raises TypeError for any other value."""
    if dtype is None:
        return default_floating()
    if type(dtype) is torch_dtype:
        return dtype.dtype
    try:
        found: np.dtype[Any] = _BUILTIN[dtype]
    except (KeyError, TypeError):
        raise TypeError(f"{name.replace('.', '_')}(): argument 'dtype' must be torch.dtype, "
                        f"not {kind_of(dtype)}") from None
    return found


def made(array: Array, device: DeviceLike | None, requires_grad: bool) -> TensorBase:
    """The new tensor over `array`, after a check that `device` is the CPU."""
    if device is not None:
        checked(device)
    thread = local.thread
    tensor: TensorBase = with_edge(array if thread.transform is None else fresh.run(array), None)
    if thread.inference:
        mark_inference(tensor)
    if requires_grad is not False and asked(requires_grad):
        require_grad(tensor)
    return tensor


def asked(requires_grad: Any) -> bool:
    """The option `requires_grad` of the function that was called. In most functions None stands for False.

    Raises TypeError for any other value that is no bool.
    """
    if requires_grad is True or requires_grad is False:
        return bool(requires_grad)
    name = called()
    if requires_grad is None and name not in _NO_NONE:
        return False
    raise TypeError(f"{name}(): argument 'requires_grad' must be bool, not {kind_of(requires_grad)}")


# The functions that refuse None for `requires_grad`.
_NO_NONE = ("tensor", "new_tensor", "range")


def require_grad(tensor: TensorBase) -> None:
    """Make a new tensor a leaf that requires grad. Raises RuntimeError for a dtype without gradients."""
    if tensor._array.dtype not in DIFFERENTIABLE:
        raise noted(
            RuntimeError("Only Tensors of floating point and complex dtype can require gradients"),
            "tensors#only-floating-point", given=f"torch.{tensor._array.dtype.name}")
    meta_of(tensor).leaf = True


def number(name: str, argument: str, position: int, value: Any, wanted: str = "Number") -> Any:
    """A Python number from a value that PyTorch takes for one, such as a NumPy scalar or a 0-d tensor without grad.

    Raises TypeError for any other value, and OverflowError for an int that needs more than 64 bits. If a "float" is
    wanted, a complex number is another value, and an int of more bits becomes a float.
    """
    kind = type(value)
    if kind is float or kind is bool:
        return value
    if kind is int:
        if -2**63 <= value < 2**64:
            return value
        if wanted == "float":
            return float(value)
        raise beyond_64_bits(value)
    found = value.item() if isinstance(value, np.generic) and letter(value.dtype) in "biufc" else value
    if isinstance(found, (bool, int, float)) or (isinstance(found, complex) and wanted != "float"):
        return found
    if isinstance(value, TensorBase) and value._array.ndim == 0 and not requires(value):
        return numbers_in(value)
    raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be {wanted}, not {kind_of(value)}")


def filled_type(dtype: torch_dtype | None, value: Any) -> np.dtype[Any]:
    """The element type of a tensor filled with a Python number: `dtype`, or if that is None, the number's own."""
    return of_scalar(value) if dtype is None else element_type("full", dtype)


_PARTS = (float16, float32, float64)


def check_real_parts(name: str, first: TensorBase, second: TensorBase, arguments: tuple[str, str]) -> None:
    """Raises PyTorch's error unless both values are floating tensors of one type. `arguments` holds their names."""
    for position, (argument, part) in enumerate(zip(arguments, (first, second)), 1):
        check_tensor(name, part, argument, position)
    a, b = first.dtype, second.dtype
    if a not in _PARTS or b not in _PARTS:
        raise RuntimeError("Expected both inputs to be Half, Float or Double tensors but got "
                           f"{a.legacy} and {b.legacy}")
    if a is not b:
        raise RuntimeError(f"Expected object of scalar type {a.legacy} but got scalar type {b.legacy} for second "
                           "argument")


def refuse_lost_gradient(input: TensorBase, src: TensorBase) -> None:
    """Raises RuntimeError if `src` requires grad and is put into a copy of `input`, which holds integers."""
    if input._array.dtype not in DIFFERENTIABLE and local.thread.grad and requires(src):
        raise noted(RuntimeError(f"Autograd not support dtype: {torch_dtype.of[input._array.dtype].legacy}"),
                    instead="pass src.detach() to treat it as a constant")


def refuse_complex_gradient(name: str, input: Any, *others: Any) -> None:
    """Raises RuntimeError if a function without a derivative for complex numbers would be recorded for them."""
    if isinstance(input, TensorBase) and input._array.dtype.kind == "c" and local.thread.grad and (
            requires(input) or any(map(requires, others))):
        raise noted(
            RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype."),
            "backward#no-complex-derivative")


def check_tensor(name: str, value: TensorBase, argument: str = "input", position: int = 1) -> None:
    """Raises TypeError if `value` is no tensor."""
    if not isinstance(value, TensorBase):
        raise not_a_tensor(name, value, argument, position)


def check_tensors(name: str, **values: Any) -> None:
    """Raises TypeError if one of the values is no tensor. They are the first arguments, in order, with their names."""
    for position, (argument, value) in enumerate(values.items(), 1):
        check_tensor(name, value, argument, position)


def check_flag(name: str, argument: str, position: int, value: Any) -> None:
    """Raises TypeError unless `value` is a bool or a 0-d tensor that stands for a bool."""
    if value is not True and value is not False and not isinstance(value, np.bool_) and (
            not isinstance(value, TensorBase) or value._array.ndim or requires(value)):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be bool, not "
                        f"{kind_of(value)}")


def check_optional(name: str, position: int, **values: Any) -> None:
    """Raises TypeError if one of the values is neither a tensor nor None. `position` is that of the first value."""
    for i, (argument, value) in enumerate(values.items()):
        if value is not None:
            check_tensor(name, value, argument, position + i)
