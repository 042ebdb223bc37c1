"""Python source that runs a planned program, with its loops as machine code.

Loops that follow each other are one native function, which finds its arrays by a table of addresses.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ..kernels.layout import address
from .fusing import Unit
from .lowered import lowered, product
from .native.machine import Builder, Placed
from .numpy_code import NumPyCode
from .program import Program

Array = np.ndarray[Any, Any]


class MachineCode(NumPyCode):
    """A program as one Python function that calls native functions, which are compiled together."""

    def __init__(self, program: Program, units: Sequence[Unit], given: Sequence[int], leasing: bool,
                 renewed: Container[int] = ()) -> None:
        self._builder = Builder()
        self._waiting: list[Any] = []                      # loops and products that become machine code
        self._slots: dict[Any, int] = {}                   # of their arrays, in a table of addresses
        self._provided: set[int] = set()                   # results of loops that have memory
        super().__init__(program, units, given, leasing, renewed)

    def _unit(self, place: int, unit: Unit) -> None:
        """Write a call, or keep a loop until a call follows."""
        if not unit.native:
            self._close()
            for line in unit.lines:
                self._line(line)
        elif unit.shape is None:
            line, = unit.lines
            self._have(line.results[0])
            x, y, out = [self._slot(number) for number in (*line.reads[:2], line.results[0])]
            self._waiting.append(product(line, self.values, (x, y, out)))
        else:
            found = lowered(unit, self.values, self.storage.kept(place, unit))
            made = {number for line in unit.lines for number in line.results}
            for number in (*found.outputs, *found.sums):
                if self.values[number].memory in made:     # and not only written, perhaps as a view
                    self._have(self.values[number].memory)
            slots = tuple([self._slot(number) for number in (*found.inputs, *found.outputs, *found.sums)])
            self._waiting.append(Placed(found.loop, slots))

    def _have(self, number: int) -> None:
        """See to it that a result of machine code has memory."""
        if not self.values[number].is_view and not self.storage.is_fixed(number) and number not in self._provided:
            self._provide(number)
            self._provided.add(number)

    def _close(self) -> None:
        """Write the call of the loops that wait."""
        if not self._waiting:
            return
        native = self._builder.add(self._waiting, lambda: len(self._slots))
        self.natives.append(native)
        table = np.zeros(len(self._slots), np.uintp)
        name = self.source.name(table, "table")
        for key, slot in self._slots.items():
            self._fill(table, name, key, slot)
        self.source.lines.append(f"{self.source.name(native, 'native')}({name})")
        self._waiting, self._slots = [], {}

    def _fill(self, table: Array, name: str, number: int, slot: int) -> None:
        """Put an address into a table: now, or in each run."""
        text = self.name(number)
        if self.storage.is_fixed(number):
            table[slot] = address(self.storage.arrays[number])
        else:
            self.source.lines.append(f"{name}[{slot}] = {self.source.name(address, 'f')}({text})")

    def _slot(self, key: Any) -> int:
        return self._slots.setdefault(key, len(self._slots))
