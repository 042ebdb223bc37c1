"""Arrays of levels, taken to pieces: what hooks on saved values are given in place of an array that a level knows.

A dual number is saved as its number and its tangent, and a batch as one array with an ordinary axis for the samples. So
a hook gets arrays of NumPy, as in PyTorch, and a value that a checkpoint computes anew, in levels of its own, becomes a
value of the levels in which it was saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...foundations.dtypes import Array
from ...foundations.modes import local
from ...ops.basic import copy
from .batched import joined, parts
from .levels import Level, in_effect, inner, inside, outer
from .shadows import alike


class _Whole(NamedTuple):
    """How an array lies in its levels: the levels of its leading axes, and for each level its tangent there."""

    axes: tuple[Any, ...]
    tangents: tuple[tuple[Any, _Whole], ...]

    def put_together(self, pieces: Iterator[Any], levels: Sequence[Level]) -> Any:
        """The array of these pieces: the number, and then the tangents from the outermost level on."""
        array = joined(self.axes, next(pieces))
        for level, whole in self.tangents:
            tangent = whole.put_together(pieces, levels)
            with in_effect([each for each in levels if each is not level]), inside():
                array = alike(array)
                level.shadows.give(array, copy.run(tangent, "K"))
        return array


def pieces(level: Level, array: Array) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
    """The NumPy arrays that an array is made of, and the function that makes it of them. `level` is the innermost one.

    None if the array belongs to no level in effect.
    """
    levels = local.thread.levels
    found: list[Any] = []
    whole = _taken_apart(inner(array), levels, found)
    if not whole.axes and not whole.tangents:
        return None

    def put_together(arrays: list[Any]) -> Any:
        return outer(whole.put_together(iter([inner(each) for each in arrays]), levels))

    return [outer(each) for each in found], put_together


def _taken_apart(array: Array, levels: Sequence[Any], found: list[Any]) -> _Whole:
    """How an array lies in these levels. Its pieces are added to `found`.

    The tangent at a level has tangents of its own at the levels below.
    """
    physical, axes = parts(array)
    found.append(physical)
    tangents = []
    for i, level in enumerate(levels):
        tangent = level.shadows.tangent(array) if level.has_tangents else None
        if tangent is not None:
            tangents.append((level, _taken_apart(tangent, levels[:i], found)))
    return _Whole(axes, tuple(tangents))
