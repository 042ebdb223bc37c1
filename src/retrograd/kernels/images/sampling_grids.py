"""The values of images at any points: the taps of each point are gathered, and scattered for the adjoint.

Each coordinate of a point has its own taps (2 for linear, 1 for nearest, 4 for cubic), and a value is the sum over the
products of the taps. A weight is a function of the coordinate, so its derivatives are weights too: `orders` gives the
order of the derivative by each coordinate, in the grid's order. Modes and paddings are PyTorch's numbers: 0 linear, 1
nearest, 2 cubic; 0 zeros, 1 border, 2 reflection.

The images lie in one row for each channel, with a border of zeros around each image. So a tap is one place for all
channels, and places outside need no test.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array, Shape
from ..elementwise.elementary import widened
from .resampling import CUBIC as _A

# The polynomials in t of the four cubic weights, the highest power first.
_CUBIC = ((_A, -2 * _A, _A, 0.0), (_A + 2, -(_A + 3), 0.0, 1.0), (-(_A + 2), 2 * _A + 3, -_A, 0.0), (-_A, _A, 0.0, 0.0))
_LINEAR = ((-1.0, 1.0), (1.0, 0.0))


class _Coordinate(NamedTuple):
    """For each tap of one coordinate: its place in the image with its border, and its weight for each order."""

    at: list[Array]
    weight: dict[int, list[Array]]


def _reflected(x: Array, low: float, high: float) -> tuple[Array, Array]:
    """x, mirrored at the bounds until it lies between them, and the sign of the slope."""
    if low == high:
        return np.zeros_like(x), np.zeros_like(x)
    span = high - low
    off = x - x.dtype.type(low)
    sign = np.where(off < 0, -1, 1).astype(x.dtype)
    off = np.abs(off)
    extra, flips = np.fmod(off, span), np.floor(off / span)
    odd = np.fmod(flips, 2) != 0
    return np.where(odd, span - extra + low, extra + low).astype(x.dtype), np.where(odd, -sign, sign)


def _clipped(x: Array, size: int) -> tuple[Array, Array]:
    """x, clamped to the image, and its slope, which is 0 where x was clamped and on the borders."""
    slope = ((x > 0) & (x < size - 1)).astype(x.dtype)
    return np.minimum(np.fmax(x, 0), size - 1), slope      # a nan becomes 0


def _padded(x: Array, size: int, padding: int, align: bool) -> tuple[Array, Array | float]:
    """A coordinate in elements after padding, and its slope."""
    if padding == 0:
        return x, 1.0
    sign: Array | float = 1.0
    if padding == 2:
        x, sign = _reflected(x, 0.0, size - 1.0) if align else _reflected(x, -0.5, size - 0.5)
    x, slope = _clipped(x, size)
    return x, slope * sign


@cache
def _polynomials(mode: int, order: int) -> tuple[tuple[float, ...], ...]:
    """The `order`-th derivatives of the taps' weights in t. t is the distance from the first tap to the point."""
    return tuple([tuple(np.polyder(np.array(polynomial), order).tolist()) for polynomial in
                  (_LINEAR if mode == 0 else _CUBIC)])


def _values(polynomials: tuple[tuple[float, ...], ...], t: Array) -> list[Array]:
    """The values of polynomials at t."""
    values = []
    for polynomial in polynomials:
        value = np.full_like(t, polynomial[0] if polynomial else 0)
        for c in polynomial[1:]:
            value *= t
            value += t.dtype.type(c)
        values.append(value)
    return values


def _coordinate(where: Array, size: int, orders: set[int], mode: int, padding: int, align: bool) -> _Coordinate:
    """The taps of one coordinate, which is given from -1 to 1."""
    half, where = where.dtype.type((size - 1) / 2 if align else size / 2), np.ascontiguousarray(where)
    x = (where + 1) * half if align else ((where + 1) * size - 1) / 2
    x = x.astype(where.dtype, copy=False)
    slope: Any = half
    if mode != 2:
        x, pad = _padded(x, size, padding, align)
        slope = half * pad
    if mode == 1:
        places = [np.rint(x)]
        weights = {order: [np.ones_like(x) if order == 0 else np.zeros_like(x)] for order in orders}
    else:
        first = np.floor(x)
        off = x - first
        weights = {order: _values(_polynomials(mode, order), off) for order in orders}
        places = [first + i for i in ((0, 1) if mode == 0 else (-1, 0, 1, 2))]
        if mode == 2 and padding:
            places = [_padded(place, size, padding, align)[0] for place in places]
    weights = {order: [weight * slope ** order for weight in found] if order else found
               for order, found in weights.items()}
    # Places outside, and nan, go to the border. (With numbers as bounds NumPy takes five times as long.)
    low, high = np.full_like(x, -1), np.full_like(x, size)
    at = [(np.minimum(np.fmax(place, low), high) + 1).astype(np.intp) for place in places]
    return _Coordinate(at, weights)


