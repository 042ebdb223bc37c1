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
from .storage import new_memory


class Lease:
    """The memory of one result: `array` is the result, `memory` owns its elements. Both are counted when nobody else
    holds them. `name` is the name of the array in the plan. `leaf` is the leaf whose gradient the result is, if the run
    leaves the result there. `again` says that the gradient that stands there now gets the next numbers, and `free` that
    nobody else holds the memory.
    """

    __slots__ = ("again", "array", "array_count", "free", "leaf", "memory", "memory_count", "name")

    def __init__(self, name: str, array: Array, memory: Array) -> None:
        self.name, self.array, self.memory = name, array, memory
        self.leaf: Any = None
        self.again = self.free = False

    def settle(self) -> None:
        """Count the references that the plan itself holds. Call this when the plan is complete."""
        self.array_count, self.memory_count = getrefcount(*(self.array,)), getrefcount(*(self.memory,))

    def take_back(self) -> bool:
        """Take the memory back, if it is free. Returns whether it is."""
        leaf = self.leaf
        again = self.again = leaf is not None and leaf._grad_meta is not None and self._is_replaced(leaf._grad_meta)
        free = self.free = (getrefcount(*(self.memory,)) == self.memory_count and
                            getrefcount(*(self.array,)) == self.array_count + again)
        if free:
            versions.forget(self.memory)
        return free

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


class Room:
    """One memory of results, and what of the plan lies in it.

    `arrays` are those of the leases. `named` are all arrays of the plan in the memory, by their names in the source.
    `entries` are the addresses in the memory, each with its table and its place there. `used` are the references to the
    memory and to the array of each lease while the plan uses the memory, and `left` are those to the memory and to the
    arrays while the plan uses another one. Both are as many as there are if the program holds nothing.
    """

    __slots__ = ("arrays", "entries", "left", "memory", "named", "used")

    def __init__(self, memory: Array, arrays: list[Array], named: dict[str, Array],
                 entries: list[tuple[Array, int, int]]) -> None:
        self.memory, self.arrays, self.named, self.entries = memory, arrays, named, entries
        self.used: list[tuple[int, int]] = []
        self.left: list[int] = []

    def held_by(self, memories: int, array: Array) -> int:
        """The references to an array from so many holders of the memory, and from one of each array."""
        return sum([each is array for each in (*[self.memory] * memories, *self.arrays, *self.named.values())])

    def expect(self, used: list[tuple[int, int]]) -> None:
        """Note the references while the plan uses the memory. When the plan leaves, leases and source let go of it."""
        counts = [used[0][0], *[count for _, count in used]]
        self.left = [count - self.held_by(len(used), array)
                     for count, array in zip(counts, (self.memory, *self.arrays), strict=True)]
        self.used = used

    def is_free(self) -> bool:
        """Whether the program has let go of the memory, which the plan has left."""
        arrays, left = self.arrays, self.left
        return getrefcount(*(self.memory,)) == left[0] and all(
            [ownership.count(arrays, i) == left[i + 1] for i in range(len(arrays))])


class Group:
    """The leases whose results lie in one memory. `room` is this memory, once the plan has left it for the first time,
    and `other` is the memory that the plan has left last.
    """

    __slots__ = ("leases", "other", "room")

    def __init__(self) -> None:
        self.leases: list[Lease] = []
        self.room: Room | None = None
        self.other: Room | None = None


