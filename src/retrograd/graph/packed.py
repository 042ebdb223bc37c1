"""Saved values in another form, such as hooks on saved tensors make them, until the node runs.

If a node's `saved` is a `Packed`, the engine goes the long way, which asks the `Packed` for the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Array
from .faults import in_turn, modified, origin, saved_origin
from .versions import written_since

if TYPE_CHECKING:
    from ..graph.node import Node


class Parcel:
    """One packed value. Subclasses define how to unpack it."""

    __slots__ = ()

    def unpack(self, node: Node) -> Any:
        """The unpacked value, for the node that saved it."""
        raise NotImplementedError


class Converted(Parcel):
    """An operand that was cast to another dtype. The copy is saved; a write to the original makes the node stale.

    `edge` is that of the original.
    """

    __slots__ = ("array", "edge", "original")

    def __init__(self, array: Array, original: Array, edge: Any) -> None:
        self.array, self.original, self.edge = array, original, edge

    def unpack(self, node: Node) -> Array:
        if written_since(self.original, node.number):
            raise modified(node, self.original, origin(node, self.original, self.edge))
        return self.array


class Indices(Parcel):
    """The index arrays of x[...], or parcels of them. Users may write to these arrays as to any operand."""

    __slots__ = ("arrays",)

    def __init__(self, arrays: tuple[Any, ...]) -> None:
        self.arrays = arrays

    def unpack(self, node: Node) -> Any:
        for array in self.arrays:
            if isinstance(array, np.ndarray) and written_since(array, node.number):
                raise modified(node, array)
        return tuple([array.unpack(node) if isinstance(array, Parcel) else array for array in self.arrays])


def look_after_indices(node: Any) -> None:
    """If a node saved the arrays of an index, wrap the arrays so that a write to them is noticed."""
    at = node.op.indices_at
    if at is not None and node.saved[at] is not None:
        node.saved, node.plan = Packed([*node.saved[:at], Indices(node.saved[at]), *node.saved[at + 1:]]), None


class Packed(tuple[Any, ...]):
    """The saved values of a node; some of them are parcels.

    A parcel checks for itself whether its memory was written to. A parcel made by hooks does not check, as in PyTorch.
    """

    __slots__ = ()

    def values(self, node: Node) -> tuple[Any, ...]:
        """The unpacked saved values for their node. Raises RuntimeError if one of the values was written to."""
        values = [*self]
        for i in in_turn(node):
            if isinstance(values[i], Parcel):
                values[i] = values[i].unpack(node)
            elif values[i] is not None and written_since(values[i], node.number):
                raise modified(node, values[i], saved_origin(node, i, values[i]))
        return tuple([value.unpack(node) if isinstance(value, Parcel) else value for value in values])
