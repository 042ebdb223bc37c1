"""The geometry of the values of a program for all sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from .forms import Count, Points, Refused, Sizes, at, varies
from .stand_ins import reserve


class Layout(NamedTuple):
    """The geometry of a value for all sizes."""

    dtype: np.dtype[Any]
    shape: tuple[Count, ...]
    strides: tuple[Count, ...]

    @property
    def varies(self) -> bool:
        """Whether the geometry depends on sizes."""
        return any(map(varies, (*self.shape, *self.strides)))

    def array(self, sizes: Sizes, memory: Any = None) -> Array:
        """An array of this geometry at the start of some memory, or of memory that is only reserved."""
        shape = [at(n, sizes) for n in self.shape]
        strides = [at(n, sizes) for n in self.strides]
        memory, start = (memory, 0) if memory is not None else reserve(self.bytes(sizes))
        return np.ndarray(shape, self.dtype, memory, start, strides)

    def like(self, traced: Array, sizes: Sizes) -> Array:
        """What the array of a trace is for other sizes: one that can be written to, or not."""
        found = self.array(sizes)
        found.flags.writeable = traced.flags.writeable
        return found

    def bytes(self, sizes: Sizes) -> int:
        """The memory from the first byte to behind the last."""
        return self.dtype.itemsize + sum([(at(n, sizes) - 1) * at(step, sizes)
                                          for n, step in zip(self.shape, self.strides, strict=True)])


def layout(points: Points, arrays: Sequence[Array]) -> Layout:
    """The geometry that arrays of traces have for all sizes."""
    first = arrays[0]
    if any([array.dtype != first.dtype or array.ndim != first.ndim for array in arrays]):
        raise Refused("a value has another dtype, or another number of dims, for another size")
    shape = tuple(map(points.fitted, zip(*[array.shape for array in arrays])))
    points.note_shape(shape)
    return Layout(first.dtype, shape, points.strides([array.strides for array in arrays], shape))
