"""Memory of results that a plan uses again, as long as nobody else holds it.

The results of a run lie in buffers of the plan, and the program holds them as tensors. Before the next run, a `Lease`
asks who still holds the buffer. If only the tensor of the last run does, and the tensor stands nowhere but as the
gradient that the next run replaces, the tensor gets the next numbers. If the program holds the tensor elsewhere, the
tensor gets a copy of its numbers. If the program holds the memory in another way, such as a NumPy array, the plan must
give this memory up.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import getrefcount
from typing import Any

import numpy as np

from ..graph import versions
from ..tensors.state.base import note_layout, plain

Array = np.ndarray[Any, Any]


class Lease:
    """The memory of one result: `array` is the result, `memory` owns its elements. Both are counted when nobody else
    holds them. `leaf` is the leaf whose gradient the result is, if the run leaves the result there.
    """

    __slots__ = ("_array_count", "_memory_count", "array", "leaf", "memory", "tensor")

    def __init__(self, array: Array, memory: Array) -> None:
        self.array, self.memory = array, memory
        self.tensor: Any = None
        self.leaf: Any = None

    def settle(self) -> None:
        """Count the references that the plan itself holds. Call this when the plan is complete."""
        self._array_count, self._memory_count = getrefcount(self.array), getrefcount(self.memory)

    def is_free(self) -> bool:
        """Take the memory back, if this is possible. Returns whether it is."""
        tensor = self.tensor
        held = getrefcount(self.array) - self._array_count
        if getrefcount(self.memory) != self._memory_count or held > (tensor is not None):
            return False
        if tensor is not None and (not held or getrefcount(tensor) > _SLOT_ALONE or not self._is_in_place(tensor)
                                   or tensor._meta is not None or tensor._edge is not None):
            if held:
                tensor._array = self.array.copy(order="K")
            self.tensor = None
        versions.forget(self.memory)
        return True

    def _is_in_place(self, tensor: Any) -> bool:
        """Whether the tensor stands where the next run puts its result."""
        return self.leaf is not None and self.leaf._meta is not None and self.leaf._meta.grad is tensor

    def result(self) -> Any:
        """The tensor with the result of the run."""
        tensor = self.tensor
        if tensor is None:
            tensor = self.tensor = plain(self.array)
            note_layout(tensor)
        return tensor


# The references to a tensor that only its lease and one place hold: both, the variable here, and the argument.
_SLOT_ALONE = 4


def all_free(leases: Iterable[Lease]) -> bool:
    """Take all memory back, if this is possible. Returns whether it is."""
    return all([lease.is_free() for lease in leases])