class Leases:
    """The leases of a plan, by the place of the result.

    `scope` has the arrays of the plan by name, and `tables` are the addresses that its machine code uses.
    """

    __slots__ = ("_away", "_groups", "_leases", "_moving", "by_place", "scope", "tables")

    def __init__(self, leases: dict[int, Lease], scope: dict[str, Any], tables: list[Array]) -> None:
        self.by_place, self.scope, self.tables = leases, scope, tables
        groups: dict[int, Group] = {}
        for lease in leases.values():
            groups.setdefault(id(lease.memory), Group()).leases.append(lease)
        self._groups, self._leases = [*groups.values()], [*leases.values()]
        self._away = False                                 # whether a group has left a memory in the last run
        self._moving: tuple[Group, Room] | None = None     # what an interrupt may have left half done

    def settle(self) -> None:
        """Begin to count who holds the memory. Call this when the plan is complete."""
        for lease in self.by_place.values():
            lease.settle()

    def take_back(self) -> None:
        """Take all memory back. The plan goes on with other memory in place of what the program holds."""
        if self._moving is not None:
            self._use(*self._moving)
            self._moving = None
        if False in [lease.take_back() for lease in self._leases] or HELD_ONCE < 0:
            held = [group for group in self._groups
                    if HELD_ONCE < 0 or not all([lease.free for lease in group.leases])]
            self._look_up([group for group in held if group.room is None])
            self._away = True
            for group in held:
                self._leave(group)
        elif self._away:
            for group in self._groups:
                group.other = None
            self._away = False

    def spoil(self) -> None:
        """Take away the gradients that a run has not written to its end."""
        for lease in self.by_place.values():
            lease.spoil()

    def _look_up(self, groups: list[Group]) -> None:
        """Find what of the plan lies in the memory of groups, which the plan leaves for the first time."""
        named: dict[int, dict[str, Array]] = {id(group.leases[0].memory): {} for group in groups}
        for name, array in self.scope.items() if groups else ():
            if type(array) is np.ndarray and id(owner_of(array)) in named:
                named[id(owner_of(array))][name] = array
        for group in groups:
            self._make_room(group, named[id(group.leases[0].memory)])

    def _make_room(self, group: Group, named: dict[str, Array]) -> None:
        """Note what lies in the memory that the leases of a group use. The room itself holds it, too."""
        memory = group.leases[0].memory
        start, size = address(memory), memory.nbytes
        entries = [(table, int(place), int(table[place])) for table in self.tables
                   for place in np.nonzero((table >= start) & (table < start + size))[0]]
        room = Room(memory, [lease.array for lease in group.leases], named, entries)
        room.expect([(lease.memory_count + room.held_by(1, memory), lease.array_count + room.held_by(1, lease.array))
                     for lease in group.leases])
        self._moving = group, room
        self._use(group, room)
        self._moving = None

    def _leave(self, group: Group) -> None:
        """Leave the memory of a group to the program. Use the memory that was left before, or new memory."""
        present, other = group.room, group.other
        assert present is not None
        self._moving = group, present
        if other is not None and HELD_ONCE > 0 and other.is_free():
            versions.forget(other.memory)
            self._use(group, other)
        else:
            room = _like(present, group.leases)
            self._use(group, room)
            for lease in group.leases:
                lease.settle()
            room.expect([(lease.memory_count, lease.array_count) for lease in group.leases])
        group.other, self._moving = present, None

    def _use(self, group: Group, room: Room) -> None:
        """Have the plan use a memory for the results of a group. An interrupt may make this run again."""
        self.scope.update(room.named)
        for table, place, entry in room.entries:
            table[place] = entry
        counts = room.used or [(0, 0)] * len(room.arrays)
        for lease, array, (of_memory, of_array) in zip(group.leases, room.arrays, counts, strict=True):
            lease.array, lease.memory = array, room.memory
            lease.memory_count, lease.array_count = of_memory, of_array
        group.room = room


def _like(room: Room, leases: Sequence[Lease]) -> Room:
    """New memory in which the same lies."""
    before, memory = address(room.memory), new_memory(room.memory.nbytes)
    move = address(memory) - before
    named = {name: seen_in((memory, 0), array, address(array) - before) for name, array in room.named.items()}
    return Room(memory, [named[lease.name] for lease in leases], named,
                [(table, place, entry + move) for table, place, entry in room.entries])
