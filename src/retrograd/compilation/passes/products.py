"""Products with vectors, and outer products, as elementwise lines and sums, for machine code.

So the factors and what is made of the product may be in the same loop, and nothing is written that a sum could take at
once. The results differ from those of the BLAS by roundings. Matrices that have many rows and columns stay products,
which keep more numbers in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.elementwise.arithmetic import add, mul
from ...ops.framework import Op
from ...ops.indexing.indexing import select
from ...ops.linalg.matrix import bmm, dot, first_row, mm, mv
from ...ops.reductions import sum_all, sum_dim
from ...ops.shape import transpose
from ..program.lines import plain_call
from .line_writer import LineWriter

# A longer sum keeps more digits in the blocks that products have.
_LONGEST_SUM = 4096


def _suits(w: LineWriter, x: Any, y: Any) -> bool:
    """Whether two factors are of one type of floating point, and the result lies row by row."""
    likes = [w.like(x), w.like(y), w.result]
    return (plain_call(w.line, w.values) and all([like.dtype == w.result.dtype and like.size for like in likes])
            and w.result.dtype.char in "fd" and w.result.flags.c_contiguous)


def _turned(w: LineWriter, x: Any) -> Any:
    """A view of transposed matrices."""
    return w.view(transpose, x, -2, -1, like=w.like(x).swapaxes(-2, -1))


def _summed(w: LineWriter, x: Any, y: Any, axis: int, keepdim: bool) -> None:
    """The sums over an axis of what two factors are, element by element."""
    like = np.empty(np.broadcast_shapes(w.like(x).shape, w.like(y).shape), w.result.dtype)
    w.last(sum_dim, w.call(mul, x, y, like=like), (axis % like.ndim,), keepdim, None)


def _of_matrices(w: LineWriter, x: Any, y: Any) -> bool:
    """An outer product, or a product with a single column or with a single row, whose sums go along the memory."""
    (rows, terms), columns = w.like(x).shape[-2:], w.like(y).shape[-1]
    if not _suits(w, x, y) or terms > _LONGEST_SUM or w.like(x).shape[:-2] != w.like(y).shape[:-2]:
        return False
    if terms == 1:
        product = w.call(mul, x, y, like=np.empty(w.result.shape, w.result.dtype))
        w.last(add, product, w.constant(0.0, w.result.dtype))                # since a sum is never -0.0
    elif columns == 1:
        _summed(w, x, _turned(w, y), -1, True)
    elif rows == 1 and w.like(y).strides[-2] < w.like(y).strides[-1]:
        _summed(w, _turned(w, x), y, -2, True)
    else:
        return False
    return True


def _mv(w: LineWriter, x: Any, y: Any) -> bool:
    if not _suits(w, x, y) or w.like(y).size > _LONGEST_SUM:
        return False
    _summed(w, x, y, -1, False)
    return True


def _dot(w: LineWriter, x: Any, y: Any) -> bool:
    if not _suits(w, x, y) or w.like(x).size > _LONGEST_SUM:
        return False
    w.last(sum_all, w.call(mul, x, y, like=np.empty(w.like(x).shape, w.result.dtype)), None)
    return True


def _first_row(w: LineWriter, x: Any) -> bool:
    if w.values[w.made.number].memory != w.values[x.number].memory:
        return False
    w.last(select, x, 0, 0)
    return True


PRODUCTS: dict[Op, Callable[..., bool]] = {mm: _of_matrices, bmm: _of_matrices, mv: _mv, dot: _dot,
                                           first_row: _first_row}
