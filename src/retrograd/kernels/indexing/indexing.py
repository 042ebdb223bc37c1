"""Reading and writing by index. Functions whose names end in `_into` write to their first argument and return it.

An index counts from either end and is an int64 array. `indices` is a tuple of such arrays, of masks, and of None for a
dimension without an index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...foundations.errors import noted
from ..elementwise import choosing
from ..networks.adding_rows import add_rows
from ..options import rounds_steps
from ..thresholds import ADDED_AT, PLACED_BLOCK

_UNSIGNED = np.dtype(np.uint64)


def overlaps(view: Array) -> bool:
    """Whether two elements of a view may share memory. True also if the strides do not settle the question."""
    if not view.size:
        return False
    reach = 0
    for stride, size in sorted(zip(map(abs, view.strides), view.shape)):
        if size > 1:
            if stride <= reach:
                return True
            reach += stride * (size - 1)
    return False


# One element or a range of a dimension

def select(x: Any, dim: int, index: int) -> Any:
    """The slice number `index` along `dim`, a view."""
    return x[(*(slice(None),) * dim, index, ...)] if dim else x[index, ...]


def select_backward(g: Array, shape: Shape, dim: int, index: int) -> Any:
    """Zeros of `shape` with `g` as the slice number `index`."""
    out = np.zeros(shape, g.dtype)
    select(out, dim, index)[...] = g
    return out


def slice_(x: Array, dim: int, start: int, stop: int, step: int) -> Any:
    """A range along `dim`, a view."""
    return x[(*(slice(None),) * dim, slice(start, stop, step))]


def slice_backward(g: Array, shape: Shape, dim: int, start: int, stop: int, step: int) -> Any:
    """Zeros of `shape` with `g` as a range along `dim`."""
    out = np.zeros(shape, g.dtype)
    slice_(out, dim, start, stop, step)[...] = g
    return out


# By arrays, as x[…] does

def index(x: Array, indices: Sequence[Any]) -> Any:
    """The elements that arrays of indices select, one array for each leading dimension."""
    last = indices[-1]
    if not last.size and (error := _ill_formed(x.shape, indices)) is not None:
        raise error                                     # NumPy accepts any empty mask
    try:
        if last.dtype.kind != "b" and all([i is None for i in indices[:-1]]):
            return x.take(last, len(indices) - 1)
        if last.dtype.kind == "b" and last.shape == x.shape:
            return choosing.taken(x, last)
        return x[_key(indices)]
    except (IndexError, ValueError) as error:
        raise refused(x.shape, indices) or error from None


def _key(indices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([slice(None) if i is None else i for i in indices])


def refused(shape: Shape, indices: Sequence[Any]) -> Exception | None:
    """The error for indices that do not fit an array of `shape`, or None."""
    return _ill_formed(shape, indices) or _beyond(shape, indices)


def _ill_formed(shape: Shape, indices: Sequence[Any]) -> Exception | None:
    """The error for too many indices, a mask of another shape, or arrays that do not broadcast, or None."""
    dim = 0
    sizes = []
    for i in indices:
        if i is None:
            dim += 1
        elif i.dtype.kind == "b":
            for d, n in enumerate(i.shape):
                if dim + d >= len(shape) or shape[dim + d] != n:
                    return IndexError(f"The shape of the mask {list(i.shape)} at index {d} does not match the shape of "
                                      f"the indexed tensor {list(shape)} at index {dim + d}")
            dim += i.ndim
            sizes += [(int(np.count_nonzero(i)),)] * i.ndim
        else:
            sizes.append(i.shape)
            dim += 1
    if dim > len(shape):
        return IndexError(f"too many indices for tensor of dimension {len(shape)}")
    try:
        np.broadcast_shapes(*sizes)
    except ValueError:
        return IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes "
                          + ", ".join(str([*s]) for s in sizes))
    return None


def _beyond(shape: Shape, indices: Sequence[Any]) -> Exception | None:
    """The error for an index outside its dimension, or None."""
    arrays = [(d, i) for d, i in enumerate(expanded(indices)) if i is not None]
    # As in PyTorch, the dimensions with index arrays are numbered from 0.
    for place, (d, i) in enumerate(arrays):
        if i.size and not shape[d]:
            return IndexError("index is out of bounds for dimension with size 0")
        if outside(i, shape[d]) is not None:
            error = IndexError(out_of_bounds(i, shape[d], place))
            return error if place == d else noted(
                error, because=f"index array {place} is for dimension {d} of shape {list(shape)}")
    return None


def outside(index: Array, size: int) -> int | None:
    """The first index that is out of range for `size` elements, counted from either end, or None."""
    if not index.size or -size <= int(index.min()) <= int(index.max()) < size:
        return None
    return int(index[(index < -size) | (index >= size)].flat[0])


def out_of_bounds(index: Array, size: int, dim: int) -> str:
    """PyTorch's sentence for an index that is out of range."""
    return f"index {outside(index, size)} is out of bounds for dimension {dim} with size {size}"


