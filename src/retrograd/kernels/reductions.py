"""Reductions over axes beside sums: products, variances, extremes, any and all.

`axes` is a tuple of non-negative axes. Half precision is summed in single precision, as in PyTorch. Products of halves
are rounded at each step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..foundations.dtypes import F16, F32, F64, I64, Array, is_half, letter, refuse
from .elementwise.elementary import widened
from .options import rounds_steps
from .rows import TALL, drifts, extremes, places_of_extremes, product_of_all, products, sums, sums_of_squares
from .sums import count, of_kind, spread, total
from .thresholds import ROWS

# Over more elements, the rounding error of a mean shows in the variance, if NumPy adds one element after the other.
_FEW = 64
# PyTorch multiplies four vectors of 16 halves at a time, if they are neighbors in memory. What remains is multiplied
# one by one.
_LANES = 16
_AT_ONCE = 4 * _LANES
_add, _multiply, _maximum, _minimum = np.add.reduce, np.multiply.reduce, np.maximum.reduce, np.minimum.reduce


@rounds_steps
def prod_all(x: Array, dtype: np.dtype[Any] | None) -> Any:
    """The product of all elements. Bools and ints are multiplied in int64, unless `dtype` is given."""
    final = x.dtype if dtype is None else dtype
    if is_half(final):
        return _stepwise_product(of_kind(x, final).astype(final, copy=False))
    if dtype is None and (x.dtype is F32 or x.dtype is F64 or x.dtype is I64):
        return product_of_all(x)
    return total(_multiply, x, None, False, dtype)


@rounds_steps
def prod_dim(x: Array, dim: int, keepdim: bool, dtype: np.dtype[Any] | None) -> Any:
    """The products along `dim`."""
    final = x.dtype if dtype is None else dtype
    if is_half(final):
        return _stepwise_products(of_kind(x, final).astype(final, copy=False), dim, keepdim)
    if dtype is None and (x.dtype is F32 or x.dtype is F64):
        return products(x, dim, keepdim)
    return total(_multiply, x, dim, keepdim, dtype)


# `accumulate` rounds each step to the type. `reduce` of NumPy keeps float16 in float32 meanwhile.

def _stepwise_products(x: Array, dim: int, keepdim: bool) -> Any:
    """The products along `dim`."""
    if x.ndim == 0:
        return x.copy()
    lines = np.moveaxis(x, dim, -1)
    found = _one_by_one(_factors(lines) if x.strides[dim] == x.itemsize else lines)
    return np.expand_dims(found, dim) if keepdim else found


def _stepwise_product(x: Array) -> Any:
    """The product of all elements, in the order in which they lie in memory."""
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis] if x.shape[axis] > 1 else 0)
    x = x.transpose(order)
    if x.flags.c_contiguous:
        x = x.reshape(-1)
    if not x.ndim or x.strides[-1] == x.itemsize:
        x = _factors(np.atleast_1d(x))
    return _one_by_one(x.reshape(-1))


def _one_by_one(lines: Array) -> Any:
    """The products of lines along the last dim, from the first element on."""
    if not lines.shape[-1]:
        return np.ones(lines.shape[:-1], lines.dtype)
    return np.array(np.multiply.accumulate(lines, -1)[..., -1])


def _factors(lines: Array) -> Any:
    """The factors that PyTorch multiplies one by one: the product of the whole blocks of a line, then the rest."""
    count = lines.shape[-1] // _AT_ONCE
    if not count:
        return lines
    blocks = lines[..., :count * _AT_ONCE].reshape(*lines.shape[:-1], count, 4, _LANES)
    vectors = np.multiply.accumulate(blocks, -3)[..., -1, :, :]
    vector = (vectors[..., 0, :] * vectors[..., 1, :]) * (vectors[..., 2, :] * vectors[..., 3, :])
    return np.concatenate((_one_by_one(vector)[..., None], lines[..., count * _AT_ONCE:]), -1)


def has_zero(x: Array) -> Any:
    """Whether an element is 0."""
    return np.asarray(not x.all())


def shift(x: Array, dim: int, step: int, fill: Any) -> Any:
    """`x` shifted by one place along `dim` (up for step 1, down for -1). `fill` enters at the other end."""
    result = np.empty_like(x)
    head, tail = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    head[dim], tail[dim] = slice(None, -1), slice(1, None)
    edge = [slice(None)] * x.ndim
    if step > 0:
        edge[dim] = slice(None, 1)
        result[tuple(tail)] = x[tuple(head)]
    else:
        edge[dim] = slice(-1, None)
        result[tuple(head)] = x[tuple(tail)]
    result[tuple(edge)] = fill
    return result


# A variance that is smaller than this is made of squares that float32 holds with few digits.
_LEAST = 1e-30
# A variance that is smaller than this part of the square of the mean may be that of the rounding errors of the mean.
_PART = {F32: 2.0 ** -22, F64: 2.0 ** -52}


def _spread_and_mean(x: Array, axes: tuple[int, ...], keepdim: bool, correction: float, root: bool) -> tuple[Any, Any]:
    """The variance or its root, and the mean, which keeps the axes. Two passes; half is computed in single."""
    if x.dtype.kind not in "fc":
        raise RuntimeError("std and var only support floating point and complex dtypes")
    wide, n = widened(x), count(x.shape, axes)
    drift = n > _FEW and drifts(wide, axes)
    few = wide.size < ROWS and wide.dtype.kind == "f" and not (drift and n > TALL)    # fewer calls
    means = np.divide(_add(wide, axis=axes, keepdims=True) if few else sums(wide, axes, True), n, out=...)
    off = np.subtract(wide, means, out=...)
    if drift:                                              # the rounding error of the means would be squared
        rest = np.divide(sums(off, axes, True), n, out=...)
        off -= rest
        means += rest
    if few:
        variance = _add(np.multiply(off, off, out=off), axis=axes, keepdims=keepdim, out=...)
    elif off.dtype.kind == "f":
        variance = sums_of_squares(off, axes, keepdim)
    else:
        variance = sums(np.square(off.real) + np.square(off.imag), axes, keepdim)
    np.divide(variance, max(n - correction, 0) if n else 0, out=variance)
    odd = _unsure(variance, means, x.dtype) if x.dtype in _PART and n > max(correction, 0) else None
    if root:
        np.sqrt(variance, out=variance)
    if odd is not None:
        _compute_in_double(x, axes, correction, root, odd, variance, means)
    return variance.astype(F16) if x.dtype == F16 else variance, means


def _unsure(variance: Array, means: Array, dtype: np.dtype[Any]) -> Array | None:
    """Where squares were too large or too small for the digits of a variance, or the variance is small beside the mean;
    None if nowhere.
    """
    least, part = _LEAST if dtype == F32 else 0.0, _PART[dtype]
    if not variance.size:
        return None
    if variance.size > 1:
        low, high = _minimum(variance, axis=None), _maximum(variance, axis=None)
        largest = max(_maximum(means, axis=None), -_minimum(means, axis=None))
    else:
        low = high = variance.item()
        largest = means.item()
    with np.errstate(over="ignore", invalid="ignore"):
        if low >= least and low > part * (largest * largest) and (high < math.inf or dtype == F64):
            return None
        odd: Array = variance <= part * np.square(means).reshape(variance.shape)
    return odd | ~((variance >= least) & (variance < math.inf)) if dtype == F32 else odd


def _compute_in_double(x: Array, axes: tuple[int, ...], correction: float, root: bool, odd: Array, found: Array,
                       means: Array) -> None:
    """Write the variances or deviations, and the means, at the places `odd` again: in float64, from the differences to
    the first element. PyTorch computes all in float64, element by element, so equal elements have no variance.
    """
    others = tuple([axis for axis in range(x.ndim) if axis not in axes])
    shape = tuple([x.shape[axis] for axis in others])
    places = np.array(odd).reshape(shape)
    lines = x.transpose(*others, *axes)[places]
    lines = lines.reshape(len(lines), math.prod(lines.shape[1:]))
    finite = np.isfinite(lines).all(axis=1)                # of infinite elements, float64 knows no more
    places[places] = finite
    lines = lines[finite]
    exact, exact_means = np.zeros(len(lines)), lines[:, 0].astype(F64)      # as they are if all elements are equal
    varied = (lines != lines[:, :1]).any(axis=1)
    if varied.any():
        off, n = lines[varied].astype(F64) - exact_means[varied, None], lines.shape[1]
        rest = _add(off, axis=1, keepdims=True) / n
        off -= rest
        missed = _add(off, axis=1)
        exact[varied] = (_add(np.square(off), axis=1) - missed * missed / n) / (n - correction)
        exact_means[varied] += rest[:, 0] + missed / n
    found.reshape(shape)[places] = np.sqrt(exact) if root else exact
    means.reshape(shape)[places] = exact_means


def _alike(found: Array, means: Array, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Variances or deviations, and the means in the same shape and in this dtype."""
    return found, means.reshape(found.shape).astype(dtype, copy=False)


