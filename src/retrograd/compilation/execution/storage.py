"""Where the values of a planned program lie: in fixed memory that every run uses again, or in new memory of each run.

A value is *fixed* if its array is known before the run: a captured tensor, a constant, a buffer of the plan, or a view
of such memory. All buffers are parts of one memory. Values that are not needed at the same time share parts. Memory
that the program sees after a run (results, gradients) is a buffer of its own, which is lent to the program, or is new
in each run.

How much memory is needed is known at the end of the plan. Until then, stand-ins take the places of the buffers.

In a plan for all sizes, buffers whose size depends on those of the call have memory of their own, which is exchanged
for larger memory when a call needs this. Results that depend on the sizes are new in each run.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address, dense, owner_of
from ..passes.fusing import Unit
from ..passes.stacks import Rows, Stacks
from ..program.layouts import Layout
from ..program.lines import Line, Program, Value, called
from ..program.stand_ins import ALIGNED, reserve, seen_in
from ..program.symbols import is_symbolic

# A result of at most so many bytes is computed in a buffer, and copied for the program.
COPIED = 4096


class Storage:
    """The fixed arrays of a program, by the number of the value. `bytes` counts the memory of all buffers.

    `layouts` has the geometry of the values of a program for all sizes. `varying` are the values whose geometry depends
    on sizes.
    """

    def __init__(self, program: Program, units: Sequence[Unit], given: set[int],
                 layouts: Mapping[int, Layout]) -> None:
        self.values, self.given, self.layouts = program.values, given, layouts
        self.arrays: dict[int, Array] = {}
        self.bytes = 0
        self.escaping = {program.values[number].memory for number in program.outputs}
        self._viewed = {value.memory for value in program.values if value.is_view}
        self._shared = {program.values[number].memory for unit in units for line in unit.lines
                        for number in line.results if program.values[number].is_view}       # by lines that are no views
        self._last, self._done = self._lifetimes(units), 0             # the number of lines that are done
        self.varying = {number for number, layout in self.layouts.items() if layout.varies}
        self._renewed = self._depending(program) & self.escaping       # memory that is new in each run
        self._arena = Arena()
        self._place = reserve(sum([_aligned(value.like.nbytes) for value in self.values
                                   if value.source == "line" and value.number not in self.varying]))
        self._free: list[Array] = []                       # memory for values that depend on sizes
        self._used: dict[int, Array] = {}                  # the same, by the value it belongs to
        self._parts: dict[int, tuple[int, int]] = {}       # of the memory of buffers, by the value they belong to
        self._lent: dict[int, Array] = {}                  # buffers of their own
        self.provided: Mapping[int, Array] = {}            # arrays that lie row by row, for such buffers
        self._same: dict[Any, Array] = {}                  # equal parts are the same array
        for value in self.values:
            if value.source != "line" and value.number not in given:
                self.arrays[value.number] = value.like

    def _depending(self, program: Program) -> set[int]:
        """The memory that depends on sizes."""
        made = [number for line in program.lines if self.layouts and is_symbolic(line.args) for number in line.results]
        return {self.values[number].memory for number in (*self.varying, *made)}

    def _lifetimes(self, units: Sequence[Unit]) -> dict[int, int]:
        """The last line that uses each memory, in the order in which they run."""
        last, lines = {}, [line for unit in units for line in unit.lines]
        for place, line in enumerate(lines):
            for number in (*line.reads, *line.results):
                last[self.values[number].memory] = place
        return {**last, **dict.fromkeys(self.escaping, len(lines))}

    def kept(self, unit: Unit) -> set[int]:
        """The results of the unit that runs next whose memory is needed after it."""
        after = self._done + len(unit.lines)
        return {number for line in unit.lines for number in line.results
                if self._last[self.values[number].memory] >= after}

    def is_fixed(self, number: int) -> bool:
        """Whether the array of a value is known before the run."""
        return number in self.arrays

    def fixed_view(self, line: Line) -> bool:
        """Note the array of a view, if the viewed memory is fixed. Returns whether it is."""
        source = line.reads[0]
        if not self.is_fixed(source):
            return False
        found = called(line, line.op.kernel, self.arrays.__getitem__)
        if not all(np.may_share_memory(part, self.arrays[source]) or not part.size for part in found):
            return False
        self.arrays.update(zip(line.results, map(self._one, found), strict=True))
        return True

    def buffer(self, number: int) -> bool:
        """Give a value a buffer, if it may have one. Returns whether it has one."""
        value = self.values[number]
        if value.is_view or not dense(value.like) or value.memory in self._renewed:
            return False
        if value.memory in self.escaping and value.memory in self._shared and not self.is_copied(number):
            return False
        if number not in self.arrays:
            self.arrays[number] = self._taken(value)
        return True

    def stacked(self, stacks: Stacks) -> list[Array]:
        """The memory of stacks. The values that lie in their rows have these rows as buffers."""
        memory = [np.empty((size.rows, *size.shape), size.dtype) for size in stacks.sizes]
        self.bytes += sum([array.nbytes for array in memory])
        self.arrays.update({number: memory[stack][row, ...] for number, (stack, row) in stacks.rows.items()})
        return memory

    def is_copied(self, number: int) -> bool:
        """Whether a result is so small that the program gets a copy of the buffer."""
        value = self.values[number]
        return value.like.nbytes <= COPIED and value.memory not in self._viewed and not value.is_view

    def memory(self, number: int) -> Array | None:
        """The memory of the buffer of a result, if it may be lent to the program."""
        return self._lent.get(self.values[number].memory)

    def _taken(self, value: Value) -> Array:
        """The buffer of a value."""
        size = value.like.nbytes
        if value.memory in self.escaping and not self.is_copied(value.number):
            array = self.provided.get(value.number)
            part = new_memory(size) if array is None else array.reshape(-1).view(np.uint8)
            self._lent[value.number] = owner_of(part)
            self.bytes += size
            return laid_out(part, value.like)
        if value.number in self.varying:
            return laid_out(self._own(value.number, size)[:size], value.like)
        start = self._arena.take(_aligned(size))
        self._parts[value.number] = start, _aligned(size)
        found = seen_in(self._place, value.like, start)
        found.flags.writeable = True
        return self._one(found)

    def _own(self, number: int, size: int) -> Array:
        """Memory for a value that depends on sizes: the smallest that is large enough, or new memory."""
        large = [memory for memory in self._free if memory.nbytes >= size]
        memory = min(large, key=lambda memory: memory.nbytes, default=None)
        if memory is None:
            memory = np.empty(size, np.uint8)
            self.bytes += size
        else:
            self._free = [other for other in self._free if other is not memory]
        self._used[number] = memory
        return memory

    def _one(self, array: Array) -> Array:
        """An array, or an equal part of the shared memory that there is already. Parts that are equal for one size may
        differ for another.
        """
        if array.base is not self._place[0] or self.layouts:
            return array
        return self._same.setdefault((address(array), array.shape, array.strides, array.dtype,
                                      array.flags.writeable), array)

    def release(self, lines: Sequence[Line]) -> set[int]:
        """The memory that nothing after these lines, which run next, uses. Buffers in it serve other values."""
        self._done += len(lines)
        used = {self.values[number].memory for line in lines for number in (*line.reads, *line.results)}
        done = {memory for memory in used if self._last[memory] < self._done}
        for memory in sorted(done & self._parts.keys()):
            self._arena.give(*self._parts.pop(memory))
        self._free += [self._used.pop(memory) for memory in sorted(done & self._used.keys())]
        return done

    def settle(self, scope: dict[str, Any], tables: Sequence[Array]) -> None:
        """Put real memory in place of the stand-ins: in arrays of a scope, and in tables of addresses."""
        size, (reserved, start) = self._arena.size, self._place
        span, memory = (address(reserved) + start, size), new_memory(size)
        self.bytes += size
        moved(scope, tables, span, memory)
        if self.layouts:                                   # whose arrays are asked for again
            moved(self.arrays, (), span, memory)

    def forget_lent(self) -> None:
        """Let go of memory that is lent to the program. Only the leases have it from now on."""
        lent = {id(memory) for memory in self._lent.values()}
        self.arrays = {number: array for number, array in self.arrays.items() if id(owner_of(array)) not in lent}
        self._lent = {}


class Arena:
    """Which parts of one memory are free. The memory has the `size` that was needed at most."""

    def __init__(self) -> None:
        self.size = 0
        self._free: list[tuple[int, int]] = []             # the start and the end of parts, in order, with gaps between

    def take(self, size: int) -> int:
        """The start of a part of this size: the smallest free part that is large enough, or more memory."""
        large = [part for part in self._free if part[1] - part[0] >= size]
        if large:
            start, end = min(large, key=lambda part: part[1] - part[0])
            self._free.remove((start, end))
            if end - start > size:
                insort(self._free, (start + size, end))
            return start
        start = self._free.pop()[0] if self._free and self._free[-1][1] == self.size else self.size
        self.size = start + size
        return start

    def give(self, start: int, size: int) -> None:
        """Have a part be free."""
        end, place = start + size, bisect(self._free, (start,))
        if place < len(self._free) and self._free[place][0] == end:
            end = self._free.pop(place)[1]
        if place and self._free[place - 1][1] == start:
            start = self._free.pop(place - 1)[0]
        insort(self._free, (start, end))


def _aligned(size: int) -> int:
    return -(-max(size, 1) // ALIGNED) * ALIGNED


def new_memory(size: int) -> Array:
    """New memory of so many bytes, which begins at a cache line. The array owns its bytes and no others: a program may
    see the size of a result's storage, and where the result lies in the storage.
    """
    whole = np.empty(size + ALIGNED, np.uint8)
    return np.frombuffer(whole.data, np.uint8, size, -address(whole) % ALIGNED)     # a lineage of its own


def moved(scope: dict[Any, Any], tables: Sequence[Array], span: tuple[int, int], memory: Array) -> None:
    """Have arrays of a scope, and addresses in tables, be in other memory. `span` is the former address, and the size.
    """
    start, size = span
    for name, array in scope.items():
        if type(array) is np.ndarray and start <= address(array) < start + size:
            scope[name] = seen_in((memory, 0), array, address(array) - start)
    for table in tables:
        within = (table >= start) & (table < start + size)
        table[within] = table[within] - np.uintp(start) + np.uintp(address(memory))


def rows_of(memory: Sequence[Array], rows: Rows) -> Array:
    """Rows of a stack."""
    end = rows.first + rows.step * rows.length
    return memory[rows.stack][rows.first:end if end >= 0 else None:rows.step]


def laid_out(memory: Array, like: Array) -> Array:
    """Memory as an array with the geometry of `like`, which is dense."""
    flat = memory.view(like.dtype)
    order = sorted(range(like.ndim), key=lambda dim: -like.strides[dim])
    return flat.reshape([like.shape[dim] for dim in order]).transpose(np.argsort(order))
