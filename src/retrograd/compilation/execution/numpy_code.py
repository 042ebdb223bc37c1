"""Straight-line Python source that runs a planned program with NumPy.

Each line of the program becomes one call of its kernel. The results of ufuncs are written into buffers. Arrays that are
known before the run are global names of the source, so a run looks nothing up and checks nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import dense, steps
from ...ops.basic import clone
from ...ops.framework import called_as_ufunc
from ..passes.effects import is_view, memory_written
from ..passes.fusing import Unit
from ..passes.stacks import Call, Rows, Stacks
from ..program.lines import Arithmetic, Line, Program, plain_call
from .blocks import BlockedLoop, suits
from .leases import Lease, Leases
from .python_source import FIRST_LINE, Source, direct, write_text
from .sized_units import SizedUnits
from .storage import COPIED, Storage, rows_of

# A loop of more elements than this runs in blocks.
BLOCKED = 32_768


class Ready:
    """What runs a program. `run(*arrays)` takes the arrays that are given, and returns the outputs.

    `writes` says for each write to memory from outside how many lines of the function come before it, and which memory
    this is: the place among the given arrays, or an array.
    """

    __slots__ = ("leases", "run", "writes")

    def __init__(self, run: Any, leases: Leases, writes: list[tuple[int, int | Array]]) -> None:
        self.run, self.leases, self.writes = run, leases, writes

    def written_before(self, error: BaseException, given: Sequence[Array]) -> list[Array]:
        """The arrays from outside that a run had written when it raised an error."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not self.run.__code__:
            trace = trace.tb_next
        lines = 0 if trace is None else trace.tb_lineno - FIRST_LINE
        return [given[array] if isinstance(array, int) else array for count, array in self.writes if count <= lines]


