"""Nodes on the border of a transform's level: what a gradient becomes that leaves or enters the level.

The nodes themselves belong to the transforms. The engine only has to know whether a backward pass meets such a node,
because then it may meet arrays of a level that is no longer in effect, so its rules must compute with tensors. While no
such node exists, no pass looks for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..foundations.dtypes import Shape
from .node import OtherNode

# The crossings that exist, and the arrays of wrappers, by identity.
alive: set[int] = set()
# The transforms that a crossing may put in effect until the end of its pass.
lasting: set[Any] = set()


class Crossing(OtherNode):
    """A border of `level`."""

    __slots__ = ("level",)
    lifts = False                                          # whether a level uses a value of another level here

    def __init__(self, level: Any, edges: tuple[Any, ...], shape: Shape, dtype: np.dtype[Any]) -> None:
        super().__init__(edges, shape, dtype)
        self.level = level
        alive.add(id(self))

    def __del__(self, forget: Callable[[int], None] = alive.discard) -> None:
        forget(id(self))


def original(edge: Any) -> Any:
    """The edge of a value itself, where `edge` leads to the use of the value among values of a level."""
    while isinstance(edge, Crossing) and edge.lifts:
        edge = edge.edges[0]
    return edge
