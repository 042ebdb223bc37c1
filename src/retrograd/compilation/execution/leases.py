"""Memory of results that a plan uses again, as long as nobody else holds it.

The results of a run lie in buffers of the plan, and the program holds them as tensors. The plan holds no tensor, so a
weak reference to a result ends with the program's last reference. Before the next run, a `Lease` asks who still holds
the buffer. If only a tensor does that stands nowhere but as the gradient that the next run replaces, and that nobody
can see through a weak reference, this tensor gets the next numbers. If the program holds the memory elsewhere, the plan
goes on with other memory. A program often holds the result of one run until the next run is over, so the plan does not
forget the memory that it leaves: two memories take turns.

Who holds memory is counted as `ownership` describes: through a tuple, since an attribute and a tuple own their
references in every version of Python. If these counts do not work, the plan goes on with other memory in each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import getweakrefcount

import numpy as np

from ...foundations.dtypes import Array
from ...graph import ownership, versions
from ...graph.ownership import HELD_ONCE, getrefcount
from ...kernels.layout import address, owner_of
from ...tensors.state.base import plain
from ...tensors.state.dispatch import DISPATCH
from ..program.stand_ins import seen_in


class Lease:
    """The memory of one result: `array` is the result, `memory` owns its elements. Both are counted when nobody else
    holds them. `name` is the name of the array in the plan. `leaf` is the leaf whose gradient the result is, if the run
    leaves the result there. `again` says that the gradient that stands there now gets the next numbers.
    """

    __slots__ = ("_array_count", "_memory_count", "again", "array", "leaf", "memory", "name", "names", "slots")

    def __init__(self, name: str, array: Array, memory: Array) -> None:
        self.name, self.array, self.memory = name, array, memory
        self.leaf: Any = None
        self.again = False
        self.names: list[str] | None = None                # of all arrays of the plan in this memory, once looked up
        self.slots: list[tuple[Array, Array]] = []         # and the tables of addresses in it, with the places there

    def settle(self) -> None:
        """Count the references that the plan itself holds. Call this when the plan is complete."""
        self._array_count, self._memory_count = getrefcount(*(self.array,)), getrefcount(*(self.memory,))

    def is_free(self) -> bool:
        """Take the memory back, if this is possible. Returns whether it is."""
        meta = None if self.leaf is None else self.leaf._grad_meta
        self.again = meta is not None and self._is_replaced(meta)
        if getrefcount(*(self.memory,)) != self._memory_count or (
                getrefcount(*(self.array,)) != self._array_count + self.again):
            return False
        versions.forget(self.memory)
        return True

    def _is_replaced(self, meta: Any) -> bool:
        """Whether the gradient of the leaf is a tensor over this array that nothing else holds, and that the program
        has not changed.
        """
        references, tensor = getrefcount(*(meta.grad,)), meta.grad           # counted before a variable here holds it
        return (references == HELD_ONCE and type(tensor) is DISPATCH.tensor and tensor._array is self.array
                and tensor._grad_meta is None and tensor._edge is None and not tensor.__dict__
                and not getweakrefcount(tensor))

    def result(self) -> Any:
        """The tensor with the result of the run."""
        if self.again:
            tensor = self.leaf._grad_meta.grad
            if tensor is not None and tensor._array is self.array:           # unless another thread has replaced it
                return tensor
        return plain(self.array)

    def spoil(self) -> None:
        """Take away the gradient that should have had the next numbers, after a run that did not come to its end. The
        program has replaced the gradient, or has taken it away to do so.
        """
        if self.again and self.leaf._grad_meta.grad is not None and self.leaf._grad_meta.grad._array is self.array:
            self.leaf._grad_meta.grad = None


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

    __slots__ = ("_moving", "by_place", "left", "scope", "tables")

    def __init__(self, leases: dict[int, Lease], scope: dict[str, Any], tables: list[Array]) -> None:
        self.by_place, self.scope, self.tables = leases, scope, tables
        self.left: dict[str, Left] = {}
        self._moving: tuple[Left, list[Lease]] | None = None           # what an interrupt may have left half done

    def settle(self) -> None:
        """Begin to count who holds the memory. Call this when the plan is complete."""
        for lease in self.by_place.values():
            lease.settle()

    def take_back(self) -> None:
        """Take all memory back. The plan goes on with other memory in place of what the program holds."""
        if self._moving is not None:
            self._return(*self._moving)
        held = [lease for lease in self.by_place.values() if HELD_ONCE < 0 or not lease.is_free()]
        if held:
            self._leave({id(lease.memory) for lease in held})
        elif self.left:
            self.left.clear()

    def spoil(self) -> None:
        """Take away the gradients that a run has not written to its end."""
        for lease in self.by_place.values():
            lease.spoil()

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
        """Have the plan use the memory that it left before, or new memory, in place of that of some leases."""
        name, present = leases[0].name, Left(leases, self.scope)
        other = self.left.get(name)
        self._moving = present, leases
        if other is not None and HELD_ONCE > 0 and other.is_free():
            versions.forget(other.memory)
            self._return(other, leases)
        else:
            self._begin(leases, present)
        self.left[name], self._moving = present, None

    def _return(self, other: Left, leases: list[Lease]) -> None:
        """Use memory again that was left."""
        self.scope.update(other.named)
        for table, places, addresses in other.entries:
            table[places] = addresses
        for lease, array in zip(leases, other.arrays, strict=True):
            lease.array, lease.memory = array, other.memory
        self._moving = None

    def _begin(self, leases: list[Lease], present: Left) -> None:
        """Use new memory in place of the present one."""
        start, memory = address(present.memory), np.empty_like(present.memory)
        for name, array in present.named.items():
            self.scope[name] = seen_in((memory, 0), array, address(array) - start)
        for table, places, addresses in present.entries:
            table[places] = addresses - np.uintp(start) + np.uintp(address(memory))
        for lease in leases:
            lease.array, lease.memory = self.scope[lease.name], memory
        del memory
        for lease in leases:
            lease.settle()
