"""Values of images at any points: the taps and weights of each point, gathered, and their adjoint, scattered.

Each coordinate of a point has taps of its own (2 for linear, 1 for nearest, 4 for cubic), and a value is the sum over
their products. A weight is a function of the coordinate, so that its derivatives are weights as well: `orders` says
which derivative to take by each coordinate, in the grid's order of them. Modes and paddings are PyTorch's numbers:
0 linear, 1 nearest, 2 cubic; 0 zeros, 1 border, 2 reflection. Must not know ops.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .elementary import widened
from .resampling import CUBIC as _A

Array = np.ndarray[Any, Any]
# The polynomials of the four cubic weights in t, the highest power first.
_CUBIC = ((_A, -2 * _A, _A, 0.0), (_A + 2, -(_A + 3), 0.0, 1.0), (-(_A + 2), 2 * _A + 3, -_A, 0.0), (-_A, _A, 0.0, 0.0))
_LINEAR = ((-1.0, 1.0), (1.0, 0.0))


class _Coordinate(NamedTuple):
    """For each tap of one coordinate where it is, its weight, and where it is inside."""

    at: list[Array]
    weight: list[Array]
    inside: list[Array | None]


def _reflected(x: Array, low: float, high: float) -> tuple[Array, Array]:
    """x mirrored at the bounds until it is between them, and the sign of its slope."""
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
    """x moved into the image, and its slope: 0 where it was moved, and on the borders."""
    slope = ((x > 0) & (x < size - 1)).astype(x.dtype)
    return np.minimum(np.fmax(x, 0), size - 1), slope      # a nan goes to 0


def _bounds(size: int, align: bool) -> tuple[float, float]:
    return (0.0, size - 1.0) if align else (-0.5, size - 0.5)


def _padded(x: Array, size: int, padding: int, align: bool) -> tuple[Array, Array | float]:
    """A coordinate in elements after padding, and its slope."""
    if padding == 0:
        return x, 1.0
    sign: Array | float = 1.0
    if padding == 2:
        x, sign = _reflected(x, *_bounds(size, align))
    x, slope = _clipped(x, size)
    return x, slope * sign


def _derived(polynomials: tuple[tuple[float, ...], ...], order: int, t: Array) -> list[Array]:
    """The `order`-th derivatives of polynomials, at t."""
    weights = []
    for polynomial in polynomials:
        coefficients = np.polyder(np.array(polynomial), order) if order else np.array(polynomial)
        value = np.full_like(t, coefficients[0] if len(coefficients) else 0)
        for c in coefficients[1:]:
            value = value * t + t.dtype.type(c)
        weights.append(value)
    return weights


def _coordinate(where: Array, size: int, order: int, mode: int, padding: int, align: bool) -> _Coordinate:
    """The taps of one coordinate, given from -1 to 1."""
    half = where.dtype.type((size - 1) / 2 if align else size / 2)
    x = (where + 1) * half if align else ((where + 1) * size - 1) / 2
    x = x.astype(where.dtype, copy=False)
    slope: Any = half
    if mode != 2:
        x, pad = _padded(x, size, padding, align)
        slope = half * pad
    if mode == 1:
        places = [np.rint(x)]
        weights = [np.ones_like(x) if order == 0 else np.zeros_like(x)]
    else:
        first = np.floor(x)
        weights = _derived(_LINEAR if mode == 0 else _CUBIC, order, x - first)
        places = [first + i for i in ((0, 1) if mode == 0 else (-1, 0, 1, 2))]
        if mode == 2 and padding:
            places = [_padded(place, size, padding, align)[0] for place in places]
    if order:
        factor = slope ** order
        weights = [weight * factor for weight in weights]
    at: list[Array] = []
    inside: list[Array | None] = []
    for place in places:
        within = (place >= 0) & (place < size)             # which a nan is not
        if within.all():
            inside.append(None)
        else:
            inside.append(within)
            place = np.where(within, place, 0)
        at.append(place.astype(np.intp))
    return _Coordinate(at, weights, inside)


def _corners(grid: Array, sizes: tuple[int, ...], orders: Any, mode: int, padding: int, align: bool) -> Any:
    """For each corner the flat places (N, points) in an image, the weights, and which points are inside; None for all.
    """
    flat = grid.reshape(grid.shape[0], -1, len(sizes))
    coordinates = [_coordinate(flat[..., i], size, orders[i], mode, padding, align)
                   for i, size in enumerate(sizes[::-1])]
    for corner in product(*[range(len(c.at)) for c in coordinates]):
        place, weight, within, stride = np.zeros((), np.intp), np.ones((), flat.dtype), None, 1
        for c, tap, size in zip(coordinates, corner, sizes[::-1]):
            place = place + c.at[tap] * stride
            weight = weight * c.weight[tap]
            inside = c.inside[tap]
            if inside is not None:
                within = inside if within is None else within & inside
            stride *= size
        yield place, weight, within


def grid_sample(x: Any, grid: Any, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """x (N, C, sizes…) at the points of grid (N, sizes…, dims): (N, C, sizes…)."""
    wide = widened(x)
    rows = wide.reshape(*x.shape[:2], -1)
    count = int(np.prod(grid.shape[1:-1]))
    out = np.zeros((*x.shape[:2], count), wide.dtype)
    for place, weight, within in _corners(widened(grid), x.shape[2:], orders, mode, padding, align):
        for n in range(x.shape[0]):
            part = rows[n].take(place[n], 1)
            if within is not None:                         # what is outside is 0, not what lies at its place
                part = np.where(within[n], part, 0)
            out[n] += part * weight[n]
    return out.reshape(*x.shape[:2], *grid.shape[1:-1]).astype(x.dtype, copy=False)


def grid_scatter(g: Any, grid: Any, shape: Any, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """The adjoint of `grid_sample` as a function of x, of shape `shape`."""
    wide, size = widened(g).reshape(*shape[:2], -1), int(np.prod(shape[2:]))
    out = np.zeros((*shape[:2], size), wide.dtype)
    for place, weight, within in _corners(widened(grid), shape[2:], orders, mode, padding, align):
        if within is not None:
            weight = np.where(within, weight, 0)
        for n in range(shape[0]):
            if weight[n].any():
                for c in range(shape[1]):
                    out[n, c] += np.bincount(place[n], wide[n, c] * weight[n], size).astype(wide.dtype, copy=False)
    return out.reshape(shape).astype(g.dtype, copy=False)


def grid_slopes(g: Any, x: Any, grid: Any, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """The sums over channels of g times the derivative of `grid_sample` by each coordinate: the shape of grid."""
    g = widened(g)
    parts = []
    for i in range(len(orders)):
        higher = tuple([order + (axis == i) for axis, order in enumerate(orders)])
        parts.append((g * widened(grid_sample(x, grid, higher, mode, padding, align))).sum(1))
    return np.stack(parts, -1).astype(grid.dtype, copy=False)
