"""From a program's data (numbers, nested sequences, arrays, tensors) to an array of PyTorch's type and shape."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import reduce
from itertools import chain
from operator import index
from types import MappingProxyType
from typing import Any

import numpy as np

from ...foundations.dtypes import (
    BOOL_,
    I64,
    NARROW,
    UNSIGNED,
    Array,
    default_complex,
    default_floating,
    dtype as torch_dtype,
    letter,
    of_scalar,
    promote_types,
)
from ...foundations.errors import kind_of, noted, warn_of_discarded_part
from ...foundations.modes import local
from ...foundations.scalars import beyond_64_bits, check_double, overflows
from ...kernels.rounding import before_rounding
from ...ops.basic import cast
from ..state.base import TensorBase, numbers_in

_UNSIGNED = {kind.name: kind for kind in UNSIGNED}
_SUPPORTED = ("The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, "
              "int8, uint64, uint32, uint16, uint8, and bool.")
_NUMBERS = (bool, int, float, complex)
_PLAIN = frozenset(_NUMBERS)
_MOST_DIMS = 128
# These have `__getitem__`, and are no sequences here.
_NOT_NESTED = (TensorBase, str, bytes, dict, MappingProxyType, np.generic, np.dtype)


def new_array(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """A new array of `data`, in `dtype` or in the type that PyTorch finds for it.

    Python floats get the default type, and ints get int64. NumPy values and tensors keep their type. A ragged sequence
    raises ValueError, and an element that is no number raises TypeError or RuntimeError, with PyTorch's messages.
    """
    kind = type(data)
    if kind is list or kind is tuple:
        return _of_sequence(data, dtype)
    if kind is float or kind is int or kind is bool or kind is complex:
        return _of_numbers([data], {kind}, dtype).reshape(())
    if isinstance(data, TensorBase):
        if dtype is not None:
            warn_of_discarded_part(data._array.dtype, dtype)
        return cast.run(data._array, data._array.dtype if dtype is None else dtype)  # type: ignore[no-any-return]
    if isinstance(data, np.ndarray) or (dtype is None and _is_of_numpy(kind)) or is_foreign(kind):
        return _copied(checked_array(np.asarray(data)), dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{kind_of(data)}'")
    return _of_sequence(data, dtype) if is_sequence(data) else _one_by_one(data, dtype)


def is_foreign(kind: type) -> bool:
    """Whether a class is PyTorch's own Tensor, or is derived from it."""
    return not issubclass(kind, TensorBase) and any([
        base.__module__ == "torch" and base.__name__ == "Tensor" for base in kind.__mro__])


def checked_array(array: Array) -> Array:
    """The array, if a tensor can share its memory. Otherwise raises TypeError or ValueError with PyTorch's message."""
    for stride in array.strides:
        if stride % (array.itemsize or 1):
            raise ValueError("given numpy array strides not a multiple of the element byte size. Copy the numpy array "
                             "to reallocate the memory.")
    known = _supported(array.dtype)
    for stride in array.strides:
        if stride < 0:
            raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative "
                             "strides are not currently supported. (You can probably work around this by making a copy "
                             "of your array  with array.copy().) ")
    # Equal dtypes may be different objects, and the code here compares dtypes by identity.
    return array if array.dtype is known else array.view(known)


