"""Memory of results that a plan uses again, as long as nobody else holds it.

The results of a run lie in buffers of the plan, and the program holds them as tensors. Before the next run, a `Lease`
asks who still holds the buffer. If only the tensor of the last run does, and the tensor stands nowhere but as the
gradient that the next run replaces, the tensor gets the next numbers. If the program holds the tensor or the memory
elsewhere, the plan goes on with other memory. A program often holds the result of one run until the next run is over,
so the plan does not forget the memory that it leaves: two memories take turns.

Who holds memory is counted as `ownership` describes: through a tuple, since an attribute and a tuple own their
references in every version of Python. If these counts do not work, the plan goes on with other memory in each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import ownership, versions
from ...graph.ownership import HELD_ONCE, getrefcount
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
        self._array_count, self._memory_count = getrefcount(*(self.array,)), getrefcount(*(self.memory,))

    def is_free(self) -> bool:
        """Take the memory back, if this is possible. Returns whether it is."""
        references = getrefcount(*(self.tensor,))          # before a variable here holds the tensor, too
        tensor = self.tensor
        held = getrefcount(*(self.array,)) - self._array_count
        if getrefcount(*(self.memory,)) != self._memory_count or held > (tensor is not None):
            return False
        if tensor is not None:
            meta = None if self.leaf is None else self.leaf._meta
            in_place = meta is not None and meta.grad is tensor              # where the next run puts its result
            if not held or tensor._meta is not None or tensor._edge is not None or references != HELD_ONCE + in_place:
                if held and references != HELD_ONCE:
                    return False
                self.tensor = None
        versions.forget(self.memory)
        return True

    def result(self) -> Any:
        """The tensor with the result of the run."""
        tensor = self.tensor
        if tensor is None:
            tensor = self.tensor = plain(self.array)
            note_layout(tensor)
        return tensor


class Left:
    """Memory that the plan has left to the program: what of the plan lies in it.

    `named` are the arrays, by their names in the source. `entries` are the tables of machine code, with the places of
    addresses in this memory, and the addresses. `arrays` are those of the leases, and `counts` are the references to
    each of them, and to the memory, when the program holds nothing.
    """

    __slots__ = ("arrays", "counts", "entries", "memory", "named")

    def __init__(self, leases: Sequence[Lease], scope: dict[str, Any]) -> None:
        first = leases[0]
        self.memory, self.arrays = first.memory, [lease.array for lease in leases]
        self.counts = [first._memory_count + 1 - len(leases), *[lease._array_count for lease in leases]]
        self.named = {name: scope[name] for name in first.names or ()}
        self.entries = [(table, places, table[places]) for table, places in first.slots]

    def is_free(self) -> bool:
        """Whether the program has let go of the memory."""
        arrays = [ownership.count(self.arrays, i) for i in range(len(self.arrays))]
        return [getrefcount(*(self.memory,)), *arrays] == self.counts


class Leases:
    """The leases of a plan, by the place of the result.

    `scope` has the arrays of the plan by name, and `tables` are the addresses that its machine code uses. `left` is the
    memory that the plan has left last, by the name of the first result in it.
    """

    __slots__ = ("by_place", "left", "scope", "tables")

    def __init__(self, leases: dict[int, Lease], scope: dict[str, Any], tables: list[Array]) -> None:
        self.by_place, self.scope, self.tables = leases, scope, tables
        self.left: dict[str, Left] = {}

    def settle(self) -> None:
        """Begin to count who holds the memory. Call this when the plan is complete."""
        for lease in self.by_place.values():
            lease.settle()

    def take_back(self) -> None:
        """Take all memory back. The plan goes on with other memory in the place of what the program holds."""
        held = [lease for lease in self.by_place.values() if HELD_ONCE < 0 or not lease.is_free()]
        if held:
            self._leave({id(lease.memory) for lease in held})
        elif self.left:
            self.left.clear()

    def _leave(self, owners: set[int]) -> None:
        """Leave memory to the program."""
        leaving: dict[int, list[Lease]] = {}
        for lease in self.by_place.values():
            if id(lease.memory) in owners:
                leaving.setdefault(id(lease.memory), []).append(lease)
        self._look_up([leases[0] for leases in leaving.values()])
        for leases in leaving.values():
            self._move(leases)

    def _look_up(self, firsts: list[Lease]) -> None:
        """Find where the memory of leases stands in the plan, once for the first lease of each memory."""
        names: dict[int, list[str]] = {id(lease.memory): [] for lease in firsts if lease.names is None}
        for name, array in self.scope.items() if names else ():
            if type(array) is np.ndarray and id(owner_of(array)) in names:
                names[id(owner_of(array))].append(name)
        for lease in firsts:
            if lease.names is None:
                start, size = address(lease.memory), lease.memory.nbytes
                found = [(table, np.nonzero((table >= start) & (table < start + size))[0]) for table in self.tables]
                lease.names, lease.slots = names[id(lease.memory)], [pair for pair in found if len(pair[1])]

    def _move(self, leases: list[Lease]) -> None:
        """Have the plan use the memory that it left before, or new memory, in the place of that of some leases."""
        name = leases[0].name
        other, self.left[name] = self.left.get(name), Left(leases, self.scope)
        if other is not None and HELD_ONCE > 0 and other.is_free():
            versions.forget(other.memory)
            self._return(other, leases)
        else:
            self._begin(leases)

    def _return(self, other: Left, leases: list[Lease]) -> None:
        """Use memory again that was left."""
        self.scope.update(other.named)
        for table, places, addresses in other.entries:
            table[places] = addresses
        for lease, array in zip(leases, other.arrays, strict=True):
            lease.array, lease.memory, lease.tensor = array, other.memory, None

    def _begin(self, leases: list[Lease]) -> None:
        """Use new memory."""
        first = leases[0]
        start, memory = address(first.memory), np.empty_like(first.memory)
        for name in first.names or ():
            self.scope[name] = seen_in((memory, 0), self.scope[name], address(self.scope[name]) - start)
        for table, places in first.slots:
            table[places] = table[places] - np.uintp(start) + np.uintp(address(memory))
        for lease in leases:
            lease.array, lease.memory, lease.tensor = self.scope[lease.name], memory, None
        del memory
        for lease in leases:
            lease.settle()
