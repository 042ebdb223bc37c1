"""Standardization: x minus its mean, divided by its deviation, over some axes; and the parts of its derivatives.

`mean` and `rstd` (1 / the deviation) have the rank of x, with size 1 along `axes`. If the axes are the last axes, the
work is done in blocks of rows. Half precision is computed in single precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ..elementwise.elementary import widened
from ..linalg.line_products import add_thin, by_row, row_dots, thin, weighted_rows
from ..native.blas import alone
from ..native.served import served
from ..native.threads import blocks, in_parts
from ..thresholds import NORM_ALONE, NORM_BLOCK, NORM_ROWS, NORM_SUMS_BLOCK, NORM_WHOLE
from .channels import length_of_runs, near, runs_backward, runs_sum
from .moments import sum_over_rows, sums

# If the squares of means, each in deviations of its row, add up to more than this, means are computed again: the last
# bit of a mean may be no small part of a deviation.
_FAR_MEAN = 4096.0


def _length(x: Array, axes: tuple[int, ...]) -> int:
    """The size of a row if the axes are the last axes, else 0."""
    if len(axes) == 1:
        return x.shape[-1] if x.size and axes[0] == x.ndim - 1 else 0
    if not x.size or axes != tuple(range(x.ndim - len(axes), x.ndim)):
        return 0
    return math.prod([x.shape[axis] for axis in axes])


def _row(array: Array, axes: tuple[int, ...], length: int) -> Any:
    """An array that is the same for all rows, as one row; None if it differs between rows."""
    if array.shape == (length,) and len(axes) == 1:
        return array
    if array.size != length or (array.shape[-len(axes):].count(1) and length != 1 and math.prod(
            array.shape[-len(axes):]) != length):
        return None
    return array.reshape(length)


def standardized_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Any, Any, Any]:
    """The standardized rows of a matrix, times `weight` plus `bias` (rows or None); the means and the rstds."""
    if x.size < NORM_ROWS:
        return _few_rows(x, weight, bias, eps)
    count, length = x.shape
    if x.size <= NORM_WHOLE and length <= count and (found := _some_rows(x, weight, bias, eps)) is not None:
        return found
    out, mean, columns = np.empty(x.shape, x.dtype), np.empty(count, x.dtype), np.empty((3, count), x.dtype)
    ones, step = np.ones(length, x.dtype), max(1, NORM_BLOCK // length)
    lines, bare = np.zeros((4, length), x.dtype), weight is None and bias is None
    lines[0] = 1.0 if weight is None else weight
    np.negative(lines[0], out=lines[2])
    if bias is not None:
        lines[3] = bias
    columns[2] = 1.0

    def work(start: int, stop: int) -> None:
        for block in blocks(start, stop, step):
            rows, part, middle, factors = x[block], out[block], mean[block], columns[:, block]
            far = _moments_of_rows(rows, ones, eps, middle, factors[0], part)
            if far or bare:
                if not far:
                    np.subtract(rows, middle[:, None], out=part)
                part *= factors[0][:, None]
                if not bare:
                    np.add(np.multiply(part, lines[0], out=part), lines[3], out=part)
            else:
                # x * (rstd * weight) + (bias - mean * rstd * weight): for products of thin matrices the BLAS takes half
                # as long as broadcasting.
                np.multiply(middle, factors[0], out=factors[1])
                part = thin(lines[:2], factors[:2], part)
                part *= rows
                add_thin(lines[2:], factors[1:], part)

    _over_rows(work, x)
    return out, mean, columns[0].copy()


def _over_rows(work: Callable[[int, int], object], x: Array) -> None:
    """Run the work on ranges of rows of x, in threads if x is large. The BLAS then uses no threads of its own."""
    with alone() if x.size >= NORM_ALONE else nullcontext():
        in_parts(work, len(x), x.size)


def _few_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Any, Any, Any]:
    """`standardized_rows` with the fewest calls."""
    length = x.shape[1]
    mean = np.add.reduce(x, axis=1)
    mean /= length
    out = x - mean[:, None]
    rstd = _few_inverse_deviations(out, eps)
    far = mean * rstd
    if far.dot(far) > _FAR_MEAN:                            # the rounding of a mean counts
        off = np.add.reduce(out, axis=1)
        off /= length
        mean += off
        out -= off[:, None]
        rstd = _few_inverse_deviations(out, eps)
    out *= rstd[:, None]
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out, mean, rstd


def _few_inverse_deviations(off: Array, eps: float) -> Any:
    """1 / the deviation of each row, from the differences to the mean."""
    rstd = np.vecdot(off, off)
    rstd /= off.shape[1]
    rstd += eps
    return np.reciprocal(np.sqrt(rstd, out=rstd), out=rstd)


def _some_rows(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Any, Any, Any] | None:
    """`standardized_rows` by products of thin matrices. None if differences of sums lose digits, or there is a nan."""
    count, length = x.shape
    if weight is None or bias is None:
        return None
    ones, columns = np.ones((length, 2), x.dtype), np.ones((3, count), x.dtype)
    level, rest = x.dot(ones)[:, 0], np.multiply(x, x).dot(ones)[:, 0]
    mean = level / length
    level *= mean
    rest -= level
    if not (level <= 15.0 * rest).all():
        return None
    rest += length * eps
    rstd = np.divide(math.sqrt(length), np.sqrt(rest, out=rest))
    columns[0] = rstd
    np.multiply(mean, rstd, out=columns[1])
    lines = np.zeros((4, length), x.dtype)
    lines[0], lines[3] = weight, bias
    np.negative(weight, out=lines[2])
    out = columns[:2].T.dot(lines[:2])
    out *= x
    out += columns[1:].T.dot(lines[2:])
    return out, mean, rstd


def _moments_of_rows(x: Array, ones: Array, eps: float, mean: Array, rstd: Array, out: Array) -> bool:
    """Mean and 1 / deviation of each row, from its sum and its squares.

    This loses digits if a mean is large against its deviation. Then, or if there is a nan, the result is True, and
    `out` holds x minus its mean, from which the deviation was computed. (Threads meet at the interpreter's lock after
    each call, so there are few calls.)
    """
    length = x.shape[1]
    level = by_row(x, ones)
    np.divide(level, length, out=mean)
    np.copyto(rstd, row_dots(x, x))
    level *= mean
    rstd -= level
    far = not (level <= 15.0 * rstd).all()
    if far:
        np.subtract(x, mean[:, None], out=out)
        out -= (by_row(out, ones) / length)[:, None]
        np.copyto(rstd, row_dots(out, out))
    rstd += length * eps
    np.divide(math.sqrt(length), np.sqrt(rstd, out=rstd), out=rstd)
    return far


def standardize(x: Array, mean: Array, rstd: Array, axes: tuple[int, ...], eps: float) -> Any:
    """(x - mean) * rstd. The mean and rstd are functions of x: its moments over the axes."""
    out = np.subtract(x, mean, out=..., dtype=np.result_type(x, mean))
    return np.multiply(out, rstd, out=out).astype(x.dtype, copy=False)


def standardize_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, axes: Any, eps: float) -> Any:
    """The gradient by x of standardize(x) * weight: rstd * (gw - mean(gw) - s * mean(gw * s)), gw = g * weight."""
    if x.size >= NORM_ROWS and (found := served(standardize_backward, g, x, weight, mean, rstd, axes, eps)) is not None:
        return found
    final, length = x.dtype, _length(x, axes)
    g, x, weight, mean, rstd = (None if a is None else widened(a) for a in (g, x, weight, mean, rstd))
    row, run = None, length_of_runs(x, axes, weight if weight is not None and weight.ndim == x.ndim else None)
    if weight is not None:
        row = _row(weight, axes, length) if length else None
    if run and run != length and (weight is None or weight.ndim == x.ndim):
        return runs_backward(g, x, weight, mean, rstd, axes, run).astype(final, copy=False)
    if weight is not None and row is None:
        g = g * weight
    if length:
        out = _rows_backward(g.reshape(-1, length), x.reshape(-1, length), row, mean.reshape(-1), rstd.reshape(-1))
        return out.reshape(x.shape).astype(final, copy=False)
    count = x.dtype.type(max(math.prod([x.shape[axis] for axis in axes]), 1))
    scaled = np.subtract(x, mean, out=...)
    scaled *= rstd
    slope, level = sums(g, axes, scaled) / count, sums(g, axes) / count
    scaled *= slope
    scaled += level
    out = np.subtract(g, scaled, out=scaled)
    out *= rstd
    return out.astype(final, copy=False)


def _rows_backward(g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array) -> Any:
    """The gradient as rstd * weight * g + slope * x + level, with a slope and a level for each row."""
    if x.size < NORM_ROWS:
        return _few_rows_backward(g if weight is None else g * weight, x, mean, rstd)
    x, mean = near(x, mean[:, None], rstd[:, None])
    mean = mean[:, 0]
    count, length = x.shape
    if x.size <= NORM_WHOLE and length <= count:
        return _some_rows_backward(g, x, weight, mean, rstd)
    return _gradients_of_rows(g, x, weight, mean, rstd, False)[0]


def _gradients_of_rows(g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array,
                       sums: bool) -> tuple[Any, Any, Any]:
    """`_rows_backward`, and if asked for the sums over rows of g * standardize(x) and of g, in one pass.

    The sums are added up in the order of the rows, and those of blocks in double precision.
    """
    (count, length), found = x.shape, []
    out, step, ones = np.empty(x.shape, x.dtype), max(1, NORM_BLOCK // length), np.ones(max(x.shape), x.dtype)
    line, columns, shift = ones[:length] if weight is None else weight, np.zeros((2, count), x.dtype), mean * rstd
    lines, columns[0] = np.array([line, line]), rstd

    def work(start: int, stop: int) -> None:
        ranges, totals = blocks(start, stop, step), np.zeros((2, length), F64)
        spare = np.empty((max(block.stop - block.start for block in ranges), length), x.dtype)
        for block in ranges:
            part, inverse, middle, rows, share = out[block], rstd[block], mean[block], x[block], g[block]
            np.multiply(share, rows, out=part)
            if sums:
                totals[0] += weighted_rows(inverse, part) - weighted_rows(shift[block], share)
                totals[1] += weighted_rows(ones[:len(part)], share)
            dots, level = by_row(part, line), by_row(share, line)
            np.multiply(thin(lines, columns[:, block], part), share, out=part)
            slope = (level * middle - dots) * inverse * (inverse * inverse / length)
            part += np.multiply(rows, slope[:, None], out=spare[:len(part)])
            add_thin(ones[None, :length], (-slope * middle - level * inverse / length)[None], part)
        found.append(totals)

    _over_rows(work, x)
    return out, *sum(found[1:], found[0])


def _few_rows_backward(g: Array, x: Array, mean: Array, rstd: Array) -> Any:
    """`_rows_backward` with the fewest calls, for a g that includes the weight."""
    length, rstd = x.shape[1], rstd[:, None]
    scaled = x - mean[:, None]
    scaled *= rstd
    scaled *= (np.vecdot(g, scaled) / length)[:, None]
    scaled += (np.add.reduce(g, axis=1) / length)[:, None]
    out = np.subtract(g, scaled, out=scaled)
    out *= rstd
    return out


def _some_rows_backward(g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array) -> Any:
    """`_rows_backward` by products of thin matrices, for an x that is near its means."""
    count, length = x.shape
    columns, lines, ones = np.zeros((2, count), x.dtype), np.ones((2, length), x.dtype), np.ones((length, 2), x.dtype)
    columns[0] = rstd
    if weight is not None:
        lines[0] = weight
    out = columns.T.dot(lines)
    out *= g
    total, product = out.dot(ones)[:, 0], np.multiply(out, x)
    slope = np.multiply(total, mean)
    slope -= product.dot(ones)[:, 0]
    slope *= rstd
    slope *= rstd
    slope /= length
    np.multiply(x, slope[:, None], out=product)
    out += product
    slope *= mean
    total /= length
    slope += total
    columns[0] = slope
    lines[0] = -1.0
    out += columns.T.dot(lines)
    return out


def standardized_sum(g: Array, x: Array, mean: Array, rstd: Array, over: tuple[int, ...], axes: tuple[int, ...],
                     eps: float) -> Any:
    """The sum of g * standardize(x) over the axes `over`, which keep size 1: the gradient of a weight."""
    if x.size >= NORM_ROWS and (found := served(standardized_sum, g, x, mean, rstd, over, axes, eps)) is not None:
        return found
    final, length = mean.dtype, _length(x, axes)           # the mean has the weight's dtype
    g, x, mean, rstd = (widened(a) for a in (g, x, mean, rstd))
    if length and over == tuple(range(x.ndim - len(axes))):
        x, mean = near(x, mean, rstd)
        total = _rows_sum(g.reshape(-1, length), x.reshape(-1, length), mean.reshape(-1) * rstd.reshape(-1),
                          rstd.reshape(-1))
        return total.astype(final, copy=False).reshape([1 if axis in over else n for axis, n in enumerate(x.shape)])
    run = length_of_runs(x, over, mean)
    if run:
        return runs_sum(g, x, mean, rstd, over, run).astype(final)
    scaled = np.subtract(x, mean, out=...)
    scaled *= rstd
    return sums(g, over, scaled).astype(final, copy=False)


def _rows_sum(g: Array, x: Array, shift: Array, rstd: Array) -> Any:
    """The sum over rows of g * (x * rstd - shift). Blocks are added in double precision."""
    if x.size < NORM_ROWS:
        return weighted_rows(rstd, g * x) - weighted_rows(shift, g)
    length = x.shape[1]
    step, found = max(1, NORM_SUMS_BLOCK // length), []

    def work(start: int, stop: int) -> None:
        ranges = blocks(start, stop, step)
        total, spare = np.zeros(length, F64), np.empty((max(b.stop - b.start for b in ranges), length), x.dtype)
        for block in ranges:
            share, rows = g[block], x[block]
            total += weighted_rows(rstd[block], np.multiply(share, rows, out=spare[:len(rows)]))
            total -= weighted_rows(shift[block], share)
        found.append(total)

    _over_rows(work, x)
    return sum(found[1:], found[0])


def layer_norm_backward(g: Array, x: Array, weight: Array, mean: Array, rstd: Array, rank: int, eps: float,
                        wanted: tuple[bool, ...]) -> tuple[Any, Any, Any]:
    """The gradients of `layer_norm` by x, by the weight and by the bias; None for each that is not wanted."""
    if x.size >= NORM_ROWS:
        made = served(layer_norm_backward, g, x, weight, mean, rstd, rank, eps, wanted)
        if made is not None:
            each = iter(made if type(made) is tuple else (made,))
            return tuple([next(each) if want else None for want in wanted])  # type: ignore[return-value]
    if all(wanted) and x.size >= NORM_ALONE and x.dtype.itemsize >= F32.itemsize and g.dtype == x.dtype == weight.dtype:
        length, rstd = weight.size, rstd.reshape(-1, 1)
        rows, mean = near(x.reshape(-1, length), mean.reshape(-1, 1), rstd)
        out, *found = _gradients_of_rows(g.reshape(-1, length), rows, weight.reshape(-1), mean[:, 0], rstd[:, 0], True)
        return out.reshape(x.shape), *[total.astype(x.dtype).reshape(weight.shape) for total in found]
    lead, by_x, by_weight, by_bias = x.ndim - rank, None, None, None
    axes = tuple(range(lead, x.ndim))
    if wanted[0]:
        by_x = standardize_backward(g, x, weight, mean, rstd, axes, eps)
    if wanted[1]:
        by_weight = standardized_sum(g, x, mean, rstd, tuple(range(lead)), axes, eps).reshape(weight.shape)
    if wanted[2]:
        by_bias = sum_over_rows(g, rank)
    return by_x, by_weight, by_bias
