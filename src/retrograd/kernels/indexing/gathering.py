"""Reading and writing element by element: by an index along one dimension, by number, by a mask.

Functions whose names end in `_into` write to their first argument and return it. An index is an int64 array whose
elements have been checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, Array, Shape, is_half
from ...foundations.errors import noted
from ..elementwise.choosing import taken, where, where_into, write
from ..layout import copied, row_by_row
from ..options import rounds_steps
from ..thresholds import GATHERED, GATHERED_BLOCK
from .indexing import put_into
from .picking import added, picked

# Element by element along one dimension

def places(index: Array, shape: Shape, dim: int) -> Iterator[tuple[Any, Any]]:
    """The row-major places of the elements that `index` selects along `dim` from an array of `shape`.

    The places come in blocks: a range of the first dimension of `index`, and its places, which are valid only until the
    next block. NumPy reads and writes by one index of a flat array several times faster than by one index for each
    dimension, and a small block stays in the cache. For vectors, and for a number, the places are the index itself.
    """
    if index.ndim < 2:
        yield ..., index if index.ndim else index.reshape(1)
    if index.ndim < 2 or not index.size:
        return
    step = math.prod(shape[dim + 1:])
    if index.size <= GATHERED:
        yield ..., _few_places(index, shape, dim)
        return
    base = _offsets(index.shape, shape, dim)
    count = len(index)
    height = min(max(GATHERED_BLOCK * count // index.size, 1), count)
    buffer = np.empty((height, *index.shape[1:]), np.int64)
    for start in range(0, count, height):
        rows = slice(start, min(start + height, count))
        offset = base if len(base) == 1 else base[rows]
        block = buffer[:rows.stop - start]
        if step == 1:
            np.add(index[rows], offset, out=block)
        else:
            np.add(np.multiply(index[rows], step, out=block), offset, out=block)
        yield rows, block


def _offsets(sizes: Shape, shape: Shape, dim: int) -> Any:
    """The places in an array of `shape` of the first elements along `dim`, which are added to an index."""
    steps = row_by_row(shape)
    base: Any = np.zeros((1,) * len(sizes), np.int64)
    for d, n in enumerate(sizes):
        if d != dim and n > 1:
            base = base + (np.arange(n) * steps[d]).reshape(n, *(1,) * (len(sizes) - 1 - d))
    return base


_few_offsets = lru_cache(maxsize=32)(_offsets)                  # computing these takes longer than using them


def _few_places(index: Array, shape: Shape, dim: int) -> Any:
    """`places` of an index of two or more dimensions in a single block."""
    if dim < len(shape) - 1:
        index = index * math.prod(shape[dim + 1:])
    return index + _few_offsets(index.shape, shape, dim)


def gather(x: Array, index: Array, dim: int) -> Any:
    """The elements at place `index` along `dim`, and at their own place along the other dimensions."""
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    if not (x.ndim and index.ndim):
        return x.reshape(-1)[index.reshape(-1)].reshape(index.shape)
    if index.ndim > 1 and index.size <= GATHERED:
        return x.reshape(-1).take(_few_places(index, x.shape, dim))
    if (found := picked(x, index, dim)) is not None:
        return found
    flat, out = x.reshape(-1), np.empty(index.shape, x.dtype)
    for rows, block in places(index, x.shape, dim):
        flat.take(block, mode="wrap", out=out[rows])
    return out


def gather_backward(g: Array, index: Array, shape: Shape, dim: int) -> Any:
    """Zeros of `shape`, with `g` added at the places that `gather` would read."""
    return scatter_add_into(np.zeros(shape, g.dtype), g, index, dim)


def scatter(x: Array, src: Array, index: Array, dim: int) -> Any:
    """`x` with elements of `src` written to the places that `gather` would read."""
    return scatter_into(np.array(x, order="C"), src, index, dim)


def scatter_into(out: Array, src: Array, index: Array, dim: int) -> Any:
    """Write elements of `src` to the places that `gather` would read."""
    return _write(out, index, dim, part_of(src, index.shape))


def scatter_value(x: Array, index: Array, dim: int, value: Any) -> Any:
    """`x` with a number written to the places that `gather` would read."""
    return scatter_value_into(np.array(x, order="C"), index, dim, value)


def scatter_value_into(out: Array, index: Array, dim: int, value: Any) -> Any:
    """Write a number to the places that `gather` would read."""
    return _write(out, index, dim, value)


def scatter_add(x: Array, src: Array, index: Array, dim: int) -> Any:
    """`x` with elements of `src` added at the places that `gather` would read."""
    return scatter_add_into(np.array(x, order="C"), src, index, dim)


def scatter_add_into(out: Array, src: Array, index: Array, dim: int) -> Any:
    """Add elements of `src` at the places that `gather` would read."""
    src = part_of(src, index.shape)
    if added(out, index, dim, src) is not None:
        return out
    return accumulate(np.add, out, index, dim, src)


def part_of(src: Array, shape: Shape) -> Any:
    """The part of `src` that belongs to an index of `shape`. `src` may be larger."""
    if src.shape == shape:
        return src
    return src[tuple([slice(n) for n in shape])] if len(shape) > 1 else src.reshape(-1)[:math.prod(shape)]


def _write(out: Array, index: Array, dim: int, values: Any) -> Any:
    """Write values, or one number, to the places of `index` along `dim`."""
    flat, many = out.reshape(-1), type(values) is np.ndarray and values.ndim > 0
    for rows, block in places(index, out.shape, dim):
        flat[block] = values[rows] if many else values
    return _back(out, flat)


def accumulate(ufunc: np.ufunc, out: Array, index: Array, dim: int, values: Any, stepwise: bool = False) -> Any:
    """Combine values, or one number, with the elements at the places of `index` along `dim`, one after another.

    Half precision is combined in single precision and rounded once, or rounded at each step if `stepwise` is set.
    """
    if is_half(out.dtype) and not stepwise:
        wide = accumulate(ufunc, out.astype(F32), index, dim, np.asarray(values, F32))
        np.copyto(out, wide, casting="unsafe")
        return out
    flat, many = out.reshape(-1), type(values) is np.ndarray and values.ndim > 0
    for rows, block in places(index, out.shape, dim):
        ufunc.at(flat, block.reshape(-1), values[rows].reshape(-1) if many else values)
    return _back(out, flat)


def _back(out: Array, flat: Array) -> Any:
    """`out`, after the elements of `flat` are copied back to `out` if `flat` is a copy of `out`."""
    if not out.flags.c_contiguous and not np.may_share_memory(flat, out):
        out[...] = flat.reshape(out.shape)
    return out


def take(x: Array, index: Array) -> Any:
    """Elements by their number in row-major order."""
    return x.take(index)


def take_backward(g: Array, index: Array, shape: Shape) -> Any:
    """Zeros of `shape`, with `g` added at the numbers in `index`."""
    out = np.zeros(math.prod(shape), g.dtype)
    put_into(out, g.reshape(-1), (index.reshape(-1),), True)
    return out.reshape(shape)


# By a mask

def masked_fill(x: Array, mask: Array, value: Any) -> Any:
    """A number where the mask is true, and `x` elsewhere."""
    return np.asarray(where(mask, np.asarray(value).astype(x.dtype), x))


def masked_fill_tensor(x: Array, value: Array, mask: Array) -> Any:
    """`masked_fill` with the number in a 0-d array."""
    return np.asarray(where(mask, value.astype(x.dtype), x))


def masked_fill_into(out: Array, mask: Array, value: Any) -> Any:
    """Write a number where the mask is true."""
    try:
        where_into(out, mask, value)
    except ValueError:
        shape = np.broadcast_shapes(out.shape, mask.shape)
        raise RuntimeError(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(shape)}"
                           ) from None
    return out


def masked_fill_tensor_into(out: Array, value: Array, mask: Array) -> Any:
    """`masked_fill_into` with the number in a 0-d array."""
    return masked_fill_into(out, mask, value)


def masked_select(x: Array, mask: Array) -> Any:
    """The elements where the mask is true, as a vector. Array and mask are broadcast."""
    if x.shape != mask.shape:
        x, mask = np.broadcast_arrays(x, mask)
    return taken(x, mask)


def masked_place(g: Array, mask: Array, shape: Shape) -> Any:
    """Zeros of `shape` with the elements of `g`, in order, where the mask is true."""
    out = np.zeros(shape, g.dtype)
    write(out, mask if mask.shape == shape else np.broadcast_to(mask, shape), g)
    return out


def masked_scatter(x: Array, source: Array, mask: Array) -> Any:
    """`x` with the first elements of `source`, in order, where the mask is true. `x` and the mask are broadcast."""
    wide = x if x.shape == mask.shape else np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape))
    out = np.array(wide, order="C")
    return masked_scatter_into(out, source, mask)


def masked_scatter_into(out: Array, source: Array, mask: Array) -> Any:
    """Write the first elements of `source`, in order, where the mask is true."""
    if mask.shape != out.shape:
        mask = np.broadcast_to(mask, out.shape)
    count = int(np.count_nonzero(mask))
    if count > source.size:
        raise noted(
            RuntimeError("Number of elements of source < number of ones in mask"),
            given=f"there are {source.size} and {count}")
    write(out, mask, source.reshape(-1)[:count])
    return out


def masked_first(g: Array, mask: Array, shape: Shape) -> Any:
    """An array of `shape` that starts with the elements of `g` where the mask is true. The rest is zeros."""
    out = np.zeros(math.prod(shape), g.dtype)
    found = taken(g, mask if mask.shape == g.shape else np.broadcast_to(mask, g.shape))
    out[:found.size] = found
    return out.reshape(shape)


# By number in row-major order

@rounds_steps
def put(x: Array, source: Array, index: Array, accumulate: bool) -> Any:
    """`x` with elements of `source` written, or added, at the places that `take` would read."""
    return put_over(copied(x, x.dtype), source, index, accumulate)


@rounds_steps
def put_over(out: Array, source: Array, index: Array, accumulate: bool) -> Any:
    """Write, or add, elements of `source` at the places that `take` would read."""
    flat = out.reshape(-1)
    if accumulate:
        np.add.at(flat, index.reshape(-1), source.reshape(-1))
    else:
        flat[index.reshape(-1)] = source.reshape(-1)
    return _back(out, flat)
