"""Straight-line Python source that runs a planned program with NumPy.

Each line of the program becomes one call of its kernel. The results of ufuncs are written into buffers. Arrays that are
known before the run are global names of the source, so a run looks nothing up and checks nothing.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ops.framework import called_as_ufunc
from .blocks import BlockedLoop, suits
from .effects import is_view, memory_written
from .fusing import Unit
from .leases import Lease
from .program import Line, Program
from .python_source import FIRST_LINE, Source, direct, plain_call, write_text
from .storage import Storage

Array = np.ndarray[Any, Any]
# A loop of more elements than this runs in blocks.
BLOCKED = 32_768


class NumPyCode:
    """A program as one Python function. `run(*arrays)` takes the arrays of the values `given`, and returns the outputs.

    `renewed` is memory of outputs that is new in each run.
    """

    def __init__(self, program: Program, units: Sequence[Unit], given: Sequence[int], leasing: bool,
                 renewed: Container[int] = ()) -> None:
        self.program, self.values, self.units = program, program.values, units
        self.source, self.storage = Source(), Storage(program, units, set(given), leasing, renewed)
        self.natives: list[Any] = []                       # machine code that the source calls
        views = [line for line in program.lines if is_view(line, program.values)]
        self.views = {number: line for line in views for number in line.results}
        self.parameters = [f"v{number}" for number in given]
        self._writes: list[tuple[int, int]] = []           # memory from outside, and the lines up to its write
        for place, unit in enumerate(units):
            self._unit(place, unit)
            self._writes += [(len(self.source.lines), memory) for line in unit.lines
                             for memory in memory_written(line, self.values) if self.values[memory].source == "outside"]
            self.storage.release(place, unit)
        self._close()
        results = self._results()
        self.source.lines.append(f"return ({''.join([f'{result}, ' for result in results])})")
        self.run = self.source.function("run", self.parameters)
        self.leases = {place: Lease(self.storage.arrays[number], memory) for place, number in enumerate(program.outputs)
                       if (memory := self._lent(number)) is not None}

    @property
    def text(self) -> str:
        """The source."""
        return self.source.body("run", self.parameters)

    def written_before(self, error: BaseException) -> set[int]:
        """The memory from outside that a run had written when it raised an error."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code is not self.run.__code__:
            trace = trace.tb_next
        lines = 0 if trace is None else trace.tb_lineno - FIRST_LINE
        return {memory for count, memory in self._writes if count <= lines}

    def name(self, number: int) -> str:
        """The name of a value. A view is taken when it is first named."""
        if number in self.views and not self.storage.is_fixed(number):
            line = self.views[number]
            self.name(line.reads[0])
            if not self.storage.fixed_view(line):
                self.source.lines.append(self._call(line))
                for result in line.results:
                    del self.views[result]
        if self.storage.is_fixed(number):
            self.source.scope[f"v{number}"] = self.storage.arrays[number]
        return f"v{number}"

    def _lent(self, number: int) -> Array | None:
        """The memory of a result, if it is lent to the program in each run."""
        storage = self.storage
        lent = storage.leasing and storage.is_fixed(number) and not storage.is_copied(number)
        return storage.memory(number) if lent else None

    def _results(self) -> list[str]:
        """The texts of the values that the run returns. Memory that the next run uses is copied, unless it is lent."""
        texts: dict[int, str] = {}
        for number in self.program.outputs:
            name = self.name(number)
            fixed = self.storage.is_fixed(number) and self.values[self.values[number].memory].source != "outside"
            if fixed and self._lent(number) is None and number not in texts:
                self.source.lines.append(f'r{number} = {name}.copy("K")')
                name = f"r{number}"
            texts.setdefault(number, name)
        return [texts[number] for number in self.program.outputs]

    def _unit(self, place: int, unit: Unit) -> None:
        """Write the lines of a unit."""
        if self._in_blocks(place, unit):
            self._blocked(BlockedLoop(unit, self.values, self.storage.kept(place, unit)))
            return
        for line in unit.lines:
            self._line(line)

    def _in_blocks(self, place: int, unit: Unit) -> bool:
        """Whether a unit runs in blocks."""
        large = unit.shape is not None and math.prod(unit.shape) > BLOCKED and len(unit.lines) > 1
        return large and suits(unit, self.values)

    def _line(self, line: Line) -> None:
        """Write a line."""
        self.source.lines.append(self._write(line) if line.write else self._call(line))

    def _close(self) -> None:
        """Write what waits for the end."""

    def _blocked(self, loop: BlockedLoop) -> None:
        """Write the call of a loop in blocks."""
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

    def _write(self, line: Line) -> str:
        return write_text(self.source, line, self.values, self.name)

    def _call(self, line: Line) -> str:
        """The text of a call that makes new values."""
        source, op = self.source, line.op
        kernel = op.kernel if plain_call(line, self.values) else line.call
        number = line.results[0]
        found = self._direct(line)
        if found is not None:
            function, args, options = found
            if self.storage.buffer(number):
                return source.call(function, args, self.name, **options, out=self.name(number))
            if called_as_ufunc(kernel):
                return f"v{number} = {source.call(kernel, args, self.name, out='...')}"
        text = source.call(kernel, line.args, self.name)
        rows = ', order="C"' if op.layout == "rows" else ""
        if line.several:
            names = [f"v{number}" for number in line.results]
            return f"{', '.join(names)}, = {text}" + "".join([f"; {name} = asarray({name}{rows})" for name in names])
        return f"v{number} = {text}" if op.view else f"v{number} = asarray({text}{rows})"

    def _direct(self, line: Line) -> Any:
        """A function that writes the result of a line into `out` (`direct`), or None."""
        return direct(line, self.values)