def expanded(indices: Sequence[Any]) -> list[Any]:
    """The indices, with a mask replaced by an index array for each of its dimensions."""
    full: list[Any] = []
    for i in indices:
        if i is not None and i.dtype.kind == "b":
            full += i.nonzero() if i.ndim else [np.zeros(int(i), np.int64)]
        else:
            full.append(i)
    return full


def index_backward(g: Array, shape: Shape, indices: Sequence[Any]) -> Any:
    """Zeros of `shape`, with `g` added at the places of the indices."""
    return put_into(np.zeros(shape, g.dtype), g, indices, not by_mask(indices))


def _as_it_lies(x: Array) -> Any:
    """A copy with its axes in the order of the axes of `x`. If `x` repeats elements, the copy is row-major."""
    return np.array(x, order="K" if all(x.strides) else "C")


@rounds_steps
def index_put(x: Array, values: Array, indices: Sequence[Any], accumulate: bool) -> Any:
    """`x` with `values` written (or added) at the places of the indices. Of values for one place, the last stays."""
    return put_into(_as_it_lies(x), values, indices, accumulate)


@rounds_steps
def put_into(out: Array, values: Array, indices: Sequence[Any], accumulate: bool) -> Any:
    """Write or add `values` at the places of the indices."""
    only_mask = by_mask(indices)
    if only_mask and not accumulate and values.size == 1:
        values = values.reshape(()) if values.dtype.kind != "c" or out.dtype.kind in "cb" else values.real.reshape(())
    if not indices[-1].size and (error := _ill_formed(out.shape, indices)) is not None:
        raise error
    try:
        if only_mask and not accumulate and indices[-1].shape == out.shape and values.dtype == out.dtype:
            choosing.write(out, indices[-1], values)
        elif accumulate and only_mask:
            out[_key(indices)] += values
        elif accumulate and values.size <= ADDED_AT:
            np.add.at(out, _key(indices), values)
        elif accumulate:
            add_at(out, expanded(indices), values)
        else:
            out[_key(indices)] = values
    except (IndexError, ValueError, TypeError) as error:
        raise misfit(out.shape, indices, values.shape) or error from None
    return out


def by_mask(indices: Sequence[Any]) -> bool:
    """Whether the indices are a single mask."""
    return [i.dtype.kind for i in indices if i is not None] == ["b"]


def misfit(shape: Shape, indices: Sequence[Any], values: Shape, bounds: bool = True) -> Exception | None:
    """The error if values of a shape cannot be written at these indices of an array of `shape`, or None.

    With `bounds`, the last check is whether all indices are in range.
    """
    error = _ill_formed(shape, indices)
    if error is not None:
        return error
    arrays = expanded(indices)
    if any([i is not None and i.size and not n for n, i in zip(shape, arrays)]):
        return IndexError("index is out of bounds for dimension with size 0")
    taken = _taken(shape, arrays)
    try:
        fits = np.broadcast_shapes(taken, values) == taken
    except ValueError:
        fits = False
    if fits:
        return _beyond(shape, indices) if bounds else None
    return RuntimeError(f"shape mismatch: value tensor of shape {list(values)} cannot be broadcast to indexing result "
                        f"of shape {list(taken)}")


def _taken(shape: Shape, indices: Sequence[Any]) -> Shape:
    """The shape of the elements that index arrays select. There is an array for each indexed dimension."""
    axes = [d for d, i in enumerate(indices) if i is not None]
    at = np.broadcast_shapes(*[indices[d].shape for d in axes])
    place = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
    rest = [n for d, n in enumerate(shape) if d not in axes]
    return (*rest[:place], *at, *rest[place:])


