"""One native function of a statement: it takes a block of rows through all loops, then the next block.

So what a loop leaves for the next one stays in the nearest cache. `run(table, team)` shares the rows in parts. A part
has a table of its own: of the rows of a block, with memory for what only later loops of the block read, and with
numbers of its own for reductions over rows, which the caller brings together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...kernels.layout import address
from ..native.host import host
from ..native.lanes import Code, Unknown, constant
from ..native.lowered import Lowered, lowered
from ..native.modules import Module
from ..native.nest import Blocks, Nest, nest_of, order_of
from ..native.sharing import help_module, shared
from ..native.table import address_at, size_at
from ..native.vectors import identity, memory
from ..native.writing import LoopWriter, Placed
from ..passes.fusing import Unit
from ..program.forms import Form
from ..program.lines import Value
from ..program.loops import Loop
from ..program.symbols import Extent
from .parts import LoopCall, PartWriter
from .plans import LOCAL, STEP, Across, Constant, Number, Output, RowsPlan, Temporary
from .statements import Statement, factors

# The slots of a table that every function of rows has.
_NAMED = ("rows", "step", "parts", "scratch")


class _Writer(LoopWriter):
    """Writes a loop over the rows of a block. Reductions over rows go on from block to block."""

    across: frozenset[int] = frozenset()                   # the reductions over rows

    def _fill(self, name: str) -> str:
        code = Code(self.module, 1)
        for number, reduction in enumerate(self.loop.reductions):
            if number in self.across:
                continue
            type, value = memory(reduction.dtype), constant(identity(reduction), reduction.dtype)
            start = address_at(code, self.placed.slots[self.first_result + number])

            def body(i: str, start: str = start, type: str = type, value: str = value) -> None:
                code.do(f"store {type} {value}, ptr {code.put(f'getelementptr {type}, ptr {start}, i64 {i}')}")

            code.loop(0, self._reduced(code, reduction), 1, body)
        return code.function(f"void @{name}(ptr %table)")


class Rows:
    """Writes the function. `text` is the module, and `plan` says how the function is called."""

    def __init__(self, statement: Statement) -> None:
        self.statement, self.primes = statement, statement.primes
        self.values, self.letters = statement.values, [*statement.primes]
        self.results = [self.values[number].memory for number in statement.outputs]
        if "R" not in self.primes:
            raise Unknown("an operation without rows")
        self.module = Module(host())
        self._slots: dict[Any, int] = {}
        self._calls: list[LoopCall] = []
        self._cost = 0.0
        self._made: dict[int, str] = {}                    # what loops make: "rows", or "across", by number
        if any([not self._is_made(number) for number in self.results]):
            raise Unknown("a result that no loop makes")
        self._lent = self._shared()                        # the results whose memory other values use first
        for place, unit in enumerate(statement.units):
            self._loop(unit, place)
        self._moving: dict[int, Any] = {}                  # how far the rows of arrays from outside are apart, by slot
        self.plan = self._plan()
        PartWriter(self.module, self.plan, self._slots, self._moving, self._calls).write()
        code = Code(self.module, 1)
        parts = size_at(code, self._slots["parts"])
        code.lines.append(shared(self.module, "part", parts, parts))
        help_module(self.module)
        self.module.functions["run"] = code.function("void @run(ptr %table, ptr %team)")
        self.text = self.module.text()

    # Loops

    def _slot(self, key: Any) -> int:
        return self._slots.setdefault(key, len(self._slots))

    def _form(self, number: int, rows: int | None = None) -> Any:
        """A number of the program as one that depends on sizes. `rows` is the symbol of the rows, if it is not R."""
        factor, letters = factors(int(number), self.primes)
        if not letters:
            return int(number)
        places = [rows if rows is not None and letter == "R" else 2 + self.letters.index(letter) for letter in letters]
        return Extent.of(Form(((tuple(sorted(places)), factor),)), int(number))

    def _loop(self, unit: Unit, place: int) -> None:
        values, units = self.values, self.statement.units
        later = {memory for other in units[place + 1:] for memory in self._read(other)}
        kept = {number for line in unit.lines for number in line.results} & (later | {*self.results})
        known = {value.number for value in values if value.source == "constant" and not self._varies(value)}
        found = lowered(unit, values, kept, known)
        self._note(found, found.loop)
        numbers = (*found.inputs, *found.outputs, *found.sums)
        sized = found.loop._replace(shape=tuple([self._form(n, LOCAL) for n in found.loop.shape]))
        slots = tuple([self._operand(number) for number in numbers])
        placed = Placed(sized, slots, self._nest(found.loop, numbers), self._slot)
        writer = _Writer(self.module, placed, str(place))
        writer.across = frozenset([i for i, number in enumerate(found.sums) if self._made[number] == "across"])
        work = writer.write()
        for name in filter(None, (work.fill, work.loop)):
            self.module.functions[name] = self.module.functions[name].replace("define void", "define internal void", 1)
        inner = len(writer.across) < len(found.sums) and bool(work.fill)
        self._calls.append(LoopCall(str(place), work.extent, inner))
        self._cost += work.cost

    def _read(self, unit: Unit) -> set[int]:
        """The memory that a unit reads, beside what it makes."""
        made = {number for line in unit.lines for number in line.results}
        return {self.values[number].memory for line in unit.lines for number in line.reads} - made

    def _shared(self) -> dict[int, int]:
        """What lies in the memory of a result until the result is made. Both have the same place for each element."""
        found, units = dict[int, int](), self.statement.units
        made = {number: place for place, unit in reversed([*enumerate(units)]) for line in unit.lines
                for number in line.results}
        read = {number: place for place, unit in enumerate(units) for number in self._read(unit)}
        for number, last in read.items():
            if number not in made or number in self.results:
                continue
            like = self.values[number].like
            free = [result for result in self.results if made[result] >= last and result not in found.values()
                    and self.values[result].like.shape == like.shape and self.values[result].like.dtype == like.dtype]
            if free and self._has_rows(number):
                found[number] = free[0]
        return found

    def _nest(self, loop: Loop, numbers: Sequence[int]) -> Nest:
        """The dims of the code. Dims around the rows are not joined with them, since a block has only some rows."""
        dims, rows = order_of(loop), self.primes["R"]
        first = next((place for place, dim in enumerate(dims) if loop.shape[dim] % rows == 0), 0)
        outer, inner = nest_of(loop, dims[:first]), nest_of(loop, dims[first:])
        if not first:
            outer = outer._replace(shape=(), strides=((),) * len(numbers))
        symbols = [STEP if self._is_temporary(number) else None for number in numbers]
        return Nest(tuple([self._form(n, LOCAL) for n in (*outer.shape, *inner.shape)]), tuple([
            tuple([self._form(n, symbol) for n in (*before, *after)])
            for before, after, symbol in zip(outer.strides, inner.strides, symbols)]))

    def _is_temporary(self, number: int) -> bool:
        """Whether a value is needed only by the loops of a block."""
        memory = self.values[number].memory
        return self._made.get(memory) == "rows" and memory not in self.results and memory not in self._lent

    def _note(self, found: Lowered, loop: Loop) -> None:
        """Note what a loop makes. What it reads must be there for the rows of a block."""
        for number in found.inputs:
            if self._made.get(self.values[number].memory) == "across":
                raise Unknown("a loop that needs sums over all rows")
        for number in found.outputs:
            if not self._has_rows(number):
                raise Unknown("a loop without rows")
            self._made[number] = "rows"
        for reduction, number in zip(loop.reductions, found.sums):
            self._made[number] = "rows" if self._has_rows(number) else "across"
            if self._made[number] == "across" and reduction.kind != "sum":
                raise Unknown("an extreme over all rows")

    def _is_made(self, number: int) -> bool:
        return any([number in line.results for unit in self.statement.units for line in unit.lines])

    def _has_rows(self, number: int) -> bool:
        return self.primes["R"] in self.values[number].like.shape

    def _varies(self, value: Value) -> bool:
        """Whether a constant is made of sizes."""
        if value.like.ndim:
            raise Unknown("an array among the constants")
        number = float(value.like[()])
        return number.is_integer() and bool(factors(abs(int(number)), self.primes)[1])

    def _operand(self, number: int) -> int:
        """The slot of a value. A view begins where its memory begins."""
        value = self.values[number]
        if value.is_view and address(value.like) != address(self.values[value.memory].like):
            raise Unknown("a view from elsewhere on")
        return self._slot(("value", self._lent.get(value.memory, value.memory)))

    # The plan

    def _steps(self, number: int) -> Any:
        """How far rows are apart in an array from outside, in bytes; 0 if it has none."""
        like = self.values[number].like
        if self.primes["R"] not in like.shape:
            return 0
        return self._form(like.strides[like.shape.index(self.primes["R"])], False)

    @staticmethod
    def _number(slot: int, key: Any) -> Number:
        (product, factor), = (key.length if isinstance(key, Blocks) else key).terms
        return Number(slot, isinstance(key, Blocks), factor, [*product])

    def _plan(self) -> RowsPlan:
        temporaries, across, constants = self._memory()
        for name in _NAMED:
            self._slot(name)
        offsets = {each.slot: self._slot(("offset", each.slot)) for each in temporaries}
        lengths = {each.slot: self._slot(("bytes", each.slot)) for each in across}
        for key in [key for key in self._slots if isinstance(key, Blocks)]:
            self._slot(key.length)
        numbers = [self._number(slot, key) for key, slot in self._slots.items() if isinstance(key, (Form, Blocks))]
        numbers += [self._number(slot, key[1]) for key, slot in self._slots.items()
                    if isinstance(key, tuple) and key[0] == "step"]
        results = [Output(self._slots["value", number], self.values[number].like.dtype.char,
                          self._made[number] == "across") for number in self.results]
        return RowsPlan(
            slots=len(self._slots), inputs=[self._slots.get(("value", number), -1) for number in self.statement.inputs],
            outputs=results, numbers=numbers, temporaries=temporaries, across=across, constants=constants,
            rows=self.letters.index("R"), named={name: self._slots[name] for name in _NAMED}, offsets=offsets,
            lengths=lengths, cost=self._cost / math.prod(self.primes.values()), beside=self._beside())

    def _beside(self) -> bool:
        """Whether the rows of the largest array lie beside each other."""
        like = max([self.values[number].like for number in self.statement.inputs], key=lambda like: like.size)
        return like.ndim > 1 and like.shape[-1] == self.primes["R"]

    def _memory(self) -> tuple[list[Temporary], list[Across], list[Constant]]:
        """What stands for the values that are no arrays from outside. For those, note how far rows are apart."""
        outside, temporaries, across, constants = {*self.statement.inputs, *self.results}, [], [], []
        for key, slot in [*self._slots.items()]:
            if not isinstance(key, tuple) or key[0] != "value":
                continue
            number, value = key[1], self.values[key[1]]
            like = value.like
            if value.source == "constant":
                constants.append(Constant(slot, like.dtype.char, *self._letters(int(like[()]))))
            elif self._made.get(number) == "across":
                across.append(Across(slot, like.dtype.char, *self._letters(like.size)))
            elif number in outside:
                step = self._steps(number)
                self._moving[slot] = ("step", step.expression) if isinstance(step, Extent) else step
                if isinstance(step, Extent):
                    self._slot(self._moving[slot])
            else:
                temporaries.append(Temporary(slot, *self._letters(like.nbytes // self.primes["R"])))
        return temporaries, across, constants

    def _letters(self, number: int) -> tuple[int, list[int]]:
        factor, letters = factors(number, self.primes)
        return factor, [self.letters.index(letter) for letter in letters]
