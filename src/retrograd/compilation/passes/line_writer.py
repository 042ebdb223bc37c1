"""Writing the lines that one line of a program becomes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address
from ...ops.basic import call as of_arrays, clone
from ...ops.framework import Op
from ...tensors.recording.inplace import write_over
from ..program.lines import Line, Ref, Value
from ..program.stand_ins import stand_in


class LineWriter:
    """Writes the lines that one line becomes. `native` says whether loops will be machine code."""

    def __init__(self, values: list[Value], line: Line, native: bool, constants: dict[Any, Ref]) -> None:
        self.values, self.line, self.native, self.constants = values, line, native, constants
        self.lines: list[Line] = []

    def like(self, argument: Ref) -> Array:
        """The geometry of a value among the arguments."""
        value: Value = self.values[argument.number]
        return value.like

    @property
    def result(self) -> Array:
        """The geometry of the result."""
        return self.values[self.line.results[0]].like

    def by_rows(self) -> bool:
        """Whether all results lie row by row."""
        return all([self.values[number].like.flags.c_contiguous for number in self.line.results])

    def floats(self, *args: Ref | None) -> bool:
        """Whether all arrays have the floating-point type of the result, which is a wide one, and elements."""
        likes = [self.like(arg) for arg in args if arg is not None]
        return all([like.dtype == self.result.dtype and like.dtype.char in "fd" and like.size for like in likes])

    def rows(self, x: Ref) -> Array:
        """The geometry of a result like x that lies row by row."""
        like = self.like(x)
        return np.empty(like.shape, like.dtype)

    def elements(self, x: Ref) -> Ref:
        """A value that needs no line and has the same elements in the same memory, in whatever shape; or else x.

        Of the values that come from outside, a memory that others are views of may have no name in the program.
        """
        own = self.values[x.number]
        outside = [value for value in self.values if value.source == "outside" and value.memory == own.memory]
        named = [value for value in outside if value.is_view] or outside
        return next((Ref(value.number) for value in named if self._one_after_the_other(value.like, own.like)), x)

    @staticmethod
    def _one_after_the_other(like: Array, other: Array) -> bool:
        return (like.dtype == other.dtype and like.size == other.size and address(like) == address(other)
                and like.flags.c_contiguous and other.flags.c_contiguous)

    @property
    def made(self) -> Ref:
        """The result."""
        return Ref(self.line.results[0])

    def constant(self, number: float, dtype: np.dtype[Any]) -> Ref:
        """A number as a 0-d array."""
        return self.array(np.array(number, dtype))

    def array(self, numbers: Array) -> Ref:
        """A constant array. Equal constants are one value."""
        key = numbers.dtype, numbers.shape, numbers.tobytes()
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = self._value(numbers, "constant")
        return found

    def outside(self, memory: Array) -> Ref:
        """Memory that something else writes before each run."""
        found = self.constants.get(id(memory))
        if found is None:
            found = self.constants[id(memory)] = self._value(memory, "outside")
        return found

    def view(self, op: Op, x: Ref, *args: Any, like: Array) -> Ref:
        """A view of a value."""
        made = self._value(like, "line")
        value = self.values[made.number]
        value.memory = self.values[x.number].memory
        self._line(op, (x, *args), made.number)
        return made

    def alias(self, value: Ref, place: int) -> None:
        """Have a value be the result at `place` of the line that is taken apart."""
        self._line(clone, (value, "C"), self.line.results[place])

    def call(self, op: Op, *args: Any, like: Array) -> Ref:
        """A new value of the geometry of `like`, made by a line of its own."""
        made = self._value(stand_in(like), "line")
        self._line(op, args, made.number)
        return made

    def several(self, function: Callable[..., tuple[Array, ...]], *args: Ref, likes: tuple[Array, ...]) -> list[Ref]:
        """New values that a function of arrays returns."""
        made = [self._value(stand_in(like), "line") for like in likes]
        self.lines.append(Line(of_arrays, of_arrays.compute, ([*args], function), tuple([ref.number for ref in made]),
                               True, False, self.line.site))
        return made

    def last(self, op: Op, *args: Any, place: int = 0) -> None:
        """The line that makes the result at `place` of the line that is taken apart."""
        self._line(op, args, self.line.results[place])

    def write(self, op: Op, target: Ref, *others: Ref) -> None:
        """A line that writes the result of `op(target, *others)` over `target`."""
        self.assign(op, target, target, *others)

    def assign(self, op: Op, target: Ref, *args: Ref) -> None:
        """A line that writes the result of `op(*args)` over `target`."""
        self.lines.append(Line(op, partial(write_over, op, None), (target, *args), (), False, True, self.line.site))

    def _value(self, like: Array, source: Any) -> Ref:
        number = len(self.values)
        self.values.append(Value(number, like, number, source))
        return Ref(number)

    def _line(self, op: Op, args: tuple[Any, ...], number: int) -> None:
        self.lines.append(Line(op, op.compute, args, (number,), False, False, self.line.site))
