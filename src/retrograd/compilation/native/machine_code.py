"""Python source that runs a planned program, with its loops as machine code.

Loops that follow each other are one native function, which finds its arrays by a table of addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address
from ..execution.numpy_code import NumPyCode
from ..execution.sized_units import SizedUnits
from ..passes.fusing import Unit
from ..program.lines import Line, Program, Value
from ..program.symbols import Extent, is_symbolic, merged
from .lowered import Lowered, lowered, numbers_known, product
from .machine import Builder, Placed
from .nest import nest_of, order_of
from .recurrent import Steps
from .walks import steps_of, with_native_steps

_T = TypeVar("_T")


class MachineCode(NumPyCode):
    """A program as one Python function that calls native functions, which are compiled together."""

    def __init__(self, program: Program, units: Sequence[Unit], given: Sequence[int], stacks: None = None,
                 sized: SizedUnits | None = None) -> None:
        self._builder = Builder()
        self._waiting: list[Any] = []                      # loops and products that become machine code
        self._slots: dict[Any, int] = {}                   # of their arrays, in a table of addresses
        self._provided: set[int] = set()                   # results of loops that have memory
        self._done: list[int] = []                         # memory that is not needed after them
        self._known = numbers_known(program, given) if sized is None else set[int]()    # which stand in the code
        self._entries: dict[str, list[str]] = {}           # of tables, by the text of the address that stands there
        super().__init__(program, units, given, stacks, sized=sized)

    def _planned(self, unit: Unit) -> list[tuple[Unit, list[Value]]]:
        """The unit with the values; for all sizes, what the unit is for some of them."""
        return [(unit, self.values)] if self.sized is None else self.sized.planned[id(unit)]

    def _merged(self, found: Sequence[_T]) -> _T:
        """What was found for each of `_planned`, for all sizes."""
        each: _T = found[0] if self.sized is None else merged(self.sized.points, found)
        return each

    def _unit(self, unit: Unit) -> None:
        """Write a call, or keep a loop until a call follows."""
        called = unit.shape is None and self.sized is not None and self.sized.large[id(unit)]
        if called or not unit.native:
            self._close()
            self._one_by_one(unit)
            return
        self._waiting.append(self._product(unit) if unit.shape is None else self._loop(unit))
        self._let_go(self.storage.release(unit.lines))

    def _product(self, unit: Unit) -> Any:
        """A product in machine code."""
        line, = unit.lines
        slots = self._factors(line)
        found = self._merged([product(one.lines[0], values, slots) for one, values in self._planned(unit)])
        assert found is not None
        return found._replace(slot=self._slot) if self.sized and is_symbolic(found) else found

    def _factors(self, line: Line) -> tuple[int, int, int]:
        """The slots of the factors of a product, and of its result, which has memory then."""
        self._have(line.results[0])
        x, y, out = [self._slot(number) for number in (*line.reads[:2], line.results[0])]
        return x, y, out

    def _loop(self, unit: Unit) -> Any:
        """A loop in machine code."""
        kept, sized = self.storage.kept(unit), self.sized
        each = [lowered(one, values, kept, self._known) for one, values in self._planned(unit)]
        found = self._merged(each)
        slots = self._operands(unit, found)
        if sized is None or not is_symbolic(found.loop):
            return Placed(found.loop, slots)
        dims = order_of(each[0].loop)
        nest = self._merged([nest_of(one.loop, dims) for one in each])
        apart = all([not isinstance(n, Extent) for reduction in found.loop.reductions
                     for dim, n in enumerate(found.loop.shape) if dim not in reduction.dims])
        return Placed(found.loop, slots, nest, self._slot, sized.large[id(unit)] and apart)

    def _operands(self, unit: Unit, found: Lowered) -> tuple[int, ...]:
        """The slots of the operands of a loop, whose results have memory then."""
        made = {number for line in unit.lines for number in line.results}
        for number in (*found.outputs, *found.sums):
            if self.values[number].memory in made:         # and not only written, perhaps as a view
                self._have(self.values[number].memory)
        return tuple([self._slot(number) for number in (*found.inputs, *found.outputs, *found.sums)])

    def _steps(self, line: Line) -> Steps | None:
        """The steps of a line that machine code may walk."""
        return steps_of(line, self.values) if self.sized is None else None

    def _call(self, line: Line) -> str:
        steps = self._steps(line)
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
        native = self._builder.add(self._waiting, lambda: len(self._slots))
        self.natives.append(native)
        table = np.zeros(len(self._slots), np.uintp)
        self.tables.append(table)
        name = self.source.name(table, "table")
        for key, slot in self._slots.items():
            self._fill(table, name, key, slot)
        self.source.lines += [" = ".join([*entries, text]) for text, entries in self._entries.items()]
        self.source.lines.append(f"{self.source.name(native, 'native')}({name})")
        self._waiting, self._slots, self._entries = [], {}, {}

    def _fill(self, table: Array, name: str, key: Any, slot: int) -> None:
        """Put the address of a value into a table: now, or in each run. A size stands there once it is known."""
        if isinstance(key, int):
            self._fill_address(table, name, key, slot)
        if not isinstance(key, int) or self.storage.is_fixed(key):
            self.entries.append((table, slot, key))

    def _fill_address(self, table: Array, name: str, number: int, slot: int) -> None:
        source, offset = self._start(number)
        text = self.name(source)
        if self.storage.is_fixed(number):
            table[slot] = address(self.storage.arrays[number])
        else:
            text = f"{self.source.name(address, 'f')}({text})" + (f" + {offset}" if offset else "")
            self._entries.setdefault(text, []).append(f"{name}[{slot}]")

    def _start(self, number: int) -> tuple[int, int]:
        """Where a value starts: a value, and how many bytes lie between the starts. A view of an array that is given
        need not be taken, unless the place may depend on sizes.
        """
        source = number
        if self.sized is not None:
            return number, 0
        while source in self.views and not self.storage.is_fixed(source):
            source = self.views[source].reads[0]
        if source == number or f"v{source}" not in self.parameters:
            return number, 0
        return source, address(self.values[number].like) - address(self.values[source].like)

    def _slot(self, key: Any) -> int:
        return self._slots.setdefault(key, len(self._slots))
