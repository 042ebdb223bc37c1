"""Saved values that are kept in another form, which hooks on saved tensors made of them, until the node is run.

A node whose `saved` is a `Packed` goes the engine's long way, which asks it for the values. Must not know Tensor or
what the hooks do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .faults import in_turn, modified, producer
from .versions import written_since


class Parcel:
    """One packed value. Subclasses say how it is unpacked."""

    __slots__ = ()

    def unpack(self, node: Any) -> Any:
        """The value again, for the node that saved it."""
        raise NotImplementedError


class Converted(Parcel):
    """An operand that was brought to another dtype: what is saved is the copy, what may be written to the original.

    `producer` is (node, output number) of what made the original.
    """

    __slots__ = ("array", "original", "producer")

    def __init__(self, array: np.ndarray[Any, Any], original: np.ndarray[Any, Any], producer: tuple[Any, int]) -> None:
        self.array, self.original, self.producer = array, original, producer

    def unpack(self, node: Any) -> np.ndarray[Any, Any]:
        if written_since(self.original, node.number):
            raise modified(node, self.original, *self.producer)
        return self.array


class Indices(Parcel):
    """The index arrays of x[...], which may be written to as any operand may; or parcels of them."""

    __slots__ = ("arrays",)

    def __init__(self, arrays: tuple[Any, ...]) -> None:
        self.arrays = arrays

    def unpack(self, node: Any) -> Any:
        for array in self.arrays:
            if isinstance(array, np.ndarray) and written_since(array, node.number):
                raise modified(node, array, None, 0)
        return tuple([array.unpack(node) if isinstance(array, Parcel) else array for array in self.arrays])


def look_after_indices(node: Any) -> None:
    """Where a node saved the arrays of an index, see to it that a write to them is noticed."""
    at = node.op.indices_at
    if at is not None and node.saved[at] is not None:
        node.saved, node.plan = Packed([*node.saved[:at], Indices(node.saved[at]), *node.saved[at + 1:]]), None


class Packed(tuple[Any, ...]):
    """The saved values of a node, some of them parcels.

    A parcel itself looks to whether its memory was written to, or, as hooks in PyTorch, does not.
    """

    __slots__ = ()

    def values(self, node: Any) -> tuple[Any, ...]:
        """The saved values, unpacked for the node that has them. Raises RuntimeError where one was written to."""
        values = [*self]
        for i in in_turn(node):
            if isinstance(values[i], Parcel):
                values[i] = values[i].unpack(node)
            elif values[i] is not None and written_since(values[i], node.number):
                raise modified(node, values[i], *producer(node, node.saves[i]))
        return tuple([value.unpack(node) if isinstance(value, Parcel) else value for value in values])