def _corners(grid: Array, sizes: tuple[int, ...], several: list[Any], mode: int, padding: int,
             align: bool) -> Iterator[tuple[Array, list[Array]]]:
    """For each corner: the places of all points in a row of images, and their weights for each of several orders."""
    flat = grid.reshape(-1, len(sizes))
    coordinates = [_coordinate(flat[:, i], size, {orders[i] for orders in several}, mode, padding, align)
                   for i, size in enumerate(sizes[::-1])]
    count, whole = len(grid), math.prod([size + 2 for size in sizes])
    start = np.repeat(np.arange(0, count * whole, whole), len(flat) // max(count, 1))
    for corner in product(*[range(len(c.at)) for c in coordinates]):
        place, stride = start, 1
        for c, tap, size in zip(coordinates, corner, sizes[::-1]):
            place = place + (c.at[tap] * stride if stride > 1 else c.at[tap])
            stride *= size + 2
        weights = []
        for orders in several:
            weight, *others = [c.weight[order][tap] for c, order, tap in zip(coordinates, orders, corner)]
            for other in others:
                weight = weight * other
            weights.append(weight)
        yield place, weights


def _inner(dims: int) -> Any:
    """An index of the elements inside the border."""
    return (..., *[slice(1, -1)] * dims)


def _rows(x: Array) -> Array:
    """Images (N, C, sizes…) with their borders, as one row for each channel."""
    count, channels, *sizes = x.shape
    images = np.zeros((channels, count, *[size + 2 for size in sizes]), x.dtype)
    images[_inner(len(sizes))] = x.swapaxes(0, 1)
    return images.reshape(channels, math.prod(images.shape[1:]))


def _taken(rows: Array, place: Array) -> Array:
    """The elements at these places of each row. All places are inside, and mode "wrap" skips the check."""
    return rows.take(place, 1, mode="wrap") if rows.shape[1] else np.zeros((len(rows), len(place)), rows.dtype)


def _by_channel(g: Array) -> Array:
    """(N, C, points…) as (C, N * points)."""
    return g.swapaxes(0, 1).reshape(g.shape[1], math.prod((g.shape[0], *g.shape[2:])))


def grid_sample(x: Array, grid: Array, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    """x (N, C, sizes…) at the points of grid (N, sizes…, dims): (N, C, sizes…)."""
    rows, (count, channels), points = _rows(widened(x)), x.shape[:2], grid.shape[1:-1]
    out = np.zeros((channels, count * math.prod(points)), rows.dtype)
    for place, (weight,) in _corners(widened(grid), x.shape[2:], [orders], mode, padding, align):
        part = _taken(rows, place)
        part *= weight
        out += part
    return np.ascontiguousarray(out.reshape(channels, count, *points).swapaxes(0, 1)).astype(x.dtype, copy=False)


def grid_scatter(g: Array, grid: Array, shape: Shape, orders: tuple[int, ...], mode: int, padding: int,
                 align: bool) -> Any:
    """The adjoint of `grid_sample` as a function of x, of shape `shape`."""
    wide, sizes = _by_channel(widened(g)), shape[2:]
    out = np.zeros((shape[1], shape[0] * math.prod([size + 2 for size in sizes])), wide.dtype)
    for place, (weight,) in _corners(widened(grid), sizes, [orders], mode, padding, align):
        if weight.any():
            part = wide * weight
            for row, values in zip(out, part):
                np.add.at(row, place, values)
    images = out.reshape(shape[1], shape[0], *[size + 2 for size in sizes])[_inner(len(sizes))]
    return np.ascontiguousarray(images.swapaxes(0, 1)).astype(g.dtype, copy=False)


def grid_slopes(g: Array, x: Array, grid: Array, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    """The sums over channels of g times the derivative of `grid_sample` by each coordinate, in the shape of grid."""
    if mode == 1:                                           # a small move does not change the nearest element
        return np.zeros_like(grid)
    wide, rows = _by_channel(widened(g)), _rows(widened(x))
    higher = [tuple([order + (axis == i) for axis, order in enumerate(orders)]) for i in range(len(orders))]
    out = np.zeros((len(orders), wide.shape[1]), np.result_type(wide, rows))
    for place, weights in _corners(widened(grid), x.shape[2:], higher, mode, padding, align):
        part = _taken(rows, place)
        part *= wide
        total = np.add.reduce(part, axis=0)
        for sums, weight in zip(out, weights):
            sums += total * weight
    return np.ascontiguousarray(out.T).reshape(grid.shape).astype(grid.dtype, copy=False)
