"""What the scratch arrays share: what an array behind a tensor must answer, and how such arrays are found and replaced.

It answers for its shape, its dtype and how it lies (`strides`, `flags`, `offset`), and says which NumPy array stands
for its memory (`base`), by which writes are counted. It is no NumPy array, and refuses to be made one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from retrograd.kernels.kinds import Geometry
from retrograd.kernels.layout import offset_of


class Foreign(Geometry):
    """An array that is none of NumPy's. `like` is a NumPy array of the shape, dtype and layout that it shows."""

    __slots__ = ("__weakref__", "like")
    __array_ufunc__ = None

    def __init__(self, like: np.ndarray[Any, Any]) -> None:
        self.like = like

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} was taken for a NumPy array")

    base = property(lambda self: self.like)
    offset = property(lambda self: offset_of(self.like))


def replaced(value: Any, replace: Callable[[Any], Any]) -> Any:
    """`value` with each foreign array in it, also inside of lists and tuples, replaced."""
    if isinstance(value, Foreign):
        return replace(value)
    if type(value) in (list, tuple):
        return type(value)([replaced(part, replace) for part in value])
    return value


def foreign(value: Any) -> Iterator[Any]:
    """The foreign arrays in a value."""
    if isinstance(value, Foreign):
        yield value
    elif type(value) in (list, tuple):
        for part in value:
            yield from foreign(part)
