"""The memory that the values of a tape lie in: whose it is, where it is, and what was in it before the run."""

from __future__ import annotations

from ...foundations.dtypes import Array
from ...kernels.layout import address, owner_of, span
from ..program.lines import Value
from ..program.stand_ins import Memory, Reserved, reserve, seen_in
from . import deferred


class Memories:
    """The memory of values, by its owners. Large memory lets calls wait, which `waiting` puts off."""

    def __init__(self, values: list[Value], waiting: deferred.Deferred) -> None:
        self.values, self.waiting = values, waiting
        self.spans: list[tuple[int, int, int]] = []        # of memory from outside: from, to, and a value in it
        self._owners: dict[int, Memory] = {}               # by the identity of the owner

    def locate(self, array: Array, made: bool, number: int) -> tuple[Array, int]:
        """The geometry of a new value, and the first value in its memory. `made` says that a line has made it."""
        if not array.size:                                 # which shares memory with no other
            return (seen_in(reserve(0), array, 0) if made else array), number
        memory = self.of(array)
        if memory is None:
            owner = owner_of(array)
            reserved, first = (reserve(owner.nbytes), number) if made else (None, self._first_in(owner, number))
            memory = self._own(owner, first, address(owner), reserved)
        like = array if memory.reserved is None else seen_in(memory.reserved, array, address(array) - memory.address)
        return like, memory.number

    def of(self, array: Array) -> Memory | None:
        """The memory that an array lies in; None if no value is known to lie in it."""
        owner = owner_of(array)
        memory = self._owners.get(id(owner))
        return memory if memory is not None and memory() is owner else None    # else `_disown` was interrupted

    def _first_in(self, owner: Array, number: int) -> int:
        """The first value in the memory of an array from outside. Several arrays may own the same memory, such as those
        of a tensor and of its `.data`, or of two tensors that were made from one array of NumPy.
        """
        start, end = span(owner)
        shared = {self.values[known].memory for low, high, known in self.spans if low < end and start < high}
        self.spans.append((start, end, number))
        if not shared:
            return number
        first = min(shared)
        for value in self.values:
            value.memory = first if value.memory in shared else value.memory
        for memory in self._owners.values():
            memory.number = first if memory.number in shared else memory.number
        return first

    def _own(self, owner: Array, number: int, address: int, reserved: Reserved | None) -> Memory:
        """Note who owns memory, until the owner is gone and another array may have its identity."""
        memory = Memory(owner, self._disown)
        memory.key, memory.number, memory.address, memory.reserved = id(owner), number, address, reserved
        self._owners[memory.key] = memory
        if owner.nbytes >= deferred.LARGE:
            self.waiting.active = self.waiting.allowed
        return memory

    def _disown(self, memory: Memory) -> None:
        key = memory.key
        if self._owners.get(key) is memory:
            del self._owners[key]

    def own_as(self, array: Array, other: Array) -> None:
        """Note that an array lies in the same memory as another one, although it has an owner of its own."""
        if array.size:
            memory = self._owners[id(owner_of(other))]
            self._own(owner_of(array), memory.number, memory.address, memory.reserved)

    def forget(self) -> None:
        """Forget who owns memory."""
        self._owners = {}


class Former:
    """The numbers that memory from outside had before a run wrote it, if they are `wanted`."""

    def __init__(self, values: list[Value], wanted: bool) -> None:
        self.values, self.wanted = values, wanted
        self._kept: dict[int, tuple[Array, Array]] = {}

    def keep(self, number: int) -> None:
        """Keep the numbers of memory that is written for the first time."""
        if not self.wanted:
            return
        owner = self.values[self.values[number].memory]
        if owner.source != "line" and owner.memory not in self._kept:
            memory = owner_of(owner.like)
            self._kept[owner.memory] = memory, memory.copy()

    def put_back(self) -> None:
        """Give all memory from outside the numbers that it had before the run."""
        for memory, numbers in self._kept.values():
            memory[...] = numbers
