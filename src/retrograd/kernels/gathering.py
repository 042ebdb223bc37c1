"""Reading and writing element by element: by an index along one dimension, by number, by a mask.

Functions that end in `_into` write to their first argument and return it. An index is an int64 array whose elements
have been checked. Must not know ops.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .indexing import Shape, put_into

# Element by element along one dimension

def _along(index: Any, dim: int) -> tuple[Any, ...]:
    """The key under which `gather` reads."""
    shape = index.shape
    return tuple([index if d == dim else np.arange(n).reshape(n, *(1,) * (len(shape) - 1 - d))
                  for d, n in enumerate(shape)])


def within(index: Any, size: int) -> bool:
    """Whether an index counts from the front and stays below `size`. Read unsigned, a negative is large."""
    return not index.size or bool(np.maximum.reduce(index.view(np.uint64), axis=None) < size)


def gather(x: Any, index: Any, dim: int) -> Any:
    """The elements whose place along `dim` is given by `index`, and elsewhere is their own."""
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    return x[_along(index, dim)] if x.ndim and index.ndim else np.broadcast_to(x, index.shape).copy()


def gather_backward(g: Any, index: Any, shape: Shape, dim: int) -> Any:
    """Zeros of `shape` with `g` added where `gather` would read."""
    return scatter_add_into(np.zeros(shape, g.dtype), g, index, dim)


def scatter(x: Any, src: Any, index: Any, dim: int) -> Any:
    """`x` with elements of `src` written to where `gather` would read."""
    return scatter_into(np.array(x, order="C"), src, index, dim)


def scatter_into(out: Any, src: Any, index: Any, dim: int) -> Any:
    """Write elements of `src` to where `gather` would read."""
    if out.ndim and index.ndim and index.size:
        out[_along(index, dim)] = src[tuple([slice(n) for n in index.shape])]
    elif index.size:
        out[...] = src.reshape(-1)[-1]
    return out


def scatter_value(x: Any, index: Any, dim: int, value: Any) -> Any:
    """`x` with a number written to where `gather` would read."""
    return scatter_value_into(np.array(x, order="C"), index, dim, value)


def scatter_value_into(out: Any, index: Any, dim: int, value: Any) -> Any:
    """Write a number to where `gather` would read."""
    if out.ndim and index.ndim and index.size:
        out[_along(index, dim)] = value
    elif index.size:
        out[...] = value
    return out


def scatter_add(x: Any, src: Any, index: Any, dim: int) -> Any:
    """`x` with elements of `src` added to where `gather` would read."""
    return scatter_add_into(np.array(x, order="C"), src, index, dim)


def scatter_add_into(out: Any, src: Any, index: Any, dim: int) -> Any:
    """Add elements of `src` to where `gather` would read."""
    if out.ndim and index.ndim and index.size:
        put_into(out, src[tuple([slice(n) for n in index.shape])], _along(index, dim), True)
    elif index.size:
        np.add(out, src.reshape(-1)[:index.size].sum(dtype=out.dtype), out=out)
    return out


def take(x: Any, index: Any) -> Any:
    """Elements by their number in row-major order."""
    return x.take(index)


def take_backward(g: Any, index: Any, shape: Shape) -> Any:
    """Zeros of `shape` with `g` added at the numbers in `index`."""
    out = np.zeros(math.prod(shape), g.dtype)
    put_into(out, g.reshape(-1), (index.reshape(-1),), True)
    return out.reshape(shape)


# By a mask

def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """A number where the mask is true, `x` elsewhere."""
    return np.asarray(np.where(mask, np.asarray(value).astype(x.dtype), x))


def masked_fill_tensor(x: Any, value: Any, mask: Any) -> Any:
    """As `masked_fill`, with the number in a 0-d array."""
    return np.asarray(np.where(mask, value.astype(x.dtype), x))


def masked_fill_into(out: Any, mask: Any, value: Any) -> Any:
    """Write a number where the mask is true."""
    try:
        np.copyto(out, value, where=mask, casting="unsafe")
    except ValueError:
        shape = np.broadcast_shapes(out.shape, mask.shape)
        raise RuntimeError(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(shape)}"
                           ) from None
    return out


def masked_fill_tensor_into(out: Any, value: Any, mask: Any) -> Any:
    """As `masked_fill_into`, with the number in a 0-d array."""
    return masked_fill_into(out, mask, value)


def masked_select(x: Any, mask: Any) -> Any:
    """The elements where the mask is true, in one dimension; both are broadcast to one shape."""
    if x.shape != mask.shape:
        x, mask = np.broadcast_arrays(x, mask)
    return x[mask]


def masked_place(g: Any, mask: Any, shape: Shape) -> Any:
    """Zeros of `shape` with the elements of `g`, in order, where the mask is true."""
    out = np.zeros(shape, g.dtype)
    out[np.broadcast_to(mask, shape)] = g
    return out
