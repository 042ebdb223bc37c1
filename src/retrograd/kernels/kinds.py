"""The base of arrays of another kind than NumPy's. The layers above ask with it whether an array is of such a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..foundations.dtypes import Array


class Geometry:
    """The geometry of an array that is no NumPy array: that of `like`, a NumPy array which the class has."""

    __slots__ = ()
    like: Array

    shape = property(lambda self: self.like.shape)
    dtype = property(lambda self: self.like.dtype)
    ndim = property(lambda self: self.like.ndim)
    size = property(lambda self: self.like.size)
    itemsize = property(lambda self: self.like.itemsize)
    strides = property(lambda self: self.like.strides)
    flags = property(lambda self: self.like.flags)


def found_in(value: Any, kind: type[Any]) -> list[Any]:
    """The parts of the class `kind` in a value, also inside of lists and tuples."""
    if type(value) is kind:
        return [value]
    return [part for each in value for part in found_in(each, kind)] if type(value) in (list, tuple) else []


def holds(values: Any, kind: type[Any]) -> bool:
    """Whether a part of the class `kind` is among the values, also inside of lists and tuples."""
    return any([type(value) is kind or (type(value) in (list, tuple) and holds(value, kind)) for value in values])


def replaced(value: Any, kind: type[Any], replace: Callable[[Any], Any]) -> Any:
    """`value` with each part of the class `kind` replaced, also inside of lists and tuples."""
    if type(value) is kind:
        return replace(value)
    if type(value) in (list, tuple):
        return type(value)([replaced(part, kind, replace) for part in value])
    return value


def with_numbers(array: Any) -> Any:
    """The array itself. Of an array that a compiler traces, the NumPy array with its numbers: the trace is given up."""
    return array if type(array) is np.ndarray or not hasattr(array, "seen") else array.seen()


def placed(array: Any) -> Any:
    """The array itself. Of an array that a compiler traces, the NumPy array in the same memory, for its addresses."""
    return array.like if hasattr(array, "seen") else array


class OtherArray:
    """An array that is not a NumPy array, such as a sparse array."""

    __slots__ = ("__weakref__",)
    values: Array

    def with_values(self, values: Array) -> Any:
        """An array of the same structure with other values."""
        raise NotImplementedError

    def kept(self, alone: bool) -> Any:
        """The array to keep as a gradient, when it is the first that reaches a leaf. `alone`: nothing else holds it."""
        raise NotImplementedError

    def added(self, other: Any) -> Any:
        """The sum of a gradient that a leaf holds and another: the array itself if it can be added to in place."""
        raise NotImplementedError
