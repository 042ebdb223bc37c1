"""From a program's data (numbers, nested sequences, arrays, tensors) to an array of PyTorch's type and shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain
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
from ...foundations.errors import noted
from ...foundations.modes import local
from ...kernels.rounding import before_rounding
from ...ops.basic import cast
from ..state.base import TensorBase, numbers_in
from .options import fits

_UNSIGNED = {kind.name: kind for kind in UNSIGNED}
_SUPPORTED = ("The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, "
              "int8, uint64, uint32, uint16, uint8, and bool.")
_NUMBERS = (bool, int, float, complex)
_PLAIN = frozenset(_NUMBERS)


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
        return cast.run(data._array, data._array.dtype if dtype is None else dtype)  # type: ignore[no-any-return]
    if isinstance(data, (np.ndarray, np.generic)) or is_foreign(kind):
        return _copied(checked_array(np.asarray(data)), dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    if _is_sequence(data):
        return _of_sequence(data, dtype)
    return _of_numbers([data], {kind}, dtype).reshape(())


def is_foreign(kind: type) -> bool:
    """Whether a class is PyTorch's own Tensor, or is derived from it."""
    return not issubclass(kind, TensorBase) and any([
        base.__module__ == "torch" and base.__name__ == "Tensor" for base in kind.__mro__])


def checked_array(array: Array) -> Array:
    """The array, if a tensor can share its memory. Otherwise raises TypeError or ValueError with PyTorch's message."""
    dtype = array.dtype
    if dtype not in torch_dtype.of and dtype.name in _UNSIGNED and dtype.isnative:
        dtype = _UNSIGNED[dtype.name].dtype
    if dtype not in torch_dtype.of or dtype in NARROW:
        if dtype not in NARROW and dtype.newbyteorder("=") in torch_dtype.of:
            raise ValueError("given numpy array has byte order different from the native byte order. Conversion "
                             "between byte orders is currently not supported.")
        raise TypeError(f"can't convert np.ndarray of type {dtype.type.__module__}.{dtype.type.__name__}. "
                        f"{_SUPPORTED}")
    for stride in array.strides:
        if stride < 0:
            raise ValueError("At least one stride in the given numpy array is negative, and tensors with negative "
                             "strides are not currently supported. (You can probably work around this by making a copy "
                             "of your array  with array.copy().) ")
    # Equal dtypes may be different objects, and the code here compares dtypes by identity.
    known = torch_dtype.of[dtype].dtype
    return array if dtype is known else array.view(known)


def _copied(array: Array, dtype: np.dtype[Any] | None) -> Array:
    run = local.thread.quiet.run
    if dtype is not None and array.dtype.kind == "c" and dtype.kind != "c":
        array = array.real
    if dtype is not None:
        array = run(before_rounding, array, dtype)
    copy: Array = run(np.array, array, array.dtype if dtype is None else dtype, order="K", copy=True)
    return copy


def _is_sequence(value: Any) -> bool:
    """Whether a value is a level of nesting. Within a sequence, a tensor counts as a number, an array as a sequence."""
    kind = type(value)
    return kind is list or kind is tuple or (
        hasattr(kind, "__len__") and hasattr(kind, "__getitem__") and not hasattr(kind, "keys")
        and not isinstance(value, (TensorBase, str, bytes)))


def _of_sequence(data: Any, dtype: np.dtype[Any] | None) -> Array:
    """An array of nested sequences, read level by level. The first element of a level sets the length of the others."""
    shape = [len(data)]
    flat: Any = data
    while flat and not isinstance(flat[0], _NUMBERS) and _is_sequence(flat[0]):
        if all(isinstance(item, np.ndarray) for item in flat) and len({item.shape for item in flat}) == 1:
            return _of_arrays(flat, shape, dtype)
        length = len(flat[0])
        shape.append(length)
        if length:
            for item in flat:
                _check_length(item, length, len(shape) - 1)
        flat = [*chain.from_iterable(flat)] if length else ()
    if not len(flat):
        return np.empty(shape, default_floating() if dtype is None else dtype)
    kinds = set(map(type, flat))
    array = _of_numbers(flat, kinds, dtype)
    return array if len(shape) == 1 else array.reshape(shape)


def _of_arrays(arrays: Sequence[Array], shape: list[int], dtype: np.dtype[Any] | None) -> Array:
    """An array of a sequence of arrays of one shape. PyTorch reads them number by number, with the same result."""
    if not arrays[0].ndim:
        raise noted(
            TypeError("len() of unsized object"),
            because="a sequence holds arrays without dimensions; call .item() on them")
    stacked = _copied(checked_array(np.stack(arrays)), dtype)
    return stacked.reshape(*shape, *arrays[0].shape)