def _supported(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A type of NumPy as the type of tensors. Raises TypeError or ValueError for a type that no tensor has."""
    if dtype not in torch_dtype.of and dtype.name in _UNSIGNED and dtype.isnative:
        dtype = _UNSIGNED[dtype.name].dtype
    if dtype not in torch_dtype.of or dtype in NARROW:
        if dtype not in NARROW and dtype.newbyteorder("=") in torch_dtype.of:
            raise ValueError("given numpy array has byte order different from the native byte order. Conversion "
                             "between byte orders is currently not supported.")
        raise TypeError(f"can't convert np.ndarray of type {dtype.type.__module__}.{dtype.type.__name__}. "
                        f"{_SUPPORTED}")
    return torch_dtype.of[dtype].dtype


def _copied(array: Array, dtype: np.dtype[Any] | None) -> Array:
    run = local.thread.quietly
    if dtype is not None and array.dtype.kind == "c" and dtype.kind not in "cb":
        warn_of_discarded_part(array.dtype, dtype)
        array = array.real
    if dtype is not None:
        array = run(before_rounding, array, dtype)
    copy: Array = run(np.array, array, array.dtype if dtype is None else dtype, order="K", copy=True)
    return copy


def is_sequence(value: Any) -> bool:
    """Whether a value is a level of nesting. Within a sequence, a tensor counts as a number, an array as a sequence."""
    kind = type(value)
    return kind is list or kind is tuple or (
        not isinstance(value, _NOT_NESTED) and any(["__getitem__" in vars(base) for base in kind.__mro__]))


def is_sequence_or_text(value: Any) -> bool:
    """Whether C code calls a value a sequence."""
    return isinstance(value, (str, bytes)) or is_sequence(value)


def index_array(data: Any) -> Array:
    """A sequence that stands in `x[…]` as an array: of bool or uint8 if all items are, otherwise of int64."""
    if is_sequence(data):
        with suppress(_Unusual, ValueError):
            array = _level_by_level(data, None)
            if array.dtype is I64 or array.dtype is BOOL_:
                return array
    kind = _inferred(data)
    return new_array(data, kind if kind is BOOL_ or kind == np.uint8 else I64)


def _of_sequence(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """An array of nested sequences. What is unusual, or wrong, is read number by number."""
    try:
        return _level_by_level(data, dtype)
    except _Unusual:
        return _one_by_one(data, dtype)


class _Unusual(Exception):
    """A sequence is ragged, or has an element that is no number of Python."""


def _level_by_level(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """An array of nested sequences of Python's numbers, or of arrays of one shape."""
    shape = [len(data)]
    flat: Any = data
    while flat and not isinstance(flat[0], _NUMBERS) and is_sequence(flat[0]):
        if all(isinstance(item, np.ndarray) for item in flat) and len({(i.shape, i.dtype) for i in flat}) == 1 and (
                flat[0].size and flat[0].ndim and _takes(dtype, flat[0].dtype)):
            return _of_arrays(flat, shape, dtype)
        if any([isinstance(item, np.ndarray) and not item.ndim for item in flat]):
            raise _Unusual
        if len(shape) > _MOST_DIMS:                         # such as a list that holds itself
            raise _Unusual
        length = len(flat[0])
        shape.append(length)
        if any([not is_sequence(item) or len(item) != length or not (length or type(item) is list) for item in flat]):
            raise _Unusual
        flat = [*chain.from_iterable(flat)] if length else ()
    if not len(flat):
        return np.empty(shape, default_floating() if dtype is None else dtype)
    kinds = set(map(type, flat))
    if dtype is None and len(kinds) == 1 and _is_of_numpy(type(flat[0])):
        array = np.array(flat, _supported(flat[0].dtype))
    elif kinds <= _PLAIN:
        array = _of_numbers(flat, kinds, dtype)
    elif all([isinstance(item, TensorBase) for item in flat]) and len({x._array.dtype for x in flat}) == 1 and (
            (dtype is None or dtype == flat[0]._array.dtype) and not any([x._array.shape for x in flat])):
        array = _as_array([numbers_in(item) for item in flat], flat[0]._array.dtype)
    else:
        raise _Unusual
    return array if len(shape) == 1 else array.reshape(shape)


def _takes(dtype: np.dtype[Any] | None, other: np.dtype[Any]) -> bool:
    """Whether a type holds all kinds of numbers of another one. None stands for the other type itself.

    For NumPy, None is equal to float64, so `dtype in (None, ...)` is no such question.
    """
    return dtype is None or dtype == other or dtype.kind == "c" or (letter(dtype) == "f" and other.kind in "biuf")


def _is_of_numpy(kind: type) -> bool:
    """Whether a class is a type of NumPy's numbers that PyTorch takes as they are."""
    return issubclass(kind, (np.number, np.bool_)) and kind is not np.uint64 and kind is not np.longdouble


def _one_by_one(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """An array of data that PyTorch reads in this order: the sizes of the first items, all types, all numbers.

    So the error is about the first item that PyTorch refuses.
    """
    shape = _sizes(data)
    target = _inferred(data) if dtype is None else dtype
    if 0 in shape:
        return np.empty(shape, target)
    flat: list[Any] = []

    def read(item: Any, dim: int) -> None:
        if dim == len(shape):
            flat.append(_number(item, target))
            return
        try:
            parts = [*item]
        except TypeError:
            raise noted(TypeError("not a sequence"),
                        because=f"{item!r} stands among sequences of length {shape[dim]}, at dim {dim}") from None
        if len(parts) != shape[dim]:
            raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(parts)})")
        if dim + 1 == len(shape):
            flat.extend([_number(part, target) for part in parts])
            return
        for part in parts:
            read(part, dim + 1)

    read(data, 0)
    return _as_array(flat, target).reshape(shape)


def _sizes(data: Any) -> list[int]:
    """The length of a sequence, of its first item, of the first item of that, and so on."""
    shape: list[int] = []
    while is_sequence(data) or isinstance(data, (str, bytes)):
        if isinstance(data, np.ndarray) and not data.ndim:
            raise noted(
                TypeError("len() of unsized object"),
                because="a sequence holds arrays without dimensions; call .item() on them")
        shape.append(len(data))
        if len(shape) > _MOST_DIMS:
            raise ValueError(f"too many dimensions '{kind_of(data)}'")
        if not shape[-1]:
            break
        data = data[0]
    return shape


def _inferred(item: Any) -> np.dtype[Any]:
    """The type that holds all numbers of an item. Raises TypeError or RuntimeError for an item that is no number."""
    if isinstance(item, (np.ndarray, np.generic)):
        if isinstance(item, np.str_):
            raise TypeError(f"new(): invalid data type '{kind_of(item)}'")
        return _supported(item.dtype.newbyteorder("="))
    if isinstance(item, _NUMBERS):
        return of_scalar(item)
    if isinstance(item, TensorBase):
        dtype: np.dtype[Any] = item._array.dtype
        return dtype
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{kind_of(item)}'")
    if not is_sequence(item):
        raise RuntimeError(f"Could not infer dtype of {kind_of(item)}")
    return reduce(promote_types, dict.fromkeys(map(_inferred, item))) if len(item) else default_floating()


