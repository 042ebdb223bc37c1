"""Rows of a table by number, and sums, means and maxima of bags of rows.

Row numbers are int64 arrays whose elements have been checked. The `padding` row (-1 for none) has no gradient. With
`by_count`, the gradient of a row is divided by how often its number occurs in the index.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, Array, Shape, is_half
from ..elementwise.elementary import widened
from ..native.threads import blocks, in_parts
from ..options import rounds_steps
from ..thresholds import BAGS_BLOCK
from .adding_rows import add_chosen_rows, add_rows, chosen_rows_added

SUM, MEAN, MAX = range(3)


def embedding(weight: Array, index: Array, padding: int, by_count: bool) -> Any:
    """The rows that `index` selects."""
    return weight.take(index, 0, mode="clip")


def embedding_backward(g: Array, index: Array, shape: Shape, padding: int, by_count: bool) -> Any:
    """Zeros of `shape`, with the rows of `g` added to the rows that `index` selects."""
    out = np.zeros(shape, g.dtype)
    add_rows(out, index.reshape(-1), g.reshape(index.size, shape[1]))
    return _by_convention(out, index, padding, by_count)


def _by_convention(out: Array, index: Array, padding: int, by_count: bool) -> Array:
    """The gradient of a table, divided by how often each row was taken if `by_count`, with zeros for the padding."""
    if by_count and index.size:
        out /= np.maximum(np.bincount(index.reshape(-1), minlength=len(out)), 1).astype(out.real.dtype)[:, None]
    if padding >= 0:
        out[padding:padding + 1] = 0
    return out


def embedding_rows(g: Array, index: Array, padding: int, by_count: bool) -> Any:
    """The adjoint of `embedding_backward`: rows of `g`, divided by their count, with zeros for the padding."""
    out = g.take(index, 0, mode="clip")
    if by_count and index.size:
        out /= np.bincount(index.reshape(-1))[index].astype(g.real.dtype)[..., None]
    if padding >= 0:
        out[index == padding] = 0
    return out


def renorm_rows(out: Array, index: Array, largest: float, p: float) -> Any:
    """Scale the rows that `index` selects down to the p-norm `largest`, if their norm is larger."""
    rows = np.unique(index)
    norms = np.linalg.norm(widened(out[rows]), p, 1).astype(out.real.dtype).astype(np.float64)
    long = norms > largest
    out[rows[long]] *= (largest / (norms[long] + 1e-7)).astype(out.dtype)[:, None]
    return out


# Bags of rows

def bags_backward(g: Array, index: Array, bags: Array, shape: Shape, padding: int, by_count: bool) -> Any:
    """Zeros of `shape`, with row `bags[i]` of `g` added to row `index[i]`."""
    out = np.zeros(shape, g.dtype)
    add_chosen_rows(out, index, g, bags)
    return _by_convention(out, index, padding, by_count)


@rounds_steps
def embedding_bag(weight: Array, scales: Array | None, index: Array, starts: Array, mode: int, padding: int,
                  by_count: bool) -> tuple[Any, Any, Any, Any]:
    """Combine the rows that `index` selects. The rows from one start to the next form a bag.

    Returns the sum, the mean or the maximum of each bag, the bag of each row, the number of rows that count for each
    bag (the padding does not count), and for the maximum the row that it comes from. `scales`, if given, are factors of
    the rows.
    """
    if is_half(weight.dtype):
        half, quick = weight.dtype, padding < 0 and weight.strides[1] == weight.itemsize
        scales = None if scales is None else scales.astype(F32)
        found, bags, sizes, chosen = embedding_bag(
            weight.astype(F32), scales, index, starts, MAX if mode == MAX else SUM, padding, by_count)
        # A sum is rounded before it is divided, as in PyTorch, whose quick kernel for bfloat16 rounds halves up.
        out = (_halves_up(found) if quick and mode != MAX and half != F16 else found).astype(half)
        if mode == MEAN:
            out = (out.astype(F32) / np.maximum(sizes, 1).astype(half).astype(F32)[:, None]).astype(half)
        return out, bags, sizes, chosen
    count = len(starts)
    found = _equal_bags(weight, index, starts, mode) if scales is None and (padding < 0 or mode != MAX) else None
    if found and (padding < 0 or not (index == padding).any()):
        return found
    bags = np.searchsorted(starts, np.arange(index.size), side="right") - 1
    used = index != padding
    taken, of = index[used], bags[used]
    sizes = np.bincount(of, minlength=count)
    out = np.zeros((count, weight.shape[1]), weight.dtype)
    chosen = np.zeros(out.shape if mode == MAX else (0, 0), np.int64)
    if mode == MAX:
        _largest(out, chosen, weight.take(taken, 0, mode="clip"), taken, of)
    elif scales is None:
        add_chosen_rows(out, of, weight, taken)
    else:
        add_rows(out, of, weight.take(taken, 0, mode="clip") * scales[used][:, None])
    if mode == MEAN:
        out /= np.maximum(sizes, 1).astype(out.dtype)[:, None]
    return out, bags, sizes, chosen


def _halves_up(sums: Array) -> Array:
    """The sums, cut to the digits of bfloat16. Half a digit counts as one."""
    bits = (sums.view(np.uint32) + np.uint32(0x8000)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(sums), sums, bits.view(F32))


def _equal_bags(weight: Array, index: Array, starts: Array, mode: int) -> tuple[Any, Any, Any, Any] | None:
    """`embedding_bag` if all bags have equal size and all rows count, so that they form an axis; otherwise None."""
    count, size = len(starts), index.size // max(len(starts), 1)
    if not size or count * size != index.size or (starts != np.arange(0, index.size, size)).any():
        return None
    bags, sizes, chosen = np.repeat(np.arange(count), size), np.full(count, size), np.zeros((0, 0), np.int64)
    if mode == MAX:
        rows = weight.take(index, 0, mode="clip").reshape(count, size, -1)
        place = rows.argmax(1)[:, None]
        largest = np.take_along_axis(rows, place, 1)
        if np.isnan(largest).any():
            rows = _without_nan(rows, np.arange(size) > 0, 1)
            place = rows.argmax(1)[:, None]
            largest = np.take_along_axis(rows, place, 1)
        return largest[:, 0], bags, sizes, np.take_along_axis(index.reshape(count, size), place[:, 0], 1)
    out = _sums_of_bags(weight, index.reshape(count, size), bags)
    return out if mode == SUM else np.divide(out, out.dtype.type(size), out=out), bags, sizes, chosen


def _sums_of_bags(weight: Array, index: Array, bags: Array) -> Array:
    """The sums of the rows that each row of `index` selects. Those of some bags at a time stay in the cache."""
    (count, size), width = index.shape, weight.shape[1]
    out = np.zeros((count, width), weight.dtype)
    if chosen_rows_added(out, bags, weight, index.reshape(-1)):
        return out

    def work(start: int, stop: int) -> None:
        for part in blocks(start, stop, max(1, BAGS_BLOCK // max(size * width, 1))):
            rows = weight.take(index[part], 0, mode="clip")
            np.einsum("ijk->ik", rows, out=out[part])

    in_parts(work, count, index.size * width * 0.4)
    return out


def _without_nan(rows: Array, later: Array, axis: int) -> Array:
    """The rows with -inf for each nan, but for those of the first row of a bag.

    So the maximum keeps what it has beside a nan, as in PyTorch.
    """
    later = later.reshape([-1 if i == axis else 1 for i in range(rows.ndim)])
    return np.where(np.isnan(rows) & later, -np.inf, rows)


def _largest(out: Array, chosen: Array, rows: Array, index: Array, of: Array) -> None:
    """Write the maximum of each bag, and the first row that has it."""
    if not rows.size:
        return
    first = np.flatnonzero(np.concatenate(([True], of[1:] != of[:-1])))
    largest = np.maximum.reduceat(rows, first, 0)
    if np.isnan(largest).any():
        later = np.ones(len(rows), np.bool_)
        later[first] = False
        rows = _without_nan(rows, later, 0)
        largest = np.maximum.reduceat(rows, first, 0)
    out[of[first]] = largest
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(of))))
    same = (rows == largest[group]) | (rows != rows)                        # a nan is that of the first row
    place = np.where(same, np.arange(len(rows))[:, None], len(rows))
    chosen[of[first]] = index[np.minimum(np.minimum.reduceat(place, first, 0), len(rows) - 1)]
