"""Arrays joined along an axis, and an array beside copies of itself. The results are new memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import Array, Shape
from ..foundations.errors import noted
from .elementwise.elementary import widened
from .layout import channels_last, owner_of
from .shape import unsqueeze, view


def repeat(x: Array, repeats: Shape) -> Any:
    """Copies of `x` side by side, `repeats` along each axis. Leading axes are added."""
    copies = np.tile(x, repeats)
    return copies.copy() if owner_of(copies) is owner_of(x) else copies       # np.tile returns `x` itself for one copy


def sum_of_parts(g: Array, shape: Shape, repeats: Shape) -> Any:
    """The sum of the copies that `repeat` made of an array of `shape`."""
    lead = (1,) * (len(repeats) - len(shape)) + shape
    if 0 in repeats:
        return np.zeros(shape, g.dtype)
    split = [size for pair in zip(repeats, lead) for size in pair]
    copies = widened(g).reshape(split)
    sums = copies.sum(axis=tuple(range(0, len(split), 2)), dtype=copies.dtype)
    return sums.astype(g.dtype, copy=False).reshape(shape)


def _by_points(xs: Sequence[Any]) -> bool:
    """Whether all of the arrays are images or volumes that lie channel by channel for each point."""
    first = xs[0]
    return first.ndim in (4, 5) and first.strides[1] <= first.strides[-1] and all([channels_last(x) for x in xs])


def concatenate(xs: Sequence[Any], dim: int) -> Any:
    """Arrays one after another along `dim`, row by row, or as images lie if all do. Arrays of shape [0] are skipped."""
    try:
        if _by_points(xs):
            places = [0, *range(2, xs[0].ndim), 1]
            joined = np.concatenate([x.transpose(places) for x in xs], places.index(dim))
            return np.moveaxis(np.ascontiguousarray(joined), -1, 1)
        return np.ascontiguousarray(np.concatenate(xs, dim))
    except ValueError:
        full = [x for x in xs if x.shape != (0,)]
        if not full or len(full) == len(xs):
            raise _unequal(xs, dim) from None
    return np.ascontiguousarray(concatenate(full, dim))


def _unequal(xs: Sequence[Any], dim: int) -> Exception:
    """The error that says why arrays cannot be joined along `dim`."""
    first = xs[0].shape
    for i, x in enumerate(xs):
        if not x.ndim:
            return RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if x.ndim != len(first):
            return RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {x.ndim}")
        for d, (have, want) in enumerate(zip(x.shape, first)):
            if d != dim and have != want:
                return noted(RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} "
                    f"for tensor number {i} in the list."), "shapes#cat", given=f"{[*x.shape]}, the first {[*first]}")
    return RuntimeError("torch.cat(): expected a non-empty list of Tensors")


def stack(xs: Sequence[Any], dim: int) -> Any:
    """Arrays of one shape, stacked along a new axis at `dim`."""
    first = xs[0].shape
    for i, x in enumerate(xs):
        if x.shape != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                               f"{list(x.shape)} at entry {i}")
    if dim < len(first) and _by_points(xs):
        return view(concatenate(xs, dim), (*first[:dim], len(xs), *first[dim:]))
    if dim == len(first) and dim in (3, 4):                  # of images and volumes
        return concatenate([unsqueeze(x, dim) for x in xs], dim)
    if not dim and first:                                    # joined along the first axis, which takes half the time
        return np.ascontiguousarray(np.concatenate(xs)).reshape(len(xs), *first)
    key = (*(slice(None),) * dim, None, ...)
    return np.ascontiguousarray(np.concatenate([x[key] for x in xs], dim))
