"""Which calls of kernels and rules have machine code: how it sees their arrays.

A call is seen as one of a layout class. Dims that a formula does not tell apart are one dim, and each dim has a letter
(`statements` gives them sizes). So one machine code serves all shapes of the class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import F32, F64, I64, Array, Shape
from ...kernels.images import served_convolution
from ...kernels.images.columns import Window
from ...kernels.indexing import picking
from ...kernels.linalg import served_products
from ...kernels.networks import adding_rows, normalization, softmax, standardizing
from ...kernels.rows import row_sums
from .plans import Given, Size


class Seen(NamedTuple):
    """A call of a layout class.

    `given` says what the arguments are: it decides the machine code. `sizes` are those of the letters, in alphabetical
    order, and `shapes` those of the results. A kernel that is written by hand gets other options in `sizes`.
    """

    given: tuple[Any, ...]
    arrays: list[Array]
    sizes: tuple[Any, ...]
    shapes: list[Shape]


_GIVEN = {(letters, dtype): Given(letters, dtype)
          for letters in ("", "R", "RN", "N", "R1", "RNB", "AR", "ARB") for dtype in "fd"}


def _lies(dtype: Any, *arrays: Array | None) -> bool:
    """Whether all arrays have this floating-point type, and lie row by row."""
    return (dtype is F32 or dtype is F64) and all([
        a is None or (a.dtype is dtype and a.flags.c_contiguous) for a in arrays])


def elementwise(*args: Any) -> Seen | None:
    """A call of a kernel or a rule that computes element by element: all arrays have one shape, or are one number."""
    arrays = [arg for arg in args if type(arg) is np.ndarray]
    whole = next((a for a in arrays if a.size > 1 and a.flags.c_contiguous), None)
    if whole is None:
        return None
    dtype, shape = whole.dtype, whole.shape
    given: list[Any] = []
    used: list[Array] = []
    if dtype is not F32 and dtype is not F64:
        return None
    for arg in args:
        if type(arg) is not np.ndarray:
            if type(arg) is float and (arg != arg or (not arg and math.copysign(1.0, arg) < 0)):
                return None                                 # as keys, -0.0 would be 0.0, and a nan no other nan
            given.append(arg)
            continue
        number = not any(arg.strides)
        if arg.dtype is not dtype or not (arg.shape == shape and (number or arg.flags.c_contiguous)):
            return None
        given.append(_GIVEN["" if number else "R", dtype.char])
        used.append(arg)
    return Seen(tuple(given), used, (whole.size,), [shape])


def _along(*args: Any) -> Seen | None:
    """A call whose last argument is the dim of the others along which it works."""
    *arrays, dim = args
    x = arrays[0]
    shape, dtype = x.shape, x.dtype
    if not shape or not _lies(dtype, *arrays) or any([a.shape != shape for a in arrays]):
        return None
    after = math.prod(shape[dim + 1:])
    rows = x.size // (shape[dim] * after)
    given = _GIVEN["RN" if after == 1 else "RNB", dtype.char]
    sizes = (shape[dim], rows) if after == 1 else (after, shape[dim], rows)
    return Seen((*[given] * len(arrays), 1), arrays, sizes, [shape])


def _row_sums(x: Array) -> Seen | None:
    if not _lies(x.dtype, x):
        return None
    rows, length = x.shape
    return Seen((_GIVEN["RN", x.dtype.char],), [x], (length, rows), [(rows,)])


def _add_rows(table: Array, rows: Array, values: Array, *chosen: Array) -> Seen | None:
    if not _lies(table.dtype, table, values) or np.may_share_memory(table, values) or any(
            [numbers.dtype is not I64 or not numbers.flags.c_contiguous for numbers in (rows, *chosen)]):
        return None
    return Seen((_GIVEN["RN", table.dtype.char],), [table, rows, values, *chosen], (len(rows), table.shape[1]), [])


def _picking(whole: Array, index: Array, dim: int, *part: Array) -> Seen | None:
    if not _lies(whole.dtype, whole, *part) or index.dtype is not I64 or not index.flags.c_contiguous:
        return None
    shape = whole.shape
    sizes = math.prod(shape[:dim]), shape[dim], index.shape[dim], math.prod(shape[dim + 1:])
    return Seen((_GIVEN["RN", whole.dtype.char],), [whole, index, *part], sizes, [index.shape])


def _product(x: Array, y: Array) -> Seen | None:
    """A call for two matrices, or two stacks of matrices, whose rows or columns have no gaps inside."""
    size = x.itemsize
    (*x_next, row, step), (*y_next, gap, inner) = [[s // size for s in a.strides] for a in (x, y)]
    turned = gap == 1 != inner
    if turned:
        gap = inner
    if min(row, step) < 1 or (row != 1 and step != 1) or gap < 1 or (not turned and inner != 1) or not (
            x.flags.aligned and y.flags.aligned):
        return None
    sizes = row, step, gap, int(turned), *(x_next or (0,)), *(y_next or (0,))
    return Seen((_GIVEN["RN", x.dtype.char],), [x, y], sizes, [(*x.shape[:-1], y.shape[-1])])


def _convolution(x: Array, weight: Array, bias: Array, window: Window, groups: int) -> Seen | None:
    if not _lies(x.dtype, x, weight, bias):
        return None
    shape = len(x), len(weight), *window.outputs(x.shape[2:])
    return Seen((_GIVEN["RN", x.dtype.char],), [x, weight, bias], (window, groups), [shape])


def _convolution_weight(x: Array, g: Array, shape: Shape, window: Window) -> Seen | None:
    if not _lies(x.dtype, x, g):
        return None
    return Seen((_GIVEN["RN", x.dtype.char],), [x, g], (window,), [shape])


def _layer_norm(x: Array, weight: Array | None, bias: Array | None, rank: int, eps: float) -> Seen | None:
    dtype, shape = x.dtype, x.shape
    if not _lies(dtype, x, weight, bias):
        return None
    length, stats = math.prod(shape[len(shape) - rank:]), shape[:len(shape) - rank] + (1,) * rank
    row = _GIVEN["N", dtype.char]
    given = _GIVEN["RN", dtype.char], weight is not None and row, bias is not None and row
    arrays = [a for a in (x, weight, bias) if a is not None]
    return Seen((*[each or None for each in given], 1, eps), arrays, (length, x.size // length), [shape, stats, stats])


def _layer_norm_backward(g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array, rank: int, eps: float,
                         wanted: tuple[bool, ...]) -> Seen | None:
    dtype, shape = x.dtype, x.shape
    arrays = [g, x, weight, mean, rstd] if weight is not None else [g, x, mean, rstd]
    if not wanted[0] or not _lies(dtype, *arrays) or g.shape != shape:
        return None
    char, inner = dtype.char, shape[len(shape) - rank:]
    length, rows = math.prod(inner), _GIVEN["RN", char]
    given = (rows, rows, None if weight is None else _GIVEN["N", char], _GIVEN["R1", char], _GIVEN["R1", char])
    return Seen((*given, 1, eps, wanted), arrays, (length, x.size // length), [shape, *[inner] * (sum(wanted) - 1)])


def _channels(x: Array) -> tuple[str, tuple[int, ...]]:
    """The letters of (N, C, ...), whose rows are the channels, and the sizes."""
    after = math.prod(x.shape[2:])
    return ("AR", x.shape[:2]) if after == 1 else ("ARB", (len(x), after, x.shape[1]))


def _batch_norm(x: Array, weight: Array | None, bias: Array | None, eps: float) -> Seen | None:
    dtype, (letters, sizes) = x.dtype, _channels(x)
    if not _lies(dtype, x, weight, bias):
        return None
    row, stats = _GIVEN["R", dtype.char], x.shape[1:2]
    given = _GIVEN[letters, dtype.char], weight is not None and row, bias is not None and row
    arrays = [a for a in (x, weight, bias) if a is not None]
    return Seen((*[each or None for each in given], eps), arrays, sizes, [x.shape, stats, stats, stats])


def _group_norm(x: Array, weight: Array | None, bias: Array | None, groups: int, eps: float) -> Seen | None:
    dtype, shape = x.dtype, x.shape
    if not _lies(dtype, x, weight, bias):
        return None
    row, stats = Given(("AN",), dtype.char), (len(x), groups)
    given = Given(("R", "AN", "B"), dtype.char), weight is not None and row, bias is not None and row
    arrays = [a for a in (x, weight, bias) if a is not None]
    sizes = (groups, math.prod(shape[2:]), shape[1] // groups, len(x))
    return Seen((*[each or None for each in given], Size("A"), eps), arrays, sizes, [shape, stats, stats])


# The letters of arrays that are standardized over these axes, of the weight, and of mean and rstd.
_STANDARDIZED = {(2, (0,)): ("AR", "1R", "1R"), (3, (0, 2)): ("ARB", "1R1", "1R1"),
                 (4, (2, 3)): ("RANB", "1AN1", "RA11")}


def _standardizing(x: Array, axes: tuple[int, ...]) -> tuple[tuple[str, str, str], tuple[int, ...], Any] | None:
    """The letters of arrays, the sizes, and the axes for them, for batch and group normalization."""
    if x.ndim > 1 and axes == (0, *range(2, x.ndim)):
        letters, sizes = _channels(x)
        axes = (0,) if letters == "AR" else (0, 2)
        return _STANDARDIZED[len(letters), axes], sizes, axes
    if x.ndim == 4 and axes == (2, 3):
        return _STANDARDIZED[4, axes], (x.shape[1], x.shape[3], x.shape[2], len(x)), axes
    return None


def _standardize_backward(g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array, axes: Any,
                          eps: float) -> Seen | None:
    found, dtype = _standardizing(x, axes), x.dtype
    if found is None or not _lies(dtype, g, x, weight, mean, rstd) or g.shape != x.shape:
        return None
    (letters, of_weight, stats), sizes, axes = found
    if weight is not None and weight.size != math.prod([size for size, letter in zip(sizes, "ABNR" if len(
            sizes) == 4 else sorted(letters)) if letter in of_weight]):
        return None
    whole, stat = Given(letters, dtype.char), Given(stats, dtype.char)
    arrays = [g, x, weight, mean, rstd] if weight is not None else [g, x, mean, rstd]
    given = whole, whole, None if weight is None else Given(of_weight, dtype.char), stat, stat
    return Seen((*given, axes, eps), arrays, sizes, [x.shape])


def _standardized_sum(g: Array, x: Array, mean: Array, rstd: Array, over: Any, axes: Any, eps: float) -> Seen | None:
    found, dtype = _standardizing(x, axes), x.dtype
    if found is None or not _lies(dtype, g, x, mean, rstd) or g.shape != x.shape:
        return None
    (letters, _, stats), sizes, seen = found
    if over != ((0, 3) if len(letters) == 4 else axes):
        return None
    whole, stat = Given(letters, dtype.char), Given(stats, dtype.char)
    shape = tuple([1 if axis in over else n for axis, n in enumerate(x.shape)])
    return Seen((whole, whole, stat, stat, over if len(letters) == 4 else seen, seen, eps), [g, x, mean, rstd], sizes,
                [shape])


# How the calls of kernels are seen that do not compute element by element.
SEEN: dict[Any, Callable[..., Seen | None]] = {
    row_sums: _row_sums, adding_rows.add_rows: _add_rows, adding_rows.chosen_rows_added: _add_rows,
    picking.picked: _picking, picking.added: _picking,
    served_products.product: _product,
    served_convolution.gathered: _convolution, served_convolution.weight_gradient: _convolution_weight,
    softmax.softmax: _along, softmax.log_softmax: _along, softmax.softmax_backward: _along,
    softmax.log_softmax_backward: _along, normalization.layer_norm: _layer_norm,
    normalization.batch_norm: _batch_norm, normalization.group_norm: _group_norm,
    standardizing.layer_norm_backward: _layer_norm_backward,
    standardizing.standardize_backward: _standardize_backward, standardizing.standardized_sum: _standardized_sum}
