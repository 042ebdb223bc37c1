"""Memory of results that a plan uses again, as long as nobody else holds it.

The results of a run lie in buffers of the plan, and the program holds them as tensors. Before the next run, a `Lease`
asks who still holds the buffer. If only the tensor of the last run does, and the tensor stands nowhere but as the
gradient that the next run replaces, the tensor gets the next numbers. If the program holds the tensor elsewhere, the
tensor gets a copy of its numbers. If the program holds the memory in another way, such as a NumPy array, the plan
leaves this memory to the program, and goes on with other memory.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

from ..graph import versions
from ..kernels.layout import address, owner_of
from ..tensors.state.base import note_layout, plain
from .storage import moved

Array = np.ndarray[Any, Any]


class Lease:
    """The memory of one result: `array` is the result, `memory` owns its elements. Both are counted when nobody else
    holds them. `name` is the name of the array in the plan. `leaf` is the leaf whose gradient the result is, if the run
    leaves the result there.
    """

    __slots__ = ("_array_count", "_memory_count", "array", "leaf", "memory", "name", "tensor")

    def __init__(self, name: str, array: Array, memory: Array) -> None:
        self.name, self.array, self.memory = name, array, memory
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
        if versions.writes_to(self.memory) is not None:
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


class Leases:
    """The leases of a plan, by the place of the result.

    `scope` has the arrays of the plan by name, and `tables` are the addresses that its machine code uses.
    """

    __slots__ = ("by_place", "scope", "tables")

    def __init__(self, leases: dict[int, Lease], scope: dict[str, Any], tables: list[Array]) -> None:
        self.by_place, self.scope, self.tables = leases, scope, tables

    def settle(self) -> None:
        """Begin to count who holds the memory. Call this when the plan is complete."""
        for lease in self.by_place.values():
            lease.settle()

    def take_back(self) -> None:
        """Take all memory back. The plan goes on with other memory in the place of what the program holds."""
        held = [lease for lease in self.by_place.values() if not lease.is_free()]
        if held:
            self._leave({id(lease.memory) for lease in held})

    def _leave(self, owners: set[int]) -> None:
        """Leave memory to the program."""
        left = [lease for lease in self.by_place.values() if id(lease.memory) in owners]
        for owner in {id(lease.memory): lease.memory for lease in left}.values():
            moved(self.scope, self.tables, (address(owner), owner.nbytes), np.empty_like(owner))
        for lease in left:
            lease.array, lease.tensor = self.scope[lease.name], None
            lease.memory = owner_of(lease.array)
        for lease in left:
            lease.settle()
