"""Where the values of a planned program lie: in fixed memory that every run uses again, or in new memory of each run.

A value is *fixed* if its array is known before the run: a captured tensor, a constant, a buffer of the plan, or a view
of such memory. Buffers are shared by values that are not needed at the same time. Memory that the program sees after a
run (results, gradients) is a buffer of its own, which is lent to the program, or is new in each run.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ..kernels.layout import dense
from .fusing import Unit
from .loops import Ref
from .program import Line, Program, Value, replaced

Array = np.ndarray[Any, Any]
# A result of at most so many bytes is computed in a buffer, and copied for the program.
COPIED = 4096


class Storage:
    """The fixed arrays of a program, by the number of the value. `bytes` counts the memory of all buffers.

    If `leasing`, results have buffers too, and the program gets these very arrays, except for the memory `renewed`.
    """

    def __init__(self, program: Program, units: Sequence[Unit], given: set[int], leasing: bool,
                 renewed: Container[int] = ()) -> None:
        self.values, self.given, self.leasing, self.renewed = program.values, given, leasing, renewed
        self.arrays: dict[int, Array] = {}
        self.bytes = 0
        self.escaping = {program.values[number].memory for number in program.outputs}
        self._viewed = {value.memory for value in program.values if value.is_view}
        self._shared = {program.values[number].memory for unit in units for line in unit.lines
                        for number in line.results if program.values[number].is_view}       # by lines that are no views
        self._last = self._lifetimes(program, units)
        self._free: dict[int, list[Array]] = {}
        self._owned: dict[int, Array] = {}                 # the memory of buffers, by the value that it belongs to
        for value in self.values:
            if value.source != "line" and value.number not in given:
                self.arrays[value.number] = value.like

    def _lifetimes(self, program: Program, units: Sequence[Unit]) -> dict[int, int]:
        """The last unit that uses each memory."""
        last = {}
        for place, unit in enumerate(units):
            for line in unit.lines:
                for number in (*line.reads, *line.results):
                    last[self.values[number].memory] = place
        return {**last, **dict.fromkeys(self.escaping, len(units))}

    def kept(self, place: int, unit: Unit) -> set[int]:
        """The results of a unit whose memory is needed after it."""
        return {number for line in unit.lines for number in line.results
                if self._last[self.values[number].memory] > place or self.values[number].memory in self.escaping}

    def is_fixed(self, number: int) -> bool:
        """Whether the array of a value is known before the run."""
        return number in self.arrays

    def fixed_view(self, line: Line) -> bool:
        """Note the array of a view, if the viewed memory is fixed. Returns whether it is."""
        source = line.reads[0]
        if not self.is_fixed(source):
            return False
        found = viewed(line, self.arrays)
        if not all(np.may_share_memory(part, self.arrays[source]) or not part.size for part in found):
            return False
        self.arrays.update(zip(line.results, found, strict=True))
        return True

    def buffer(self, number: int) -> bool:
        """Give a value a buffer, if it may have one. Returns whether it has one."""
        value = self.values[number]
        if value.is_view or value.memory in self.renewed or not dense(value.like):
            return False
        unlent = not self.leasing or value.memory in self._shared
        if value.memory in self.escaping and unlent and not self.is_copied(number):
            return False
        if number not in self.arrays:
            self.arrays[number] = self._taken(value)
        return True

    def is_copied(self, number: int) -> bool:
        """Whether a result is so small that the program gets a copy of the buffer."""
        value = self.values[number]
        return value.like.nbytes <= COPIED and value.memory not in self._viewed and not value.is_view

    def memory(self, number: int) -> Array | None:
        """The memory of the buffer of a result, which may be lent to the program; None if it has no buffer."""
        return self._owned.get(self.values[number].memory)

    def _taken(self, value: Value) -> Array:
        like = value.like
        free = self._free.get(like.nbytes)
        if free:
            memory = free.pop()
        else:
            memory = np.empty(like.nbytes, np.uint8)
            self.bytes += like.nbytes
        self._owned[value.number] = memory
        return laid_out(memory, like)

    def release(self, place: int, unit: Unit) -> None:
        """Have buffers that no unit after this one uses serve other values."""
        for line in unit.lines:
            for number in (*line.reads, *line.results):
                memory = self.values[number].memory
                if self._last[memory] == place and memory in self._owned:
                    owned = self._owned.pop(memory)
                    self._free.setdefault(owned.nbytes, []).append(owned)


def viewed(line: Line, arrays: dict[int, Array]) -> list[Array]:
    """The results of a line that views, for fixed arrays."""
    from_kernel = line.op.kernel(*replaced(line.args, Ref, lambda ref: arrays[ref.number]))
    return [*from_kernel] if line.several else [from_kernel]


def laid_out(memory: Array, like: Array) -> Array:
    """Memory as an array with the geometry of `like`, which is dense."""
    flat = memory.view(like.dtype)
    order = sorted(range(like.ndim), key=lambda dim: -like.strides[dim])
    return flat.reshape([like.shape[dim] for dim in order]).transpose(np.argsort(order))
