"""`x[…]`, read and written: a key becomes a chain of views, followed by one `index` or `index_put` for its arrays.

The chain is PyTorch's: an int selects, a slice narrows (a full slice takes no view), None and a bool add a dimension.
All index arrays together make one `index` or `index_put`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from ....foundations.dtypes import Array, dtype as torch_dtype
from ....foundations.errors import noted, warn_of_discarded_part
from ....foundations.modes import local
from ....foundations.scalars import filling
from ....graph.versions import writing
from ....kernels.elementwise.arithmetic import overwrite
from ....kernels.indexing import indexing as kernels
from ....ops.elementwise import arithmetic
from ....ops.framework import Op
from ....ops.indexing import indexing as ops
from ....ops.shape import alias, unsqueeze
from ...arguments.data import beyond_int64
from ...arguments.dims import array_of, as_int, axis_of, bounds
from ...recording.calls import recorded
from ...recording.inplace import check_writable, over, written
from ...recording.public import public
from ...state.base import ORDINARY, TensorBase, edge_of, make_view, plain, requires
from ...state.writable import refuse_inference, refuse_overlap, unlock, unlocked
from ..shapes.shape import broadcast_to, view
from . import masking
from .keys import as_item, as_tuple
from .masking import put

_select, _slice, _index = recorded(ops.select), recorded(ops.slice_), recorded(ops.index)
_unsqueeze, _alias = recorded(unsqueeze), recorded(alias)
newaxis = None                                          # as in x[newaxis]
# One step of a key: the recorded call, its operator, and the arguments of both after the tensor.
Step = tuple[Callable[..., Any], Op, tuple[Any, ...]]


# Reading

@public(name="__getitem__", method=True)
def getitem(input: TensorBase, key: Any) -> Any:
    """The part of a tensor that a key names: a view for ints, slices, None and Ellipsis; a copy for index arrays.

    Raises IndexError for an index out of range, ValueError for a step that is not positive.
    """
    kind = type(key)
    if kind is int:
        return _select(input, 0, _place(key, input._array.shape, 0, 0))
    if kind is slice:
        _refuse_stale(input)
        return _slice(input, 0, *_range(key, input._array.shape, 0))
    if isinstance(key, np.integer):
        return getitem(input, int(key))
    steps, arrays = _chain(input, key)
    if arrays is None and len(steps) > 1 and not requires(input):
        return _whole_view(input, steps)
    part = input
    for call, _, options in steps:
        part = call(part, *options)
    if arrays is None:
        return part if steps else _alias(part)
    return _index(part, arrays)


def _refuse_stale(input: TensorBase) -> None:
    """Raises RuntimeError for a view that is stale after a write to its base. PyTorch checks this before the key."""
    if input._grad_meta is not None and input._grad_meta.creation != ORDINARY and local.thread.grad:
        edge_of(input)


def _whole_view(input: TensorBase, steps: list[Step]) -> Any:
    """All steps as one view. If nothing is recorded, the views in between are not needed."""
    result = plain(_taken(steps, input._array))
    make_view(result, input, partial(_taken, steps), ORDINARY)
    return result


def _taken(steps: list[Step], base: Array) -> Any:
    """The view after all steps, of an array or of another object that operators take."""
    for _, op, options in steps:
        base = op(base, *options)
    return base


def _place(index: int, shape: Sequence[int], dim: int, place: int) -> int:
    """An int of a key, counted from the front. Errors name its `place` in the key as the dimension, as in PyTorch."""
    size = shape[dim] if shape else 0
    if -size <= index < size:
        return index if index >= 0 else index + size
    if not -2**63 <= index < 2**63:
        raise beyond_int64(index)
    if not shape and not index:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                         "to convert a 0-dim tensor to a number")
    raise IndexError(f"index {index} is out of bounds for dimension {place} with size {size}")


def _range(key: slice, shape: Sequence[int], dim: int) -> tuple[int, int, int]:
    """The start, stop and step of a slice, within the dimension."""
    start, stop, step = bounds(key, shape[dim] if shape else 0)
    if step < 0:
        raise noted(ValueError("step must be greater than zero"), instead="reverse a dimension with flip()")
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    return start, max(start, stop), step


def _chain(input: TensorBase, key: Any) -> tuple[list[Step], tuple[Any, ...] | None]:
    """The chain of views of a key, and the index arrays of the last view (None if the key has no arrays)."""
    if type(key) is tuple:
        steps = _basic(input._array.shape, key)
        if steps is not None:
            _refuse_stale(input)
            return steps, None
    return _parse(input, as_tuple(key))


def _basic(shape: Sequence[int], keys: tuple[Any, ...]) -> list[Step] | None:
    """The chain of views of a key of ints, slices and at most one Ellipsis. None for other keys, and for wrong ones."""
    rank = len(shape)
    steps: list[Step] = []
    dim = at = 0                                     # the dimension of the view so far, and that of the tensor
    skipped = rank - len(keys) + 1                   # the dimensions that an Ellipsis stands for
    for k in keys:
        kind = type(k)
        if k is Ellipsis and skipped >= 0:
            dim, at, skipped = dim + skipped, at + skipped, -1
            continue
        if at == rank or (kind is not int and kind is not slice):
            return None
        size = shape[at]
        at += 1
        if kind is int:
            if not -size <= k < size:
                return None
            steps.append((_select, ops.select, (dim, k if k >= 0 else k + size)))
            continue
        if k.start is not None or k.stop is not None or k.step is not None:
            try:
                bounds = _range(k, (size,), 0)
            except (TypeError, ValueError):
                return None
            if bounds != (0, size, 1) or k.start:
                steps.append((_slice, ops.slice_, (dim, *bounds)))
        dim += 1
    return steps


def _parse(input: TensorBase, keys: tuple[Any, ...]) -> tuple[list[Step], tuple[Any, ...] | None]:
    """The chain of views of a key, and the index arrays of the last view (None if the key has no arrays)."""
    shape = input._array.shape
    items, used = _items(keys, len(shape))
    _refuse_stale(input)
    steps: list[Step] = []
    arrays: list[Any] = []
    sizes = [*shape]
    dim = 0                                         # the dimension of the view so far
    for place, k in enumerate(items):
        kind = type(k)
        if kind is int:
            steps.append((_select, ops.select, (dim, _place(k, sizes, dim, place))))
            del sizes[dim]
        elif kind is slice:
            bounds = _range(k, sizes, dim)
            if bounds != (0, sizes[dim], 1) or k.start:
                steps.append((_slice, ops.slice_, (dim, *bounds)))
            dim += 1
        elif k is Ellipsis:
            dim += len(shape) - used
        elif k is None or kind is bool:
            steps.append((_unsqueeze, unsqueeze, (dim,)))
            sizes.insert(dim, 1)
            if k is not None:
                _store(arrays, dim, np.zeros(int(k), np.int64))
            dim += 1
        else:
            _store(arrays, dim, k)
            dim += _width(k)
    return steps, _compact(arrays) if arrays else None


def _items(keys: tuple[Any, ...], rank: int) -> tuple[list[Any], int]:
    """The items of a key, and how many dimensions they index. PyTorch counts the items before it looks at them.

    Raises IndexError if the tensor has fewer dimensions than that.
    """
    items: list[Any] = []
    used = 0
    wrong: Exception | None = None
    for k in keys:
        if type(k) is int or type(k) is slice:
            used += 1
        elif k is not None and k is not Ellipsis:
            try:
                k = as_item(k)
            except (IndexError, TypeError, ValueError) as error:
                wrong = wrong or error
            used += 0 if k is True or k is False else _width(k)
        items.append(k)
    if used > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    if wrong is not None:
        raise wrong
    return items, used


def _width(item: Any) -> int:
    """The number of dimensions that an item of a key indexes."""
    return item.ndim if type(item) is np.ndarray and item.dtype.kind == "b" else 1


def _store(arrays: list[Any], dim: int, array: Array) -> None:
    """Store an index array at the place of its dimension."""
    arrays += [None] * (dim + 1 - len(arrays))
    arrays[dim] = array


def _compact(arrays: list[Any]) -> tuple[Any, ...]:
    """The arrays, with one place for each mask. A mask of several dimensions first takes one place for each of them."""
    kept: list[Any] = []
    skip = 0
    for array in arrays:
        if skip:
            skip -= 1
        else:
            kept.append(array)
            skip = 0 if array is None else _width(array) - 1
    return tuple(kept)


# Writing

@public(name="__delitem__", method=True)
def delitem(input: TensorBase, key: Any) -> NoReturn:
    """Raise TypeError: a tensor keeps its elements."""
    raise TypeError("Tensor does not support deleting items")


@public(name="__setitem__", method=True)
def setitem(input: TensorBase, key: Any, value: Any) -> None:
    """Write a number or a tensor over the part that a key names. The values are cast to the dtype of `input`.

    Raises RuntimeError if the shape does not fit, and if autograd cannot record the write.
    """
    if not isinstance(value, TensorBase):
        value = plain(_number(input._array.dtype, value))
    else:
        warn_of_discarded_part(value._array.dtype, input._array.dtype)
    if key is False:
        return
    kind = type(key)
    if kind is int:
        steps, arrays = [(_select, ops.select, (0, _place(key, input._array.shape, 0, 0)))], None
    else:
        steps, arrays = _chain(input, (None,) if key is True else key)
    if local.thread.transform is not None or (local.thread.grad and (requires(input) or requires(value))):
        _record(input, steps, arrays, value)
        return
    if input._grad_meta is not None:
        refuse_inference(input._grad_meta)
    target = _taken(steps, input._array)
    if not target.flags.writeable:
        if arrays is not None:
            masking.warn_of_put(target, arrays, value._array)
        target = unlock(target) if arrays is None else unlocked(target)
    if arrays is None:
        if value._array.shape == target.shape:
            refuse_overlap(target, value._array)
        writing(target)
        try:
            overwrite(target, value._array)
        except ValueError:
            broadcast_to(_stripped(value), target.shape)        # raises PyTorch's error about the shapes
            raise
    else:
        masking.check_apart(target, value._array, arrays)
        values = value._array
        lead = _leading_ones(values.shape)
        values = values.reshape(values.shape[lead:]) if lead else values
        masking.check_put(target, values, arrays, False)
        writing(target)
        kernels.put_into(target, values, arrays, False)
    written(input)


def _record(input: TensorBase, steps: list[Step], arrays: tuple[Any, ...] | None, value: TensorBase) -> None:
    """Record the write as operations on a chain of views."""
    target = input
    for call, _, options in steps:
        target = call(target, *options)
    array, shape = target._array, value._array.shape
    if arrays is not None:
        value = _stripped(value, False)
        masking.warn_of_put(array, arrays, value._array)
        check_writable(target, local.thread.grad and (requires(target) or requires(value)))
        put(over, target, arrays, value, False)
    elif not shape and array.shape:
        over(arithmetic.fill_tensor, target, value, into=overwrite)
    else:
        if shape != array.shape:
            value = _stripped(value)
        if value._array.shape != array.shape:
            value = broadcast_to(value, array.shape)
        over(arithmetic.copy, target, value, into=overwrite)


def _stripped(value: TensorBase, always: bool = True) -> Any:
    """`value` without leading dimensions of size 1. Unless `always`, a value without such dimensions stays itself."""
    shape = value._array.shape
    lead = _leading_ones(shape)
    return view(value, shape[lead:]) if lead or always else value


def _leading_ones(shape: tuple[int, ...]) -> int:
    return next((d for d, n in enumerate(shape) if n != 1), len(shape))


def _number(dtype: np.dtype[Any], value: Any) -> Any:
    """A Python number as a 0-d array."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (bool, int, float, complex)):
        kind = f"{'numpy.' if isinstance(value, np.ndarray) else ''}{type(value).__name__}"
        raise noted(TypeError(f"can't assign a {kind} to a torch.{torch_dtype.of[dtype].legacy}Tensor"),
                    instead="convert it with torch.tensor(...) first")
    if isinstance(value, int) and not -2**63 <= value < 2**63:
        raise beyond_int64(value)
    return np.asarray(filling(value, dtype, 1), dtype)


# Views by number and range

@public("select(Tensor input, int dim, int index)", method=True)
def select(input: TensorBase, dim: int, index: int) -> Any:
    """A view of the slice number `index` along `dim`, without this dimension."""
    shape = array_of("select", input).shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis, number = axis_of("select", dim, len(shape)), as_int("select", index, "index")
    if not -shape[axis] <= number < shape[axis]:
        raise IndexError(f"select(): index {number} out of range for tensor of size {list(shape)} at dimension {axis}")
    return _select(input, axis, number % shape[axis])


@public("narrow(Tensor input, int dim, Tensor start, int length)",
        "narrow(Tensor input, int dim, int start, int length)", method=True)
def narrow(input: TensorBase, dim: int, start: Any, length: int) -> Any:
    """A view of `length` slices along `dim`, from number `start` on. Raises if they leave the dimension."""
    shape = array_of("narrow", input).shape
    if not shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if isinstance(start, TensorBase) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    axis, first = axis_of("narrow", dim, len(shape)), as_int("narrow", start, "start")
    if not -(size := shape[axis]) <= first <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {first})")
    if (first := first + size if first < 0 else first) > size - length:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return _slice(input, axis, first, first + length, 1)