def _of_arrays(arrays: Sequence[Array], shape: list[int], dtype: np.dtype[Any] | None) -> Array:
    """An array of a sequence of arrays of one shape. PyTorch reads them number by number, with the same result."""
    stacked = _copied(checked_array(np.stack(arrays)), dtype)
    return stacked.reshape(*shape, *arrays[0].shape)


def _of_numbers(flat: Sequence[Any], kinds: set[Any], dtype: np.dtype[Any] | None) -> Array:
    """A one-dimensional array of Python's numbers. `kinds` holds their types."""
    if dtype is not None:
        target = dtype
    elif complex in kinds:
        target = default_complex()
    else:
        target = default_floating() if float in kinds else I64 if int in kinds else BOOL_
    if (target.kind in "iu" and (float in kinds or target is not I64)) or (complex in kinds and target.kind != "c"):
        return _as_array([_number(item, target) for item in flat], target)
    return _as_array(flat, target)


def _as_array(flat: Sequence[Any], target: np.dtype[Any]) -> Array:
    """A one-dimensional array of numbers of Python or NumPy, which fit."""
    if target in NARROW:
        return _copied(np.array(flat, np.float64), target)
    try:
        array: Array = local.thread.quietly(np.array, flat, target)
    except (TypeError, ValueError, OverflowError):
        flat = [_number(item, target) for item in flat]
        array = np.array(flat, np.int64 if target.kind in "iu" and target.itemsize < 8 else target).astype(target)
    return array


def _number(item: Any, target: np.dtype[Any]) -> Any:
    """An item of a sequence as a number that fits. Raises PyTorch's error for an item that is none."""
    if isinstance(item, TensorBase):
        item = _of_tensor(item, target)
    if type(item) is float and target.kind == "f":
        return item
    if target == np.uint64:
        return _unsigned(item)
    if target.kind == "b" and isinstance(item, np.bool_):
        return bool(item)
    if letter(target) not in "fc":
        return _integer(item, target)
    if isinstance(item, np.generic) and item.dtype.kind in "biufc":
        item = item.item() if item.dtype.kind != "c" or target.kind == "c" else float(item.real)
    if isinstance(item, complex) and target.kind != "c":
        raise TypeError("must be real number, not complex")
    if isinstance(item, _NUMBERS):
        if isinstance(item, int) and not -2**63 <= item < 2**63:
            float(item)                                     # raises OverflowError for a number that no float holds
        return item
    if hasattr(item, "__float__"):
        return item.__float__()
    if not hasattr(item, "__index__"):
        raise TypeError(f"must be real number, not {kind_of(item)}")
    return float(index(item))


def _integer(item: Any, target: np.dtype[Any]) -> Any:
    """A number for an integer type or bool. A float loses its fraction."""
    if target.kind == "b" and isinstance(item, complex):
        return bool(item)
    if not isinstance(item, (float, int)):
        if not hasattr(item, "__index__"):
            raise TypeError(f"'{kind_of(item)}' object cannot be interpreted as an integer")
        item = index(item)
    if isinstance(item, int) and not -2**63 <= item < 2**63:
        raise beyond_int64(item)
    if target.kind == "b":
        return bool(item)
    if overflows(item, target):
        raise noted(
            RuntimeError(f"value cannot be converted to type {target.name} without overflow"), given=f"{item!r}")
    # -1 is the largest unsigned number.
    return int(np.int64(int(item)).astype(target)) if target.kind == "u" else int(item)


def beyond_int64(number: int) -> ValueError:
    """The error for an int that needs more than 64 bits."""
    return noted(ValueError("Overflow when unpacking long long"), because=f"{number} has more than 64 bits")


def _of_tensor(tensor: TensorBase, target: np.dtype[Any]) -> Any:
    """The number of a tensor among the items of a sequence."""
    if tensor._array.size != 1:
        if letter(target) not in "fc":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        raise noted(
            ValueError("only one element tensors can be converted to Python scalars"),
            because=f"a sequence holds a tensor of shape {list(tensor._array.shape)}: join tensors with "
                    "torch.stack() or torch.cat()")
    if tensor._array.dtype is not target:
        kind = letter(tensor._array.dtype)
        if letter(target) not in "fc" and kind in "fc":
            raise TypeError("only integer tensors of a single element can be converted to an index")
    found = numbers_in(tensor.reshape(()) if tensor._array.ndim else tensor)
    if target.kind != "c" and isinstance(found, complex):
        check_double(found)
        return found.real
    return found


def _unsigned(value: Any) -> int:
    """A number as one of 64 bits without sign."""
    if not isinstance(value, int):
        raise TypeError("an integer is required")
    if not 0 <= value < 2**64:
        raise beyond_64_bits(value)
    return value
