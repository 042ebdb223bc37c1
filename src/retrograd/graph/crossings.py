"""Nodes on the border of a transform's level: what a gradient becomes that leaves or enters the level.

The nodes themselves belong to the transforms. The engine only has to know whether such a node exists, because then a
backward pass may meet arrays of a level that is no longer in effect, so its rules must compute with tensors.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from .node import OtherNode

# The crossings that exist, by identity.
alive: dict[int, Any] = {}


class Crossing(OtherNode):
    """A border of `level`."""

    __slots__ = ("level",)
    lifts = False                                          # whether a level uses a value of another level here

    def __init__(self, level: Any, edges: tuple[Any, ...], shape: Any, dtype: Any) -> None:
        super().__init__(edges, shape, dtype)
        self.level = level
        alive[id(self)] = weakref.ref(self, partial(_forget, id(self)))


def _forget(key: int, reference: Any) -> None:
    alive.pop(key, None)


def original(edge: Any) -> Any:
    """The edge of a value itself, where `edge` leads to the use of the value among values of a level."""
    while isinstance(edge, Crossing) and edge.lifts:
        edge = edge.edges[0]
    return edge
