"""The part of a backward pass that is left if some of its cotangents are absent.

A pass of the program itself never comes to nodes that lead to absent results alone. If zeros stood for the absent
cotangents, such a node could make zero times infinity, which is NaN.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ...kernels.kinds import replaced
from ...ops.elementwise.arithmetic import add
from ..program.lines import Line, Program, Ref, Value
from .effects import all_memory_written, memory_written
from .fusing import alike
from .simplify import with_instead, with_others


def without(program: Program, cotangents: Collection[int], absent: Collection[int]) -> tuple[Program, list[int]]:
    """The program without the lines that compute with absent cotangents alone, and the places of the outputs that are
    left: those that depend on something else.
    """
    part = _Part(program, set(cotangents), set(absent))
    for line in program.lines:
        part.take(with_instead(line, part.instead))
    places = [place for place, number in enumerate(program.outputs) if not part.is_absent(number)]
    left = program._replace(values=part.values, outputs=[program.outputs[place] for place in places])
    return with_others(left, part.lines, part.instead), places


class _Part:
    """The lines of a program that are left. `instead` has the other term of each sum with an absent term.

    `absent` is memory that is made of absent cotangents alone, and `present` memory that is made of others, too. Memory
    that lines write over is never absent: zeros stand for what is absent there.
    """

    def __init__(self, program: Program, cotangents: set[int], absent: set[int]) -> None:
        self.values, self.lines = [value.copied() for value in program.values], list[Line]()
        self.instead: dict[int, int] = {}
        self.absent = {self.values[number].memory for number in absent}
        self.present = {self.values[number].memory for number in cotangents - absent}
        self._written = all_memory_written(program)

    def is_absent(self, number: int) -> bool:
        """Whether a value is made of absent cotangents alone."""
        return self.values[number].memory in self.absent

    def take(self, line: Line) -> None:
        """Note a line, or what stands for it."""
        absent = [number for number in line.reads if self.is_absent(number)]
        present = [number for number in line.reads if self.values[number].memory in self.present]
        memory = {self.values[number].memory for number in line.results}
        if absent and not line.write and memory.isdisjoint(self._written):
            if not present:
                self.absent |= memory
                return
            if line.op is add and len(absent) == 1 and alike(self.values[present[0]], self.values[line.results[0]]):
                self.instead[line.results[0]] = present[0]
                self.present |= memory
                return
        if present:
            self.present |= memory | memory_written(line, self.values)
        self.lines.append(self._with_zeros(line) if absent else line)

    def _with_zeros(self, line: Line) -> Line:
        """The line with zeros in place of what is absent."""
        return line._replace(args=replaced(
            line.args, Ref, lambda ref: self._zeros(ref.number) if self.is_absent(ref.number) else ref))

    def _zeros(self, number: int) -> Ref:
        made = len(self.values)
        self.values.append(Value(made, np.zeros_like(self.values[number].like), made, "constant"))
        return Ref(made)
