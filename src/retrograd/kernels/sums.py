"""Sums and means over axes, and `spread`, which repeats the gradient of a sum over the axes.

`axes` is a tuple of non-negative axes. Half precision is summed in single precision, as in PyTorch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..foundations.dtypes import F16, F32, F64, I64, Array, dtype as torch_dtype, letter
from ..foundations.errors import noted
from .elementwise.arithmetic import div_number
from .rows import BLOCK, TALL, WIDER, drifts, sums

_add = np.add.reduce


def spread(x: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> Any:
    """A read-only view of `x`, repeated along the axes that a reduction of `shape` removed.

    `np.broadcast_to` does the same, but takes ten times as long for a small array. This is the gradient of every sum.
    """
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    if x.ndim == 0:
        view: Any = np.ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    elif x.flags.c_contiguous and x.size:
        strides = [*x.strides]
        for axis in axes:
            if keepdim:
                strides[axis] = 0
            else:
                strides.insert(axis, 0)
        view = np.ndarray(shape, x.dtype, x, 0, strides)
    else:
        return np.broadcast_to(x if keepdim else np.expand_dims(x, axes), shape)
    view.flags.writeable = False
    return view


def shares(g: Any, shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool, n: int) -> Any:
    """The gradient of a mean: a share of `g` for each of the `n` elements that a mean combined."""
    return spread(div_number(g, n), shape, axes, keepdim).copy()


def count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    """How many elements of `shape` a reduction over `axes` combines into one."""
    return math.prod([shape[axis] for axis in axes])


def sum_all(x: Array, dtype: np.dtype[Any] | None) -> Any:
    """The sum of all elements. Bools and ints are summed in int64, unless `dtype` is given."""
    d = x.dtype
    if dtype is None and (d is F32 or d is F64):
        return sums(x, None, False) if x.size > BLOCK else _add(x, axis=None, out=...)
    return total(_add, x, None, False, dtype)


def sum_dim(x: Array, axes: tuple[int, ...], keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """The sums over `axes`. Bools and ints are summed in int64, unless `dtype` is given."""
    d = x.dtype
    if dtype is None and (d is F32 or d is F64):
        if x.size > BLOCK or (x.size > 2 * TALL and axes and x.shape[axes[0]] > 2 * TALL):
            return sums(x, axes, keepdim)
        return _add(x, axis=axes, keepdims=keepdim, out=...)
    return total(_add, x, axes, keepdim, dtype)


def of_kind(x: Array, dtype: np.dtype[Any]) -> Any:
    """`x`, or its real part if `x` is complex and `dtype` is not."""
    return x.real if x.dtype.kind == "c" != dtype.kind else x


def converted(x: Array, dtype: np.dtype[Any]) -> Any:
    """`x` as PyTorch adds it in a floating-point type: each number is rounded to the type first."""
    x = of_kind(x, dtype)
    return x.astype(dtype, copy=False) if letter(dtype) in "fc" else x


def total(reduce: Any, x: Array, axes: Any, keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """A sum or product in the dtype that PyTorch gives it, accumulated in a dtype that is wide enough."""
    if dtype is None:
        dtype = I64 if x.dtype.kind in "biu" else x.dtype
    x = converted(x, dtype)
    wide = F32 if dtype == F16 else dtype
    if reduce is _add and x.size > TALL and wide in WIDER and drifts(x, axes):
        wide = WIDER[wide]
    result = reduce(x, axis=axes, keepdims=keepdim, dtype=wide, out=...)
    return result if result.dtype == dtype else result.astype(dtype)


def mean_all(x: Array, dtype: np.dtype[Any] | None) -> Any:
    """The mean of all elements."""
    d = x.dtype
    if dtype is None and (d is F32 or d is F64):
        return np.asarray((sums(x, None, False) if x.size > BLOCK else _add(x, axis=None)) / x.size)
    return mean_dim(x, tuple(range(x.ndim)), False, dtype)


def mean_dim(x: Array, axes: tuple[int, ...], keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """The means over `axes`."""
    final = x.dtype if dtype is None else dtype
    if final.kind not in "fc":
        which = "Input" if dtype is None else "Optional"
        raise noted(
            RuntimeError(f"mean(): could not infer output dtype. {which} dtype must be either a floating point or "
                         f"complex dtype. Got: {torch_dtype.of[final].legacy}"),
            instead="convert with .float() or dtype=")
    x = of_kind(x, final)
    if x.dtype is final and final is not F16:
        totals = sums(x, axes, keepdim)
    else:
        totals = _add(x, axis=axes, keepdims=keepdim, dtype=F32 if final == F16 else final, out=...)
    means = np.divide(totals, count(x.shape, axes), out=totals)
    return means if means.dtype == final else means.astype(final)


def nansum(x: Array, axes: tuple[int, ...], keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """The sums over `axes` of the elements that are not nan."""
    if x.dtype.kind == "c":
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if x.dtype.kind == "f":
        if dtype is None and x.dtype != F16:
            totals = sums(x, axes, keepdim)
            if not np.isnan(totals).any():                  # so there is no nan to leave out
                return totals
        x = np.where(np.isnan(x), np.zeros((), x.dtype), x)
    return total(_add, x, axes, keepdim, dtype)
