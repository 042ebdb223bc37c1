"""Where the values of a plan for all sizes lie.

Buffers whose size depends on those of the call have memory of their own, which is exchanged for larger memory when a
call needs this. Results that depend on the size are new in each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import owner_of
from ..execution.storage import Storage, laid_out
from ..passes.fusing import Unit
from ..program.lines import Line, Program, Value
from ..program.stand_ins import Reserved, reserve
from ..program.symbols import has_extents
from .pairing import Layout


class SizedStorage(Storage):
    """The fixed arrays of a program that is planned for some size. `layouts` tell the geometry for all sizes."""

    def __init__(self, program: Program, units: Sequence[Unit], given: set[int], layouts: dict[int, Layout]) -> None:
        super().__init__(program, units, given)
        self.layouts = layouts
        self._free: dict[bool, list[Array]] = {False: [], True: []}          # memory, by whether its size depends
        self._used: dict[int, tuple[bool, Array]] = {}                       # the same, by the value it belongs to
        values = program.values
        varying = {values[number].memory for number, layout in layouts.items() if layout.varies}
        varying |= {values[n].memory for line in program.lines if has_extents(line.args) for n in line.results}
        self.renewed = self.escaping & varying

    def _reserved(self) -> Reserved:
        return reserve(0)

    def buffer(self, number: int) -> bool:
        """Give a value a buffer, if it may have one. Returns whether it has one."""
        return self.values[number].memory not in self.renewed and super().buffer(number)

    def _taken(self, value: Value) -> Array:
        if value.memory in self.escaping and not self.is_copied(value.number):
            return super()._taken(value)
        size, varies = value.like.nbytes, self.layouts[value.number].varies
        large = [memory for memory in self._free[varies] if memory.nbytes >= size]
        memory = min(large, key=lambda memory: memory.nbytes, default=None)
        if memory is None:
            memory = np.empty(size, np.uint8)
            self.bytes += size
        else:
            self._free[varies] = [other for other in self._free[varies] if other is not memory]
        self._used[value.number] = varies, memory
        return laid_out(memory[:size], value.like)

    def release(self, lines: Sequence[Line]) -> set[int]:
        """The memory that nothing after these lines, which run next, uses. Buffers in it serve other values."""
        done = super().release(lines)
        for number in sorted(done & self._used.keys()):
            varies, memory = self._used.pop(number)
            self._free[varies].append(memory)
        return done

    def settle(self, scope: dict[str, Any], tables: Sequence[Array]) -> None:
        """Do nothing: all memory is real."""

    def forget_lent(self) -> None:
        """Let go of memory that is lent to the program. Only the leases have it from now on."""
        lent = {id(memory) for memory in self._lent.values()}
        self.arrays = {number: array for number, array in self.arrays.items() if id(owner_of(array)) not in lent}
        self._lent = {}
