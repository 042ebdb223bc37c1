"""The place of values in a sorted array, and the number of values in each bin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import C_NAMES, Array, dtype as torch_dtype, refuse
from ...foundations.scalars import check_convertible
from ..options import converts
from ..ranges import linspace


def searchsorted(bounds: Array, x: Array, right: bool, narrow: bool, sorter: Any) -> Any:
    """For each of `x`, how many of the sorted `bounds` are less, or with `right` not greater. A nan is the greatest.

    `bounds` has one dim, or one row for each row of `x`. `sorter` holds the indices that sort `bounds`. `narrow` asks
    for int32.
    """
    refuse(bounds.dtype, "searchsorted_out_cpu", "bc")
    if sorter is not None:
        bounds = np.take_along_axis(bounds, sorter, -1)
    if bounds.ndim == 1 and not (bounds.dtype.kind == "f" and np.isnan(bounds[-1:]).any()):
        found: Array = np.asarray(np.searchsorted(bounds, x, "right" if right else "left"))
    else:
        found = _halved(np.broadcast_to(bounds, (*x.shape[:-1], bounds.shape[-1])), x, right)
    return found.astype(np.int32 if narrow else np.int64, copy=False)


def _halved(bounds: Array, x: Array, right: bool) -> Array:
    """The place of each of `x` by bisection, for all rows at once. A nan counts as greater than all numbers."""
    if not x.ndim:
        bounds, x = bounds.reshape(-1), x.reshape(1)
        return _halved(bounds, x, right).reshape(())
    low, high = np.zeros(x.shape, np.int64), np.full(x.shape, bounds.shape[-1], np.int64)
    for _ in range(bounds.shape[-1].bit_length()):
        middle = (low + high) >> 1
        at = np.take_along_axis(bounds, np.minimum(middle, bounds.shape[-1] - 1), -1)
        before = np.logical_not(at > x if right else at >= x)
        searching = low < high
        low = np.where(searching & before, middle + 1, low)
        high = np.where(searching & ~before, middle, high)
    return low


def check_bins(counts: list[int]) -> None:
    """Raise RuntimeError for a dimension without bins."""
    for dim, count in enumerate(counts):
        if count <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {count} for dimension {dim}")


@converts(2, 3)
def histc(x: Array, bins: int, low: float, high: float) -> Any:
    """The number of elements in each of `bins` equal bins. If `low` and `high` are 0, the bins span the extremes."""
    check_bins([bins])
    if low == high and x.size:
        refuse(x.dtype, "aminmax_cpu", "c")
        low, high = x.min().item(), x.max().item()
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if x.dtype.kind == "b":
        refuse(x.dtype, "linspace_cpu", "b")
    check_convertible(low, x.dtype)
    check_convertible(high, x.dtype)
    refuse(x.dtype, "histogram_cpu", "iuc")
    x = x.reshape(-1)
    inside = (x >= low) & (x <= high)
    first, last = x.dtype.type(low), x.dtype.type(high)
    place = ((x if inside.all() else x[inside]) - first) * x.dtype.type(bins) / (last - first)
    place = np.minimum(place.astype(np.int64), bins - 1)
    return np.bincount(place, minlength=bins).astype(x.dtype)


def even_edges(x: Array, counts: tuple[int, ...], span: tuple[float, ...] | None) -> list[Array]:
    """For each dimension of the points, the edges of equal bins, over `span` or between the extremes."""
    dims = len(counts)
    if span is None:
        refuse(x.dtype, "histogramdd", "biuc" if x.dtype != np.float16 else "f")
        low, high = (x.min(0).tolist(), x.max(0).tolist()) if x.size else ([0.0] * dims, [1.0] * dims)
    elif len(span) != 2 * dims:
        raise RuntimeError(f"torch.histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} "
                           f"elements, but got {len(span)}")
    else:
        low, high = [*span[::2]], [*span[1::2]]
    for dim, (first, last) in enumerate(zip(low, high, strict=True)):
        if not (math.isfinite(first) and math.isfinite(last)):
            raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{first:g}, {last:g}] is not finite")
        if first > last:
            raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {first:g} max {last:g} for "
                               f"dimension {dim}")
    check_bins([*counts])
    refuse(x.dtype, "linspace_cpu", "b")
    refuse(x.dtype, "histogram_cpu", "iuc")
    widened = [(a - 0.5, b + 0.5) if a == b else (a, b) for a, b in zip(low, high, strict=True)]
    return [linspace(a, b, count + 1, x.dtype) for (a, b), count in zip(widened, counts, strict=True)]


def check_edges(x: Array, edges: tuple[Array, ...]) -> None:
    """Raise RuntimeError for edges that are not 1-d, are too few, or differ in dtype from the points."""
    for dim, edge in enumerate(edges):
        if edge.dtype != x.dtype:
            raise RuntimeError("torch.histogramdd: input tensor and bins tensors should have the same dtype, but got "
                               f"input with dtype {C_NAMES[x.dtype.name]} and bins for dimension {dim} with dtype "
                               f"{C_NAMES[edge.dtype.name]}")
        if edge.ndim != 1:
            raise RuntimeError(f"torch.histogramdd: bins tensor should have one dimension, but got {edge.ndim} "
                               f"dimensions in the bins tensor for dimension {dim}")
        if not edge.size:
            raise RuntimeError("torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in "
                               f"the bins tensor for dimension {dim}")


def histogram(x: Array, edges: Any, span: Any, density: bool) -> list[Any]:
    """`weighted_histogram` of points with weight 1."""
    return weighted_histogram(x, None, edges, span, density)


def weighted_histogram(x: Any, weight: Array | None, edges: Any, span: Any, density: bool) -> list[Any]:
    """The number of points in each bin, or their total weight, and the edges of the bins along each dimension.

    The last axis of `x` holds the coordinates. For each coordinate, `edges` is the number of bins or the edges of the
    bins. If `edges` is not a tuple, all elements are points on a line. With `density` the integral of the result is 1.
    """
    if not isinstance(edges, tuple):
        x, edges = x.reshape(-1, 1), (edges,)
        weight = None if weight is None else weight.reshape(-1)
    given = not all(isinstance(edge, int) for edge in edges)
    if given:
        check_edges(x, edges)
    if weight is not None:
        _check_weight(x, weight)
    points = x.reshape(-1, x.shape[-1])
    if given:
        check_bins([len(edge) - 1 for edge in edges])
        refuse(x.dtype, "histogram_cpu", "biuc")
        places = [edge.copy() for edge in edges]
    else:
        places = even_edges(points, edges, span)
    shape = tuple([len(place) - 1 for place in places])
    inside = np.ones(len(points), bool)
    index = np.zeros(len(points), np.int64)
    for column, place, count in zip(points.T, places, shape, strict=True):
        inside &= (column >= place[0]) & (column <= place[-1])
        found = np.searchsorted(place, column, "right") - 1
        index = index * count + np.minimum(found, count - 1)
    weights = None if weight is None else weight.reshape(-1)[inside]
    found = np.bincount(index[inside], weights, math.prod(shape)).reshape(shape).astype(x.dtype)
    if density:
        found /= found.sum()
        for dim, place in enumerate(places):
            found /= np.diff(place).reshape(-1, *(1,) * (len(shape) - 1 - dim))
    return [found, *places]


def _check_weight(x: Array, weight: Array) -> None:
    if weight.dtype != x.dtype:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should "
                           f"have the same dtype, but got input({torch_dtype.of[x.dtype].legacy.lower()}), and "
                           f"weight({torch_dtype.of[weight.dtype].legacy.lower()})")
    if weight.shape != x.shape[:-1]:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the same shape as the input "
                           f"tensor excluding its innermost dimension, but got input with shape {[*x.shape]} and "
                           f"weight with shape {[*weight.shape]}")
