"""Lines that are taken apart into simpler lines, which can join loops. The numbers stay the same, bit for bit.

A sum of a product, a mean, a loss: their kernels are compositions. `EXPANSIONS` says of which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.elementwise.arithmetic import add
from ..ops.framework import Op
from ..ops.linalg.matrix import addmm, mm
from .loops import Ref
from .program import Line, Program, Value

Array = np.ndarray[Any, Any]


class Writer:
    """Writes the lines that one line becomes."""

    def __init__(self, values: list[Value], line: Line) -> None:
        self.values, self.line = values, line
        self.lines: list[Line] = []

    def like(self, argument: Any) -> Array:
        """The geometry of a value among the arguments."""
        return self.values[argument.number].like

    def call(self, op: Op, *args: Any, like: Array) -> Ref:
        """A new value, made by a line of its own."""
        number = len(self.values)
        self.values.append(Value(number, like, number, "line"))
        self._line(op, args, number)
        return Ref(number)

    def last(self, op: Op, *args: Any) -> None:
        """The line that makes the result of the line that is taken apart."""
        self._line(op, args, self.line.results[0])

    def _line(self, op: Op, args: tuple[Any, ...], number: int) -> None:
        self.lines.append(Line(op, op.compute, args, (number,), False, False, self.line.site))


def _addmm(w: Writer, x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> bool:
    like = w.values[w.line.results[0]].like
    if beta != 1 or alpha != 1 or w.like(x).dtype != like.dtype or not like.flags.c_contiguous:
        return False
    w.last(add, w.call(mm, mat1, mat2, like=np.empty(like.shape, like.dtype)), x)
    return True


EXPANSIONS: dict[Op, Callable[..., bool]] = {addmm: _addmm}


def expanded(program: Program) -> Program:
    """The program with lines taken apart."""
    lines: list[Line] = []
    for line in program.lines:
        expand = None if line.write else EXPANSIONS.get(line.op)
        writer = Writer(program.values, line)
        lines += writer.lines if expand is not None and expand(writer, *line.args) else [line]
    return program._replace(lines=lines)

