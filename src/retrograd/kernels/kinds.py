"""The base of arrays of another kind than NumPy's. The layers above ask with it whether an array is of such a kind."""

from __future__ import annotations

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


def with_numbers(array: Any) -> Any:
    """The array itself. Of an array that a compiler traces, the NumPy array with its numbers: the trace is given up."""
    return array if type(array) is np.ndarray or not hasattr(array, "seen") else array.seen()


class OtherArray:
    """An array that is not a NumPy array, such as a sparse array."""

    __slots__ = ("__weakref__",)

    def kept(self) -> Any:
        """The array to keep as a gradient, when it is the first that reaches a leaf."""
        raise NotImplementedError

    def added(self, other: Any) -> Any:
        """The sum of a gradient that a leaf holds and another: the array itself if it can be added to in place."""
        raise NotImplementedError
