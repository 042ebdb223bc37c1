"""Dimensions as callers give them: one int or several, counted from either end; and PyTorch's errors for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import kind_of, noted
from ...tensors.state.base import TensorBase
from ..state.inference import watch_saving

Dims = int | tuple[int, ...] | list[int]
_PLAIN = frozenset((int, type(None)))                        # the usual ends of a slice


def array_of(name: str, value: TensorBase, argument: str = "input", position: int = 1) -> Array:
    """The array of a tensor. Raises TypeError for anything else."""
    try:
        array: Array = value._array
        meta = value._grad_meta
    except AttributeError:
        raise not_a_tensor(name, value, argument, position) from None
    if meta is not None and meta.inference:
        watch_saving(value)                              # a node may save an index, which is no operand
    return array


def arrays_of(tensors: Sequence[Any], place: int = 0) -> list[np.ndarray[Any, Any]]:
    """The arrays of a list of tensors. Raises TypeError for anything else among them; `place` is the argument's."""
    try:
        return [x._array for x in tensors]
    except AttributeError:
        i, x = next((i, x) for i, x in enumerate(tensors) if not hasattr(x, "_array"))
        raise TypeError(f"expected Tensor as element {i} in argument {place}, but got {kind_of(x)}") from None


def not_a_tensor(name: str, value: Any, argument: str, position: int) -> TypeError:
    """The error for an argument that should be a tensor."""
    remedy = "Make one with torch.tensor(...)."
    if hasattr(value, "__torch_function__"):
        remedy = "Its __torch_function__ did not handle the call."
    return noted(
        TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {kind_of(value)}"),
        because=remedy)


def of_no_tensor(name: str, value: Any) -> TypeError:
    """Python's error for a method of tensors that is called with something else, in PyTorch."""
    kind = kind_of(value)
    if name.startswith("__"):
        return TypeError(f"descriptor '{name}' requires a 'torch._C.TensorBase' object but received a '{kind}'")
    return TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{kind}' object")


def axis_of(name: str, dim: Any, ndim: int) -> int:
    """`dim` counted from the front; a 0-d tensor has the dim 0. Raises TypeError or IndexError."""
    if type(dim) is not int:
        dim = as_int(name, dim, "dim")
    span = ndim or 1
    if not -span <= dim < span:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    axis: int = dim + span if dim < 0 else dim
    return axis


def size_at(array: Array, dim: int) -> int:
    """The size of a dimension counted from the front, or -1 for the last. Raises IndexError if it does not exist."""
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return array.shape[axis_of("", dim, array.ndim)]  # type: ignore[no-any-return]


def as_int(name: str, value: Any, argument: str, position: int = 0) -> int:
    """The value as an int. Raises TypeError if Python cannot use it as an index; `position` is for the message."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return index(value)
    except TypeError:
        where = f"'{argument}' (position {position})" if position else f"'{argument}'"
        raise TypeError(f"{name}(): argument {where} must be int, not {kind_of(value)}") from None


def axes_of(name: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `dim` names, ascending; None and the empty tuple name all axes. Raises TypeError, IndexError, or
    RuntimeError for an axis that is named twice."""
    if type(dim) is int:
        axis = axis_of(name, dim, ndim)
        return (axis,) if ndim else ()
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, (tuple, list)):
        try:
            return axes_of(name, as_int(name, dim, "dim"), ndim)
        except TypeError:
            where = "'dim' (position 3)" if name == "linalg_vector_norm" else "'dim'"
            raise TypeError(f"{name}(): argument {where} must be tuple of ints, not {kind_of(dim)}") from None
    if not dim:
        return tuple(range(ndim))
    axes = [axis_of(name, d if type(d) is int else _later(name, d, i), ndim) for i, d in enumerate(dim)]
    if len({*axes}) < len(axes):
        twice = next(axis for i, axis in enumerate(axes) if axis in axes[:i])
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    return tuple(sorted(axes)) if ndim else ()


def _later(name: str, value: Any, place: int) -> int:
    """One of several dims as an int. Of the elements of a list PyTorch names the first in another way than the rest."""
    try:
        return as_int(name, value, "dim")
    except TypeError:
        if not place:
            raise
        raise TypeError(f"{name}(): argument 'dim' failed to unpack the object at pos {place + 1} with error \"type "
                        f'must be tuple of ints,but got {kind_of(value)}"') from None


def bounds(key: slice, size: int) -> tuple[int, int, int]:
    """The start, stop and step of a slice of so many places. A size that is noted is only compared."""
    kept = type(size) is not int or not (type(key.start) in _PLAIN and type(key.stop) in _PLAIN)
    if not kept or (key.step is not None and index(key.step) <= 0):
        return key.indices(size)
    ends = []
    for end, otherwise in ((key.start, 0), (key.stop, size)):
        if end is None:
            ends.append(otherwise)
            continue
        if not hasattr(end, "__index__"):
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        place = end if isinstance(end, int) else index(end)
        place = place + size if place < 0 else place
        ends.append(0 if place < 0 else size if place > size else place)
    return ends[0], ends[1], 1 if key.step is None else index(key.step)