def var(x: Array, axes: tuple[int, ...], keepdim: bool, correction: float) -> Any:
    """The variances over `axes`, divided by the number of elements minus `correction`."""
    return _spread_and_mean(x, axes, keepdim, correction, False)[0]


def std(x: Array, axes: tuple[int, ...], keepdim: bool, correction: float) -> Any:
    """The standard deviations over `axes`."""
    return _spread_and_mean(x, axes, keepdim, correction, True)[0]


def var_mean(x: Array, axes: tuple[int, ...], keepdim: bool, correction: float) -> tuple[Any, Any]:
    """Variances and means."""
    return _alike(*_spread_and_mean(x, axes, keepdim, correction, False), x.dtype)


def std_mean(x: Array, axes: tuple[int, ...], keepdim: bool, correction: float) -> tuple[Any, Any]:
    """Standard deviations and means."""
    return _alike(*_spread_and_mean(x, axes, keepdim, correction, True), x.dtype)


def nonempty(name: str, shape: tuple[int, ...], axes: Iterable[int]) -> None:
    """Raises IndexError for a reduction without an identity over an axis of size 0."""
    for axis in axes:
        if shape and shape[axis] == 0:
            raise IndexError(f"{name}: Expected reduction dim {axis} to have non-zero size.")


def extreme(x: Array, axes: tuple[int, ...], keepdim: bool, largest: bool) -> Any:
    """The largest or smallest elements over `axes`, or nan if an element is nan."""
    refuse(x.dtype, "max_values_cpu" if largest else "min_values_cpu")
    return extremes(x, axes, keepdim, largest)


