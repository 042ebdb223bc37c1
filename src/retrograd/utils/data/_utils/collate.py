"""Collation: one tensor for each place in a batch of samples.

Samples may be tensors, arrays, numbers, strings, and nested mappings and sequences of them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ....foundations.dtypes import float64
from ....foundations.errors import noted
from ....tensors.arguments.options import strided
from ....tensors.face.memory import as_tensor
from ....tensors.functions.creation.creation import tensor
from ....tensors.functions.shapes.joining import stack
from ....tensors.tensor import Tensor

__all__ = ["collate", "default_collate", "default_collate_fn_map", "default_convert"]

# The kinds of arrays that no tensor can hold: bytes, objects and text.
_NO_NUMBERS = "SOU"
np_str_obj_array_pattern = re.compile(r"[SaUO]")
_WRONG = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


Table = dict[Any, Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """The data with a tensor in place of each NumPy array and number. Tuples become lists.

    >>> import numpy as np
    >>> import retrograd as torch
    >>> torch.utils.data.default_convert({"x": np.array([0., 1.]), "name": "a"})
    {'x': tensor([0., 1.], dtype=torch.float64), 'name': 'a'}
    """
    if isinstance(data, (np.ndarray, np.generic)) and not isinstance(data, np.str_):
        has_numbers = not isinstance(data, np.ndarray) or data.dtype.kind not in _NO_NUMBERS
        return as_tensor(data) if has_numbers else data
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return [default_convert(item) for item in data]
    return mapped(data, default_convert)


def mapped(data: Any, function: Callable[[Any], Any]) -> Any:
    """A mapping or sequence of the same type with the function's values in place of the items; else the data itself."""
    if isinstance(data, Mapping):
        return like_mapping(data, {key: function(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(function, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, [function(item) for item in data])
    return data


def like_mapping(mapping: Any, values: dict[Any, Any]) -> Any:
    """These values in a mapping of the same type, if the type can be copied or made of a dict; else the dict."""
    try:
        if not isinstance(mapping, MutableMapping):
            return type(mapping)(values)
        result = copy.copy(mapping)                          # a copy also has the attributes that a subclass adds
        result.update(values)
        return result
    except TypeError:
        return values


def like_sequence(sequence: Any, items: list[Any]) -> Any:
    """These items in a sequence of the same type, if the type can be copied or made of a list; else the list."""
    try:
        if not isinstance(sequence, MutableSequence):
            return type(sequence)(items)
        result = copy.copy(sequence)
        for i, item in enumerate(items):
            result[i] = item
        return result
    except TypeError:
        return items


def collate(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """One value for a batch: the samples' items in the same place are collated together.

    `collate_fn_map` says which function collates the items of a type. Raises RuntimeError for sequences of different
    lengths, TypeError for a type without a function.
    """
    first = batch[0]
    function = None if collate_fn_map is None else _function_for(first, collate_fn_map)
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def together(items: Iterable[Any]) -> Any:
        return collate(items, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return like_mapping(first, {key: together([sample[key] for sample in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(together, zip(*batch, strict=False)))
    if not isinstance(first, Sequence):
        raise noted(TypeError(_WRONG.format(type(first))),
                    instead="a collate_fn that puts such samples together, or leaves them out")
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    items = [together(items) for items in zip(*batch, strict=True)]
    return items if isinstance(first, tuple) else like_sequence(first, items)


def _function_for(item: Any, table: Table) -> Callable[..., Any] | None:
    """The function for the type of an item, or for the first type in the table that the item is an instance of."""
    function = table.get(type(item))
    if function is not None:
        return function
    return next((function for kind, function in table.items() if isinstance(item, kind)), None)


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: Table | None = None) -> Tensor:
    """The tensors of a batch, stacked along a new first dimension.

    Raises RuntimeError if their shapes differ, or if they are sparse.
    """
    if batch[0].layout is not strided:
        raise RuntimeError("Batches of sparse tensors are not currently supported by the default collate_fn; please "
                           "provide a custom collate_fn to handle them appropriately.")
    try:
        return stack(batch, 0)
    except RuntimeError as error:
        places: dict[tuple[int, ...], list[str]] = {}
        for i, item in enumerate(batch):
            places.setdefault(tuple(item.shape), []).append(str(i))
        if len(places) > 1:
            noted(error, given="; ".join(f"{[*shape]} at {_some(entries)}" for shape, entries in places.items()),
                  instead="pad to one size in a collate_fn, with torch.nn.utils.rnn.pad_sequence")
        raise


def _some(words: list[str]) -> str:
    """The words in a line, the first ones if there are many."""
    return ", ".join(words) if len(words) <= 8 else f"{', '.join(words[:6])} and {len(words) - 6} more"


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """The arrays of a batch, as one tensor. Raises TypeError for arrays of text or objects."""
    if batch[0].dtype.kind in _NO_NUMBERS:
        raise TypeError(_WRONG.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """The NumPy numbers of a batch, as a vector."""
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """The floats of a batch, as a vector of float64."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """The ints of a batch, as a vector of int64. Bools give a vector of bools."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Table | None = None) -> Any:
    """The strings of a batch, unchanged."""
    return batch


default_collate_fn_map: Table = {
    Tensor: collate_tensor_fn, np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn, float: collate_float_fn, int: collate_int_fn,
    str: collate_str_fn, bytes: collate_str_fn}


def default_collate(batch: Any) -> Any:
    """One value for a batch of samples, as a `DataLoader` makes it without a `collate_fn`.

    Tensors and arrays are stacked along a new first dimension, numbers become vectors, and strings stay a list. The
    items of mappings and sequences are collated place by place. Tuples become lists.

    >>> import retrograd as torch
    >>> torch.utils.data.default_collate([{"x": 1, "y": ("a", 0.5)}, {"x": 2, "y": ("b", 1.5)}])
    {'x': tensor([1, 2]), 'y': [('a', 'b'), tensor([0.5000, 1.5000], dtype=torch.float64)]}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
