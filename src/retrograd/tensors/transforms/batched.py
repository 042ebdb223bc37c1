"""An array with hidden axes: one NumPy array that holds a sample for each place of a batch, or of nested batches.

To everybody but its levels, a batched array has the shape of a sample. The hidden axes lead, in the order of the
levels, so the axis of the innermost level becomes the first axis of an ordinary array when its level is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import empty_strided, offset_of
from .refusals import BOOL, DATA, ESCAPED, ITEM, unbatched

if TYPE_CHECKING:
    from ...tensors.transforms.batching import BatchLevel


def _no_numbers(what: str) -> Callable[..., Any]:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise unbatched(what)

    return refuse


class Batched:
    """An array of samples. `levels` are those of its leading axes; `array` holds all samples."""

    __slots__ = ("__weakref__", "_like", "array", "dtype", "levels", "ndim", "shape")

    def __init__(self, levels: tuple[Any, ...], array: Array) -> None:
        self.levels, self.array = levels, array
        self.shape, self.dtype = array.shape[len(levels):], array.dtype
        self.ndim = len(self.shape)
        self._like: Any = None

    @property
    def like(self) -> Array:
        """A NumPy array with the geometry of a sample: the first sample, or no sample at all."""
        found = self._like
        if found is None:
            array, hidden = self.array, len(self.levels)
            if array.size:
                place: Any = (*(0,) * hidden, ...)
                found = array[place]
            else:
                steps = tuple([stride // array.itemsize for stride in array.strides[hidden:]])
                found = empty_strided(self.shape, steps, array.dtype)
            self._like = found
        return found  # type: ignore[no-any-return]

    size = property(lambda self: math.prod(self.shape))
    in_rows = property(lambda self: self.array.flags.c_contiguous or self.like.flags.c_contiguous)
    itemsize = property(lambda self: self.array.itemsize)
    nbytes = property(lambda self: self.like.nbytes)
    strides = property(lambda self: self.array.strides[len(self.levels):])
    flags = property(lambda self: self.like.flags)
    base = property(lambda self: self.array)
    offset = property(lambda self: offset_of(self.array))
    item = __int__ = __float__ = __index__ = any = min = max = _no_numbers(ITEM)
    view = reshape = astype = copy = __array__ = __dlpack__ = _no_numbers(DATA)
    __array_interface__ = property(_no_numbers(DATA))
    __bool__ = all = _no_numbers(BOOL)
    __array_ufunc__ = __array_function__ = _no_numbers(ESCAPED)

    def tolist(self) -> Any:
        """Raises RuntimeError."""
        raise unbatched(DATA if self.ndim else ITEM)


def is_batch(array: Any) -> bool:
    """Whether an array is one of samples."""
    return type(array) is Batched


def parts(array: Any) -> tuple[Array, tuple[Any, ...]]:
    """The NumPy array behind an array, and the levels of its leading axes."""
    return (array.array, array.levels) if type(array) is Batched else (array, ())


def joined(levels: tuple[Any, ...], array: Array) -> Any:
    """The array with these levels for its leading axes, in any order."""
    if not levels:
        return array
    ordered = tuple(sorted(levels))
    if ordered != levels:
        array = array.transpose(*[levels.index(level) for level in ordered], *range(len(levels), array.ndim))
    return Batched(ordered, array)


def shown(array: Any, level: BatchLevel) -> Any:
    """The array with the axis of `level` as an ordinary first axis."""
    levels, samples = array.levels, array.array
    if len(levels) == 1:
        return samples
    at = levels.index(level)
    if at != len(levels) - 1:                            # a level that a backward pass put back below newer levels
        samples = np.moveaxis(samples, at, len(levels) - 1)
    rest = (*levels[:at], *levels[at + 1:])
    return Batched(rest, samples) if rest else samples


def hidden(array: Any, level: BatchLevel) -> Batched:
    """The array with its first axis as that of `level`."""
    if type(array) is not Batched:
        return Batched((level,), array)
    array, levels = array.array, array.levels
    if level < levels[-1]:
        found: Batched = joined((*levels, level), array)
        return found
    return Batched((*levels, level), array)


def is_array(value: Any) -> bool:
    """Whether an argument of an operator is an array, NumPy's or batched, and no option."""
    return type(value) is np.ndarray or type(value) is Batched or hasattr(value, "strides")


def is_batched(array: Any, level: BatchLevel) -> bool:
    """Whether an array has an axis of the level."""
    return type(array) is Batched and level in array.levels


def common_axes(values: Sequence[Any]) -> tuple[tuple[Any, ...], int]:
    """All levels of some arrays, in order, and the highest rank of their samples."""
    levels: tuple[Any, ...] = ()
    rank = 0
    for value in values:
        if type(value) is Batched:
            if value.levels != levels:
                levels = tuple(sorted({*levels, *value.levels})) if levels else value.levels
        elif type(value) is not np.ndarray:
            continue
        if value.ndim > rank:
            rank = value.ndim
    return levels, rank


def in_axes(values: Sequence[Any], levels: tuple[Any, ...], rank: int) -> list[Any]:
    """The values, with NumPy arrays that have an axis for each of `levels` and for a sample of this rank."""
    found = [*values]
    for i, value in enumerate(values):
        if type(value) is not Batched:
            continue
        array = value.array
        if value.levels != levels or value.ndim != rank:
            axes = [slice(None) if level in value.levels else None for level in levels]
            array = array[(*axes, *[None] * (rank - value.ndim), ...)]
        found[i] = array
    return found


def of_axes(array: Array, levels: tuple[Any, ...], rank: int) -> Any:
    """What was computed, element by element, from arrays that are `in_axes`, as an array of samples."""
    if not levels:
        return array
    same = array.ndim != len(levels) + rank                # computed from arrays that are the same for all samples
    shape = array.shape
    for i, level in enumerate(levels):
        if same or shape[i] != level.size:
            array = np.broadcast_to(array, (*[each.size for each in levels], *(shape if same else shape[len(levels):])))
            break
    return Batched(levels, array)
