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

from ...graph import versions
from ...kernels.layout import address, owner_of
from ...tensors.state.base import note_layout, plain
from ..stand_ins import seen_in

Array = np.ndarray[Any, Any]


class Lease:
    """The memory of one result: `array` is the result, `memory` owns its elements. Both are counted when nobody else
    holds them. `name` is the name of the array in the plan. `leaf` is the leaf whose gradient the result is, if the run
    leaves the result there.
    """

    __slots__ = ("_array_count", "_memory_count", "array", "leaf", "memory", "name", "names", "slots", "tensor")

    def __init__(self, name: str, array: Array, memory: Array) -> None:
        self.name, self.array, self.memory = name, array, memory
        self.tensor: Any = None
        self.leaf: Any = None
        self.names: list[str] | None = None                # of all arrays of the plan in this memory, once looked up
        self.slots: list[tuple[Array, Array]] = []         # and the tables of addresses in it, with the places there

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
        self._look_up(left)
        for lease in left:
            if id(lease.memory) in owners:                 # not yet moved with another lease
                self._move(lease, [other for other in left if other.memory is lease.memory])
        for lease in left:
            lease.settle()

    def _look_up(self, left: list[Lease]) -> None:
        """Find where the memory of leases stands in the plan, once for each lease."""
        names: dict[int, list[str]] = {id(lease.memory): [] for lease in left if lease.names is None}
        for name, array in self.scope.items() if names else ():
            if type(array) is np.ndarray and id(owner_of(array)) in names:
                names[id(owner_of(array))].append(name)
        for lease in left:
            if lease.names is None:
                start, size = address(lease.memory), lease.memory.nbytes
                found = [(table, np.nonzero((table >= start) & (table < start + size))[0]) for table in self.tables]
                lease.names, lease.slots = names[id(lease.memory)], [pair for pair in found if len(pair[1])]

    def _move(self, first: Lease, leases: list[Lease]) -> None:
        """Have the plan use new memory in the place of that of some leases."""
        start, memory = address(first.memory), np.empty_like(first.memory)
        for name in first.names or ():
            self.scope[name] = seen_in((memory, 0), self.scope[name], address(self.scope[name]) - start)
        for table, places in first.slots:
            table[places] = table[places] - np.uintp(start) + np.uintp(address(memory))
        for lease in leases:
            lease.array, lease.memory, lease.tensor = self.scope[lease.name], memory, None
