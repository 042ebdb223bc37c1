"""Norms, slices scaled down to a norm, cross products, and distances: of two arrays, or between all pairs of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, dtype as torch_dtype, require
from ..elementwise.elementary import delivered, widened
from ..rows import sums, sums_of_squares
from ..sums import count
from ..thresholds import DISTANCES_BLOCK, DISTANCES_ROWS


def norm(x: Array, p: float, axes: tuple[int, ...], keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """(sum |x|^p)^(1/p) over `axes`. For p = 0 it counts the nonzero elements; for p = ±inf it is the extreme |x|."""
    if dtype is not None and dtype != x.dtype:
        x = x.astype(dtype)
    final = x.real.dtype
    if p != 0 and count(x.shape, axes) == 1:              # without overflow, as in PyTorch
        size = np.abs(x, out=...)
        return size if keepdim else size.squeeze(axes)
    wide = widened(x)
    if p == 2 and wide.dtype.kind == "f":
        result = sums_of_squares(wide, axes, keepdim)
        return np.sqrt(result, out=result).astype(final, copy=False)
    size = np.abs(wide, out=...)
    if p in (math.inf, -math.inf):
        result = (np.maximum if p > 0 else np.minimum).reduce(size, axis=axes, keepdims=keepdim, out=...)
    elif p == 0:
        result = np.asarray(np.count_nonzero(size, axis=axes, keepdims=keepdim))
    elif p == 1:
        result = sums(size, axes, keepdim)
    elif p == 2:
        result = sums(np.square(size, out=size), axes, keepdim)
        np.sqrt(result, out=result)
    else:
        result = np.power(sums(np.power(size, p, out=...), axes, keepdim), 1.0 / p, out=...)
    return result.astype(final, copy=False)



def weight_norm(v: Array, scale: Array, dim: int) -> Any:
    """The slices of `v` along a dimension, scaled to these norms."""
    require(v.dtype.kind == "f", "weight_norm_kernel", v.dtype)
    axes = tuple([axis for axis in range(v.ndim) if axis != dim])
    return np.multiply(v, scale / norm(v, 2, axes, True, None), out=...)


def dist(x: Array, y: Array, p: float) -> Any:
    """The p-norm of x - y."""
    if x.dtype.kind not in "fc":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{torch_dtype.of[x.dtype].legacy} instead.")
    off = np.subtract(x, y, out=...)
    return norm(off, p, tuple(range(off.ndim)), False, None)


def renorm(x: Array, p: float, dim: int, maxnorm: float) -> Any:
    """The slices along `dim`. A slice whose p-norm exceeds `maxnorm` is scaled down to that norm."""
    wide = widened(x)
    size = norm(wide, p, tuple([axis for axis in range(x.ndim) if axis != dim]), True, None)
    factor = np.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0).astype(size.dtype)
    return np.multiply(wide, factor, out=...).astype(x.dtype, copy=False)


def cross(x: Array, y: Array, dim: int) -> Any:
    """The cross products of the vectors of length 3 along `dim`."""
    shape = x.shape if x.shape == y.shape else np.broadcast_shapes(x.shape, y.shape)
    result = np.empty(shape, x.dtype)
    (a, b, c), (d, e, f), out = (array.swapaxes(0, dim) for array in (x, y, result))
    for left, right, other_left, other_right, element in ((b, f, c, e, out[0, ...]), (c, d, a, f, out[1, ...]),
                                                         (a, e, b, d, out[2, ...])):
        np.multiply(left, right, out=element)
        element -= other_left * other_right
    return result


def _norms(difference: Array, p: float, largest: np.ufunc) -> Any:
    """The p-norms along the third-last dimension, where whole matrices are added. Overwrites the differences.

    `largest` finds the larger of two sizes for p = inf.
    """
    size = np.abs(difference, out=difference)
    if p == 0:
        counts = np.count_nonzero(size, axis=-3).astype(size.dtype)
        return np.where(np.isnan(size).any(-3), size.dtype.type(math.nan), counts)      # other than in a norm
    if p == 1:
        return np.add.reduce(size, axis=-3)
    if p == 2:
        return np.sqrt(np.add.reduce(np.multiply(size, size, out=size), axis=-3))
    if p == math.inf:
        return largest.reduce(size, axis=-3, initial=0.0)
    return np.add.reduce(np.power(size, p, out=size), axis=-3) ** (1.0 / p)


def cdist(x: Array, y: Array, p: float) -> Any:
    """The p-norm of the difference of each row of `x` and each row of `y`, for stacks of matrices."""
    return _distances(x, y, p, np.fmax)          # PyTorch leaves out a difference that is nan here, but not in pdist


def _distances(x: Array, y: Array, p: float, largest: np.ufunc) -> Any:
    stack = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows, columns, inner = x.shape[-2], y.shape[-2], x.shape[-1]
    result = np.empty((*stack, rows, columns), x.dtype)
    step = max(1, DISTANCES_BLOCK // max(1, math.prod(stack) * columns * inner))
    first, second = x.swapaxes(-1, -2)[..., None], np.ascontiguousarray(y.swapaxes(-1, -2))[..., None, :]
    for i in range(0, rows, step):
        result[..., i : i + step, :] = _norms(first[..., i : i + step, :] - second, p, largest)
    return result


def euclidean_dist(x: Array, y: Array) -> Any:
    """`cdist` for p = 2 by a product of matrices: fast, but near 0 only as accurate as the rounding of the squares."""
    squares = np.matmul(x, y.swapaxes(-1, -2), out=...)
    np.multiply(squares, -2.0, out=squares)
    squares += np.einsum("...m,...m->...", x, x)[..., None]
    squares += np.einsum("...m,...m->...", y, y)[..., None, :]
    np.maximum(squares, 0.0, out=squares)
    return np.sqrt(squares, out=squares)


def pdist(x: Array, p: float) -> Any:
    """The p-norms of the differences of each row and each later row, row after row."""
    rows = len(x)
    if rows < 2:
        return np.zeros(0, x.dtype)
    parts = []
    for i in range(0, rows, DISTANCES_ROWS):
        matrix = _distances(x[i : i + DISTANCES_ROWS], x[i:], p, np.maximum)
        parts += [line[k + 1 :] for k, line in enumerate(matrix)]
    return delivered(np.concatenate(parts), ...)


def symmetric(x: Array, rows: int) -> Any:
    """The symmetric matrix with these elements above the diagonal, row after row, and a diagonal of zeros."""
    result = np.zeros((rows, rows), x.dtype)
    above = np.triu_indices(rows, 1)
    result[above] = x
    result.T[above] = x
    return result


def paired(x: Array) -> Any:
    """The elements above the diagonal of a matrix, row after row, each added to its mirror element."""
    return (x + x.T)[np.triu_indices(len(x), 1)]