def _check_length(item: Any, length: int, dim: int) -> None:
    if isinstance(item, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(item).__name__}'")
    if not _is_sequence(item):
        raise noted(
            TypeError("not a sequence"), because=f"{item!r} stands among sequences of length {length}, at dim {dim}")
    if len(item) != length:
        raise ValueError(f"expected sequence of length {length} at dim {dim} (got {len(item)})")


def _of_numbers(flat: Sequence[Any], kinds: set[Any], dtype: np.dtype[Any] | None) -> Array:
    """A one-dimensional array of elements that should be numbers. `kinds` holds their types."""
    if not kinds <= _PLAIN:
        target = _common_type(flat) if dtype is None else dtype
        flat = [_element(item, target) for item in flat]
    elif dtype is not None:
        target = dtype
    elif complex in kinds:
        target = default_complex()
    else:
        target = default_floating() if float in kinds else I64 if int in kinds else BOOL_
    if target.kind in "iu" and (float in kinds or target is not I64):
        return _one_by_one(flat, target)
    try:
        if target in NARROW:
            return _copied(np.array(flat, np.float64), target)
        array: Array = local.thread.quiet.run(np.array, flat, target)
    except (TypeError, ValueError, OverflowError):
        array = _one_by_one(flat, target)
    return array


def _element(item: Any, target: np.dtype[Any]) -> Any:
    """An element of a sequence as a Python number, or as an object that NumPy converts to a number."""
    if isinstance(item, TensorBase):
        if item._array.size != 1:
            raise noted(
                ValueError("only one element tensors can be converted to Python scalars"),
                because=f"a sequence holds a tensor of shape {list(item._array.shape)}: join tensors with "
                        "torch.stack() or torch.cat()")
        if target.kind in "iu" and letter(item._array.dtype) in "fc":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return numbers_in(item.reshape(()) if item._array.ndim else item)
    if isinstance(item, (*_NUMBERS, np.generic)):
        return item
    if isinstance(item, str):
        raise ValueError("too many dimensions 'str'")
    needed = "__float__" if letter(target) in "fc" else "__index__"
    if not hasattr(item, needed):
        raise _not_in(item, target)
    return getattr(item, needed)()


def _not_in(item: Any, target: np.dtype[Any]) -> TypeError:
    kind = type(item).__name__
    if letter(target) in "fc":
        return TypeError(f"must be real number, not {kind}")
    return TypeError(f"'{kind}' object cannot be interpreted as an integer")


def _common_type(flat: Sequence[Any]) -> np.dtype[Any]:
    """The type that holds all of the numbers. Raises TypeError or RuntimeError for an element that is no number."""

    def own(item: Any) -> np.dtype[Any]:
        if isinstance(item, TensorBase):
            dtype: np.dtype[Any] = item._array.dtype
            return dtype
        if isinstance(item, np.generic) and item.dtype in torch_dtype.of:
            return torch_dtype.of[item.dtype].dtype
        if isinstance(item, _NUMBERS):
            return of_scalar(item)
        if isinstance(item, (list, tuple)):
            return BOOL_                        # refused later, when it is converted to a number
        raise _not_a_number(item)

    if isinstance(flat[0], str):
        raise ValueError("too many dimensions 'str'")
    common: np.dtype[Any] = reduce(promote_types, map(own, flat))
    return common


def _not_a_number(item: Any) -> Exception:
    kind = type(item).__name__
    if isinstance(item, (str, bytes)):
        return TypeError(f"new(): invalid data type '{kind}'")
    return RuntimeError(f"Could not infer dtype of {kind}")


def _one_by_one(flat: Sequence[Any], target: np.dtype[Any]) -> Array:
    """Convert number by number, like PyTorch. A value that does not fit raises; -1 is the largest unsigned number."""
    values: list[Any] = []
    for item in flat:
        value = item.item() if isinstance(item, np.generic) else item
        if not isinstance(value, _NUMBERS):
            raise _not_in(value, target)
        if isinstance(value, complex) and target.kind != "c":
            raise TypeError("must be real number, not complex")
        if target == np.uint64:
            values.append(_unsigned(value))
            continue
        if target.kind in "iub" and isinstance(value, int) and not -2**63 <= value < 2**63:
            raise noted(ValueError("Overflow when unpacking long long"), because=f"{value} has more than 64 bits")
        if target.kind in "iu":
            if not fits(value, target):
                raise noted(
                    RuntimeError(f"value cannot be converted to type {target.name} without overflow"),
                    given=f"{value!r}")
            value = int(value.real)
        values.append(value)
    wide = np.dtype(np.int64) if target.kind in "iu" and target.itemsize + (target.kind == "u") < 9 else target
    return np.array(values, wide).astype(target)


def _unsigned(value: Any) -> int:
    """A number as one of 64 bits without sign."""
    if not isinstance(value, int):
        raise TypeError("an integer is required")
    if not 0 <= value < 2**64:
        raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")
    return value