class NumPyCode:
    """A program as one Python function of the arrays of the values `given`, which returns the outputs.

    `stacks` are small arrays on which several lines are one call, if the plan has any. `memory` has arrays into which
    outputs are written, by the number of the value. `sized` says how the program depends on sizes, if it does.
    """

    def __init__(self, program: Program, units: Sequence[Unit], given: Sequence[int], stacks: Stacks | None = None,
                 memory: Mapping[int, Array] | None = None, sized: SizedUnits | None = None) -> None:
        self.program, self.values, self.sized = program, program.values, sized
        self.stacks = stacks
        self.units: Sequence[Unit] = units if stacks is None else stacks.units
        self.source = Source()
        self.storage = Storage(program, self.units, set(given), sized.layouts if sized else {})
        self.storage.provided = memory or {}
        self.names: dict[int, str] = {}                    # of fixed arrays
        self.loops: dict[int, Unit] = {}                   # the units of loops in blocks, by the identity of the loop
        self._memory = [] if stacks is None else self.storage.stacked(stacks)
        self.natives: list[Any] = []                       # machine code that the source calls
        self.tables: list[Array] = []                      # and the addresses that it uses
        self.entries: list[tuple[Array, int, Any]] = []    # of tables that may change: the slots, and what stands there
        views = [line for line in program.lines if is_view(line, program.values)]
        self.views = {number: line for line in views for number in line.results}
        self.parameters = [f"v{number}" for number in given]
        self._writes: list[tuple[int, int]] = []           # memory from outside, and the lines up to its write
        self._local: dict[int, list[str]] = {}             # large arrays that a run makes, by their memory
        for unit in self.units:
            self._unit(unit)
            self._writes += [(len(self.source.lines), memory) for line in unit.lines
                             for memory in memory_written(line, self.values) if self.values[memory].source == "outside"]
        self._close()
        results = self._results()
        self.source.lines.append(f"return ({''.join([f'{result}, ' for result in results])})")
        self.storage.settle(self.source.scope, self.tables)
        places = {number: place for place, number in enumerate(given)}
        writes = [(lines, places.get(number, self.values[number].like)) for lines, number in self._writes]
        self.ready = Ready(self.source.function("run", self.parameters), self._leases(), writes)
        self.storage.forget_lent()

    @property
    def text(self) -> str:
        """The source."""
        return self.source.body("run", self.parameters)

    def name(self, number: int) -> str:
        """The name of a value. A view is taken when it is first named."""
        if number in self.views and not self.storage.is_fixed(number):
            line = self.views[number]
            self.name(line.reads[0])
            if not self.storage.fixed_view(line):
                self._line(line)
                for result in line.results:
                    del self.views[result]
        if not self.storage.is_fixed(number):
            return f"v{number}"
        found = self.names[number] = self.source.name(self.storage.arrays[number], "b")
        return found

    def _lent(self, number: int) -> Array | None:
        """The memory of a result, if it is lent to the program in each run."""
        lent = self.storage.is_fixed(number) and not self.storage.is_copied(number)
        return self.storage.memory(number) if lent else None

    def _leases(self) -> Leases:
        """The leases of the results."""
        lent = {place: (number, memory) for place, number in enumerate(self.program.outputs)
                if (memory := self._lent(number)) is not None}
        arrays = self.storage.arrays
        return Leases({place: Lease(self.name(number), arrays[number], memory)
                       for place, (number, memory) in lent.items()}, self.source.scope, self.tables)

    def _results(self) -> list[str]:
        """The texts of the values that the run returns. Memory that the next run uses is copied, unless it is lent."""
        texts: dict[int, str] = {}
        for number in self.program.outputs:
            name = self.name(number)
            fixed = self.storage.is_fixed(number) and self.values[self.values[number].memory].source != "outside"
            if fixed and self._lent(number) is None and number not in texts:
                self.source.lines.append(f"r{number} = {self._copy(number, name)}")
                name = f"r{number}"
            texts.setdefault(number, name)
        return [texts[number] for number in self.program.outputs]

    def _copy(self, number: int, name: str) -> str:
        """The text of a copy that lies as the value does."""
        like = self.values[number].like
        if dense(like):
            return f'{name}.copy("K")'
        return f"{self.source.name(clone.kernel, 'f')}({name}, {steps(like)})"

    def _in_blocks(self, unit: Unit) -> bool:
        """Whether a unit runs in blocks."""
        if self.sized is not None:
            return self.sized.large[id(unit)]
        large = unit.shape is not None and math.prod(unit.shape) > BLOCKED and len(unit.lines) > 1
        return large and suits(unit, self.values)

    def _unit(self, unit: Unit) -> None:
        """Write the lines of a unit."""
        last = unit.lines[-1].results
        call = None if self.stacks is None or not last else self.stacks.calls.get(last[0])
        if call is not None:
            self._call_on_rows(unit.lines[-1], call)
            self._let_go(self.storage.release(unit.lines))
            return
        if self._in_blocks(unit):
            self._blocked(unit)
            self._let_go(self.storage.release(unit.lines))
        else:
            self._one_by_one(unit)

    def _one_by_one(self, unit: Unit) -> None:
        """Write the lines of a unit so that memory is free for the next line."""
        for line in unit.lines:
            self._line(line)
            self._let_go(self.storage.release([line]))

    def _call_on_rows(self, line: Line, call: Call) -> None:
        """Write one call for several lines. `line` is the last of them."""
        source, number = self.source, line.results[0]
        args = [arg if type(arg) is not Rows else rows_of(self._memory, arg) for arg in call.args]
        if call.out is not None:
            out = source.name(rows_of(self._memory, call.out))
            source.lines.append(source.write(line.op.kernel, args, self.name, out))
            return
        if call.copied is not None:
            source.lines.append(f"copyto({source.name(args[0][0])}, {self.name(call.copied)})")
        # A sum begins with -0.0, which changes no number.
        if self.storage.buffer(number):
            source.lines.append(f"{source.call(np.add.reduce, (*args, 0, None), self.name)[:-1]}, {self.name(number)}, "
                                "False, -0.0)")
        else:
            source.lines.append(f"v{number} = {source.call(np.add.reduce, (*args, 0, None), self.name)[:-1]}, None, "
                                "False, -0.0)")

    def _line(self, line: Line) -> None:
        """Write a line."""
        self.source.lines.append(self._write(line) if line.write else self._call(line))
        for number in line.results:
            self._note(number)

    def _note(self, number: int) -> None:
        """Note that a run makes an array, if it has a large one to itself."""
        value = self.values[number]
        if value.like.nbytes > COPIED and not self.storage.is_fixed(number):
            self._local.setdefault(value.memory, []).append(f"v{number}")

    def _let_go(self, memories: Iterable[int]) -> None:
        """Have a run give up the arrays in memory that it no longer needs."""
        names = [name for memory in memories for name in self._local.pop(memory, ())]
        if names:
            self.source.lines.append(f"del {', '.join(names)}")

    def _close(self) -> None:
        """Write what waits for the end."""

    def _blocked(self, unit: Unit) -> None:
        """Write the call of a loop in blocks."""
        loop = BlockedLoop(unit, self.values, self.storage.kept(unit))
        self.loops[id(loop)] = unit
        for number in loop.outputs:
            self._provide(number)
        sums = "".join([f"v{number}, " for number in loop.summed])
        call = f"{self.source.name(loop, 'loop')}({', '.join(map(self.name, (*loop.inputs, *loop.outputs)))})"
        self.source.lines.append(f"{sums}= {call}" if sums else call)

    def _provide(self, number: int) -> None:
        """See to it that a value has memory: a buffer, or new memory in each run."""
        if not self.storage.buffer(number):
            make = partial(np.empty_like, self.values[number].like)
            self.source.lines.append(f"v{number} = {self.source.name(make, 'f')}()")
            self._note(number)

    def _write(self, line: Line) -> str:
        return write_text(self.source, line, self.values, self.name)

    def _call(self, line: Line) -> str:
        """The text of a call that makes new values."""
        source, op = self.source, line.op
        kernel = op.kernel if plain_call(line, self.values) else line.call
        number = line.results[0]
        write = direct(line, self.values, self.storage.varying)
        if write is not None:
            if self.storage.buffer(number):
                return write(source, self.name, self.name(number))
            if called_as_ufunc(kernel):
                return f"v{number} = {write(source, self.name, '...')}"
        if type(line.args[-1]) is Arithmetic:
            results = "".join([f"v{number}, " for number in line.results])
            return f"{results}= {source.call(line.args[-1], line.args[0], self.name)}"
        text = source.call(kernel, line.args, self.name)
        rows = ', order="C"' if op.layout == "rows" else ""
        if line.several:
            names = [f"v{number}" for number in line.results]
            return f"{', '.join(names)}, = {text}" + "".join([f"; {name} = asarray({name}{rows})" for name in names])
        return f"v{number} = {text}" if op.view else f"v{number} = asarray({text}{rows})"