def add_at(out: Array, indices: Sequence[Any], values: Array) -> None:
    """Add `values` at the places of the indices, which have an array for each indexed dimension."""
    shape = out.shape
    axes = [d for d, i in enumerate(indices) if i is not None]
    if len(axes) == 1 and out.flags.c_contiguous:
        _add_along(out, indices[axes[0]], values, axes[0])
        return
    rest = [d for d in range(out.ndim) if d not in axes]
    arrays = np.broadcast_arrays(*[indices[d] for d in axes])
    at = arrays[0].shape
    place = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
    values = np.broadcast_to(values, _taken(shape, indices))
    if not values.size:
        return
    if place:
        values = np.moveaxis(values, range(place, place + len(at)), range(len(at)))
    rows = np.zeros(at, np.int64)
    for d, i in zip(axes, arrays):
        rows = rows * shape[d] + counted(i, shape[d], d)
    front = out.transpose(*axes, *rest)
    width = math.prod([shape[d] for d in rest])
    table = np.ascontiguousarray(front).reshape(-1, width)
    add_rows(table, rows.reshape(-1), values.reshape(-1, width))
    if not np.shares_memory(table, out):
        front[...] = table.reshape(front.shape)


def _add_along(out: Array, index: Array, values: Array, dim: int) -> None:
    """`add_at` with one index array, in contiguous memory, where the selected elements are rows of a table."""
    shape = out.shape
    before, n, width = math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1:])
    values = np.broadcast_to(values, (*shape[:dim], *index.shape, *shape[dim + 1:]))
    if not values.size:
        return
    rows = counted(index, n, dim).reshape(-1)
    table, values = out.reshape(before, n, width), values.reshape(before, -1, width)
    if before == 1:
        add_rows(table[0], rows, values[0])
        return
    height = min(max(PLACED_BLOCK // values[0].size, 1), before)
    rows = np.arange(height)[:, None] * n + rows
    for start in range(0, before, height):
        block = values[start:start + height]
        add_rows(table[start:start + height].reshape(-1, width), rows[:len(block)].reshape(-1),
                 block.reshape(-1, width))


def within(index: Array, size: int) -> bool:
    """Whether all indices count from the front and are below `size`. Read as unsigned, a negative index is large."""
    return not index.size or 0 <= index.item(index.view(_UNSIGNED).argmax()) < size


def counted(index: Array, size: int, dim: int) -> Any:
    """The index with all elements counted from the front. Raises IndexError for an index out of range."""
    if within(index, size):
        return index
    if outside(index, size) is not None:
        raise IndexError(out_of_bounds(index, size, dim))
    return np.where(index < 0, index + size, index)


def without(g: Array, indices: Sequence[Any]) -> Any:
    """`g` with zeros at the places of the indices."""
    out = np.array(g, order="C")
    if indices[-1].dtype.kind == "b" and indices[-1].shape == out.shape:
        choosing.write(out, indices[-1], 0)
    else:
        out[_key(indices)] = 0
    return out


# Along one dimension

def index_select(x: Array, index: Array, dim: int) -> Any:
    """Slices along `dim`, by number."""
    return x.take(index, dim) if x.ndim else x.reshape(1).take(index).reshape(())


def index_copy(x: Array, source: Array, index: Array, dim: int) -> Any:
    """`x` with slices of `source` instead of the slices that `index` selects."""
    return index_copy_into(np.array(x, order="C"), source, index, dim)


def index_copy_into(out: Array, source: Any, index: Any, dim: int) -> Any:
    """Write the slices of `source` over the slices that `index` selects."""
    out[(*(slice(None),) * dim, index) if out.ndim else ...] = source if out.ndim else source.reshape(())
    return out


def only(g: Array, index: Any, dim: int) -> Any:
    """`g` with zeros in the slices that `index` does not select."""
    out = np.zeros_like(g)
    key = (*(slice(None),) * dim, index) if g.ndim else ...
    out[key] = g[key]
    return out


def index_fill(x: Array, index: Array, dim: int, value: Any) -> Any:
    """`x` with a number in all elements of the slices that `index` selects."""
    return index_fill_into(_as_it_lies(x), index, dim, value)


def index_fill_into(out: Array, index: Any, dim: int, value: Any) -> Any:
    """Write a number to all elements of the slices that `index` selects."""
    if out.ndim:
        out[(*(slice(None),) * dim, index)] = value
    elif index.size:
        out[...] = value
    return out


def index_fill_tensor(x: Array, value: Array, index: Array, dim: int) -> Any:
    """`index_fill` with the number in a 0-d array."""
    return index_fill(x, index, dim, value)


def index_fill_tensor_into(out: Array, value: Array, index: Array, dim: int) -> Any:
    """`index_fill_into` with the number in a 0-d array."""
    return index_fill_into(out, index, dim, value)
