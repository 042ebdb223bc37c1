"""What may stand in `x[…]`: a key as a tuple, and each of its items as an int, a bool, a slice or an index array."""

from __future__ import annotations

from contextlib import suppress
from operator import index
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, Array
from ....foundations.errors import kind_of, noted, warn
from ....foundations.modes import local
from ....ops.basic import beyond
from ...arguments.data import checked_array, index_array, is_sequence_or_text
from ...state.base import TensorBase, numbers_in
from ...state.inference import watch_saving
from ...transforms.batched import is_batch
from .masking import static_index

_NO_INDEX = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"


def as_tuple(key: Any) -> tuple[Any, ...]:
    """A key as a tuple. A short sequence that holds more than numbers also counts as a tuple, as in older NumPy."""
    if isinstance(key, tuple):
        return tuple(key)
    if _is_of_ints(key) or isinstance(key, TensorBase) or type(key) is np.ndarray or not (
            is_sequence_or_text(key) and _has_parts(key)):
        return (key,)
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; "
        "use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
        "x[torch.tensor(seq)], which will result either in an error or a different result", UserWarning)
    return tuple(key)


def _is_of_ints(key: Any) -> bool:
    """Whether a key is a list of ints, which is the usual one."""
    return type(key) is list and {*map(type, key)} == {int}


def _has_parts(sequence: Any) -> bool:
    """Whether a sequence of less than 32 items holds sequences, tensors, slices, None or Ellipsis."""
    try:
        items = [sequence[i] for i in range(len(sequence))] if len(sequence) < 32 else []
    except Exception:                                       # the class is no sequence after all
        return False
    return any([
        k is None or k is Ellipsis or isinstance(k, (slice, TensorBase)) or is_sequence_or_text(k) for k in items])


def as_item(key: Any) -> Any:
    """An item of a key other than an int, a slice, None or Ellipsis, converted to an int, a bool or an index array."""
    if type(key) is bool or isinstance(key, slice):
        return key
    if isinstance(key, TensorBase):
        array = key._array
        if array.ndim == 0 and array.dtype.kind in "biu" and not (array.dtype.kind == "i" and is_batch(array)):
            number = numbers_in(key)
            return number if array.dtype.kind == "i" else bool(number)           # uint8 is an old form of bool
        if key._grad_meta is not None and key._grad_meta.inference:
            watch_saving(key)
        return array if array.dtype == np.int64 or array.dtype.kind == "b" else static_index(array)
    if type(key) is np.ndarray:
        return _as_index(checked_array(key))
    if _is_of_ints(key):
        with suppress(OverflowError):
            return np.array(key, np.int64)
    if is_sequence_or_text(key):
        if local.thread.transform is not None and any([isinstance(k, TensorBase) for k in key]):
            items = [k._array if isinstance(k, TensorBase) else k for k in key]
            return beyond(_joined, *items)
        if isinstance(key, (str, bytes)):
            raise noted(TypeError(f"new(): invalid data type '{kind_of(key)}'"), given=f"{key!r} is not an index")
        return _as_index(index_array(key))
    if not hasattr(type(key), "__index__"):
        raise IndexError(_NO_INDEX.format(kind_of(key)))
    try:
        return index(key)
    except Exception as error:
        raise IndexError(_NO_INDEX.format(kind_of(key))) from error


def _joined(*numbers: Any) -> Array:
    """The numbers as an index array."""
    array = np.asarray(numbers)
    return array if array.dtype.kind == "b" else array.astype(np.int64)


def _as_index(array: Array) -> Any:
    """A NumPy array, or an array made from a list, as an index. One without dimensions gives an int or a bool."""
    if array.dtype is I64:
        array = array.copy()
    elif array.dtype == np.uint8:
        array = static_index(array)
    elif array.dtype.kind != "b":
        array = local.thread.quietly(array.astype, np.int64)
    return array if array.ndim else array.item()
