"""Standardize if each mean, deviation and weight holds for a long run of elements, as for the channels of images.

Runs are the rows of a matrix. All sums are first taken by run, in one pass over memory. The results are small and are
computed in double precision. Then each run is multiplied by one number and added to another.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F64, Array
from ..linalg.line_products import add_thin, by_row, row_dots
from ..native.threads import blocks, in_parts
from ..thresholds import CHANNEL_RUN, CHANNELS_BLOCK, CHANNELS_PASS_COST

# A bound of the square of a mean over its deviation: beyond it, differences of sums lose digits.
FAR = 15.0


def length_of_runs(x: Array, axes: tuple[int, ...], *factors: Any) -> int:
    """The number of elements of x in the last of `axes` along which the factors are constant; 0 if they are few."""
    length = 1
    for axis in range(x.ndim - 1, -1, -1):
        if axis not in axes or any(f is not None and f.shape[axis] != 1 for f in factors):
            break
        length *= x.shape[axis]
    return length if length >= CHANNEL_RUN and x.size else 0


def as_runs(factor: Array, x: Array, length: int) -> Any:
    """The number for each run of x, from a factor that broadcasts with x, with the shape of the leading axes."""
    lead = x.shape[:_lead(x, length)]
    return np.broadcast_to(factor.reshape(factor.shape[:len(lead)]), lead)


def _lead(x: Array, length: int) -> int:
    """How many axes of x come before the axes of the runs."""
    axis: int = x.ndim
    while length > 1:
        axis -= 1
        length //= x.shape[axis]
    return axis


def sums_of_runs(x: Array, length: int, other: Array | None = None) -> Any:
    """For each run, the sum of x, or of its products with `other`, in double precision, shaped as the leading axes."""
    rows, found = x.reshape(-1, length), np.empty(x.size // length, x.dtype)
    if other is None:
        ones = np.ones(length, x.dtype)
        in_parts(lambda a, b: np.copyto(found[a:b], by_row(rows[a:b], ones)), len(rows), x.size * CHANNELS_PASS_COST)
    else:
        others = other.reshape(-1, length)
        in_parts(lambda a, b: np.copyto(found[a:b], row_dots(rows[a:b], others[a:b])), len(rows),
                 x.size * CHANNELS_PASS_COST)
    return found.astype(F64).reshape(x.shape[:_lead(x, length)])


def moments_of_runs(x: Array, axes: tuple[int, ...], length: int) -> tuple[Any, Any] | None:
    """Mean and biased variance over the axes, which keep size 1, in double precision; None if that loses digits."""
    totals, squares = sums_of_runs(x, length), sums_of_runs(x, length, x)
    over, count = tuple([axis for axis in axes if axis < totals.ndim]), math.prod([x.shape[axis] for axis in axes])
    mean = np.add.reduce(totals, axis=over, keepdims=True) / count
    variance = np.add.reduce(squares, axis=over, keepdims=True) / count - mean * mean
    if not (mean * mean <= FAR * variance).all():
        return None
    shape = mean.shape + (1,) * (x.ndim - mean.ndim)
    return mean.reshape(shape), variance.reshape(shape)


def scaled_runs(x: Array, length: int, scale: Array, shift: Array | None = None) -> Any:
    """x * scale + shift, with a scale and a shift for each run."""
    rows, out = x.reshape(-1, length), np.empty(x.shape, x.dtype)
    flat, ones = out.reshape(rows.shape), np.ones((1, length), x.dtype)
    scale = scale.astype(x.dtype).reshape(-1, 1)
    shift = None if shift is None else shift.astype(x.dtype).reshape(1, -1)

    def work(start: int, stop: int) -> None:
        part = np.multiply(rows[start:stop], scale[start:stop], out=flat[start:stop])
        if shift is not None:
            add_thin(ones, shift[:, start:stop], part)     # takes half as long as NumPy's broadcasting

    in_parts(work, len(rows), x.size * 2 * CHANNELS_PASS_COST)
    return out


def runs_backward(g: Array, x: Array, weight: Array | None, mean: Array, rstd: Array, axes: tuple[int, ...],
                  length: int) -> Any:
    """The gradient by x of standardize(x) * weight: factor * g + slope * x + level, with numbers for each run."""
    x, mean = near(x, mean, rstd)
    gs, dots = sums_of_runs(g, length), sums_of_runs(g, length, x)
    over, count = tuple([axis for axis in axes if axis < gs.ndim]), math.prod([x.shape[axis] for axis in axes])
    middle, inverse = (a.reshape(a.shape[:gs.ndim]).astype(F64) for a in (mean, rstd))
    factor = inverse
    if weight is not None:
        weight = weight.reshape(weight.shape[:gs.ndim])
        gs, dots, factor = gs * weight, dots * weight, inverse * weight
    total, dot = (np.add.reduce(a, axis=over, keepdims=True) for a in (gs, dots))
    slope = (total * middle - dot) * (inverse ** 3 / count)
    level = -slope * middle - total * inverse / count
    factor, slope, level = (np.broadcast_to(a, gs.shape).astype(x.dtype) for a in (factor, slope, level))
    return _combined(g, x, factor.reshape(-1, 1), slope.reshape(-1, 1), level.reshape(1, -1), length)


def _combined(g: Array, x: Array, factor: Array, slope: Array, level: Array, length: int) -> Any:
    """factor * g + slope * x + level."""
    out = np.empty(x.shape, x.dtype)
    rows, others, flat = (a.reshape(-1, length) for a in (g, x, out))
    step, ones = max(1, CHANNELS_BLOCK // length), np.ones((1, length), x.dtype)

    def work(start: int, stop: int) -> None:
        ranges = blocks(start, stop, step)
        spare = np.empty((max(block.stop - block.start for block in ranges), length), x.dtype)
        for block in ranges:
            part = np.multiply(rows[block], factor[block], out=flat[block])
            part += np.multiply(others[block], slope[block], out=spare[:len(part)])
            add_thin(ones, level[:, block], part)

    in_parts(work, len(rows), x.size * 4 * CHANNELS_PASS_COST)
    return out


def near(x: Array, mean: Array, rstd: Array) -> tuple[Any, Any]:
    """x and its mean; or x - mean and 0, if a mean is so far from 0 that differences of sums lose digits."""
    if (np.square(mean * rstd) <= FAR).all():
        return x, mean
    return np.subtract(x, mean, out=...), np.zeros_like(mean)


def runs_sum(g: Array, x: Array, mean: Array, rstd: Array, over: tuple[int, ...], length: int) -> Any:
    """The sum of g * standardize(x) over the axes `over`, which keep size 1."""
    x, mean = near(x, mean, rstd)
    gs, dots = sums_of_runs(g, length), sums_of_runs(g, length, x)
    middle, inverse = (a.reshape(a.shape[:gs.ndim]) for a in (mean, rstd))
    total = np.add.reduce((dots - gs * middle) * inverse, axis=tuple([axis for axis in over if axis < gs.ndim]),
                          keepdims=True)
    return total.reshape(total.shape + (1,) * (x.ndim - total.ndim))