def extreme_all(x: Array, largest: bool) -> Any:
    """The largest or smallest element of all."""
    refuse(x.dtype, "max_all" if largest else "min_all")
    return (_maximum if largest else _minimum)(x, axis=None, out=...)


def extreme_dim(x: Array, dim: int, keepdim: bool, largest: bool) -> tuple[Any, Any]:
    """The largest or smallest elements along `dim`, and the first index of each."""
    if x.dtype.kind == "c":
        raise RuntimeError(f"{'max' if largest else 'min'}(): does not support complex input")
    if x.size < ROWS:
        values = (_maximum if largest else _minimum)(x, axis=dim, keepdims=keepdim, out=...)
        return values, argextreme(x, dim, keepdim, largest)
    rows = np.ascontiguousarray(np.moveaxis(x, dim, -1))
    shape = (*x.shape[:dim], *(1,) * keepdim, *x.shape[dim + 1:])
    values, indices = places_of_extremes(rows.reshape(-1, rows.shape[-1]), largest)
    return values.reshape(shape), indices.reshape(shape)


def aminmax(x: Array, axes: tuple[int, ...], keepdim: bool) -> tuple[Any, Any]:
    """The smallest and the largest elements over `axes`."""
    refuse(x.dtype, "aminmax_cpu")
    return extreme(x, axes, keepdim, False), extreme(x, axes, keepdim, True)


def argextreme(x: Any, dim: int | None, keepdim: bool, largest: bool) -> Any:
    """The index of the first largest or smallest element along `dim`, or in the flattened array."""
    if not x.ndim:
        dim = None
    return np.asarray(x.argmax(dim, keepdims=keepdim) if largest else x.argmin(dim, keepdims=keepdim))


def tied(x: Array, out: Array, axes: tuple[int, ...], keepdim: bool, nans_are_equal: bool) -> Any:
    """The divisors of an extreme's gradient: the number of elements equal to `out`, or infinity for the others.

    If no element equals `out` because `out` is nan, the divisor is nan.
    """
    out = spread(out, x.shape, axes, keepdim)
    equal = np.equal(x, out)
    if nans_are_equal:
        equal |= np.isnan(x) & np.isnan(out)
    how_many = np.count_nonzero(equal, axis=axes, keepdims=True)
    return np.where(equal, how_many, np.where(how_many == 0, math.nan, math.inf)).astype(x.dtype)


def any_of(x: Array, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Whether an element over `axes` is not zero. For uint8 the answer is uint8."""
    result = np.logical_or.reduce(x, axis=axes, keepdims=keepdim, out=...)
    return result if x.dtype != np.uint8 else result.astype(np.uint8)


def all_of(x: Array, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Whether no element over `axes` is zero. For uint8 the answer is uint8."""
    result = np.logical_and.reduce(x, axis=axes, keepdims=keepdim, out=...)
    return result if x.dtype != np.uint8 else result.astype(np.uint8)


def count_nonzero(x: Array, axes: tuple[int, ...]) -> Any:
    """How many elements over `axes` are not zero."""
    nonzero = x if x.dtype.kind == "b" else x != 0
    if len(axes) == x.ndim:
        return np.asarray(np.count_nonzero(nonzero), I64)   # NumPy counts many bools at once
    return np.add.reduce(nonzero, axes, I64)


def xor_of_bits(x: Array, axes: tuple[int, ...], keepdim: bool) -> Any:
    """The exclusive or of the elements over `axes`, as 64 bits: floats as float64, others as int64."""
    wide = x.astype(np.float64 if letter(x.dtype) == "f" else I64)
    return np.bitwise_xor.reduce(wide.view(np.uint64), axis=axes, keepdims=keepdim, out=...)
