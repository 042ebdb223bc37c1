"""Slices added to the slices along one dimension that an index selects. The elements of the index have been checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, Array, Shape, is_half
from ..options import converts, option, rounds_steps
from .indexing import put_into


@rounds_steps
@converts(4)
def index_add(x: Array, source: Array, index: Array, dim: int, alpha: Any) -> Any:
    """`x` with the slices of `source`, times alpha, added to the slices that `index` selects."""
    return index_add_into(np.array(x, order="C"), source, index, dim, alpha)


@rounds_steps
@converts(4)
def index_add_into(out: Array, source: Array, index: Array, dim: int, alpha: Any) -> Any:
    """Add the slices of `source`, times alpha, to the slices that `index` selects.

    As in PyTorch, half precision is added in single precision along the first or the last of several dimensions, if
    alpha is 1. Otherwise each step is rounded.
    """
    if alpha == 1 and is_half(out.dtype) and adds_in_single(out, dim):
        np.copyto(out, index_add_into(out.astype(F32), source.astype(F32), index, dim, 1), casting="unsafe")
        return out
    if alpha != 1 and out.ndim > 1 and is_half(out.dtype) and out.flags.c_contiguous and source.flags.c_contiguous:
        return _add_slices(out, source, index, dim, option(alpha, source))
    if alpha != 1:
        source = np.multiply(source, option(alpha, source), out=...)
    if out.ndim:
        put_into(out, source, (*(None,) * dim, index.reshape(-1)), True)
    else:
        np.add(out, source.sum(dtype=out.dtype), out=out)
    return out


def adds_in_single(out: Array, dim: int) -> bool:
    """Whether PyTorch adds slices of halves along `dim` in single precision."""
    return out.ndim > 1 and dim in (0, out.ndim - 1)


def _add_slices(out: Array, source: Array, index: Array, dim: int, alpha: Array) -> Any:
    """`index_add_into` of halves that lie row by row.

    PyTorch's vector instructions take 32 neighbors at a time, and do not round their products with alpha.
    """
    before, width = math.prod(out.shape[:dim]), math.prod(out.shape[dim + 1:])
    whole = width - width % 32
    table, rows = (array.reshape(before, array.shape[dim], width) for array in (out, source))
    factor, exact = alpha.astype(F32), rows[..., :whole].astype(F32)
    for place, number in enumerate(index.reshape(-1)):
        step = table[:, number, :whole]
        np.copyto(step, step.astype(F32) + factor * exact[:, place], casting="unsafe")
    put_into(table[..., whole:], rows[..., whole:] * alpha, (None, index.reshape(-1)), True)
    return out


def index_select_backward(g: Array, index: Array, shape: Shape, dim: int) -> Any:
    """Zeros of `shape`, with the slices of `g` added to the slices that `index` selects."""
    return index_add_into(np.zeros(shape, g.dtype), g, index, dim, 1)
