"""Python source that runs a planned program, with its loops as machine code.

Loops that follow each other are one native function, which finds its arrays by a table of addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..kernels.layout import address
from .fusing import Unit
from .lowered import lowered, product
from .native.machine import Builder, Placed
from .numpy_code import NumPyCode
from .program import Line, Program
from .stacks import Stacks
from .walks import steps_of, with_native_steps

Array = np.ndarray[Any, Any]


class MachineCode(NumPyCode):
    """A program as one Python function that calls native functions, which are compiled together."""

    def __init__(self, program: Program, units: Sequence[Unit], given: Sequence[int]) -> None:
        self._builder = Builder()
        self._waiting: list[Any] = []                      # loops and products that become machine code
        self._slots: dict[int, int] = {}                   # of their arrays, in a table of addresses
        self._provided: set[int] = set()                   # results of loops that have memory
        self._done: list[int] = []                         # memory that is not needed after them
        super().__init__(program, units, given)

    def _stacks(self, units: Sequence[Unit]) -> Stacks | None:
        return None

    def _unit(self, unit: Unit) -> None:
        """Write a call, or keep a loop until a call follows."""
        if not unit.native:
            self._close()
            self._one_by_one(unit)
            return
        if unit.shape is None:
            line, = unit.lines
            self._have(line.results[0])
            x, y, out = [self._slot(number) for number in (*line.reads[:2], line.results[0])]
            self._waiting.append(product(line, self.values, (x, y, out)))
        else:
            found = lowered(unit, self.values, self.storage.kept(unit))
            made = {number for line in unit.lines for number in line.results}
            for number in (*found.outputs, *found.sums):
                if self.values[number].memory in made:     # and not only written, perhaps as a view
                    self._have(self.values[number].memory)
            slots = tuple([self._slot(number) for number in (*found.inputs, *found.outputs, *found.sums)])
            self._waiting.append(Placed(found.loop, slots))
        self._let_go(self.storage.release(unit.lines))

    def _call(self, line: Line) -> str:
        steps = steps_of(line, self.values)
        if steps is not None and self._builder.has_lanes(steps):
            line, native = with_native_steps(line, steps, self._builder)
            self.natives.append(native)
        return super()._call(line)

    def _have(self, number: int) -> None:
        """See to it that a result of machine code has memory."""
        if not self.values[number].is_view and not self.storage.is_fixed(number) and number not in self._provided:
            self._provide(number)
            self._provided.add(number)

    def _let_go(self, memories: Iterable[int]) -> None:
        """Have a run give up arrays, after the loops that wait."""
        self._done += memories
        if not self._waiting:
            self._close()

    def _close(self) -> None:
        """Write the call of the loops that wait."""
        if self._waiting:
            self._write_call()
        super()._let_go(self._done)
        self._done = []

    def _write_call(self) -> None:
        native = self._builder.add(self._waiting, len(self._slots))
        self.natives.append(native)
        table = np.zeros(len(self._slots), np.uintp)
        self.tables.append(table)
        name = self.source.name(table, "table")
        for number, slot in self._slots.items():
            text = self.name(number)
            if self.storage.is_fixed(number):
                table[slot] = address(self.storage.arrays[number])
            else:
                self.source.lines.append(f"{name}[{slot}] = {self.source.name(address, 'f')}({text})")
        self.source.lines.append(f"{self.source.name(native, 'native')}({name})")
        self._waiting, self._slots = [], {}

    def _slot(self, number: int) -> int:
        return self._slots.setdefault(number, len(self._slots))
