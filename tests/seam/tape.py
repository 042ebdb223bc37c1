"""A recording array in its plainest form: it carries numbers, and a tape writes down every op call and write on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from retrograd.ops.creation import fresh, new_full, random_channels, random_from, random_like
from seam.standing import Foreign, foreign, replaced

# What is written down without a value of the tape: new memory, which may be written to, and random numbers.
MAKING = {fresh, new_full, random_channels, random_from, random_like}


class Traced(Foreign):
    """A value of the tape. `like` holds its numbers in the run that is recorded; `number` says which value it is."""

    __slots__ = ("number",)

    def __init__(self, like: np.ndarray[Any, Any], number: int) -> None:
        super().__init__(like)
        self.number = number


class Line(NamedTuple):
    """One call: what was called, on which values, which values it gave (none if it wrote), and the op's name."""

    name: str
    call: Callable[..., Any]
    args: tuple[Any, ...]
    results: tuple[int, ...] | int | None


class Tape:
    """The calls of one run, in order. Its `record` stands on the seam."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.first: list[Any] = []                         # the numbers of each value in the recorded run

    def value(self, array: np.ndarray[Any, Any]) -> Traced:
        """A new value that holds these numbers: an input, or what a call gave."""
        self.first.append(array)
        return Traced(array, len(self.first) - 1)

    def record(self, op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        """Make a call, and write it down if a value of the tape takes part, or if it makes memory to write to."""
        if op not in MAKING and not [*foreign(args)]:
            return call(*args)
        if write and not [*foreign(args[:1])]:
            raise TypeError(f"{op.name}: a value of the tape is written over a constant")
        found = call(*replaced(args, lambda value: value.like))
        if write:
            self.lines.append(Line(op.name, call, args, None))
            return None
        results = tuple([self.value(part) for part in found]) if type(found) is tuple else self.value(found)
        numbers = tuple([part.number for part in results]) if type(results) is tuple else results.number
        self.lines.append(Line(op.name, call, args, numbers))
        return results

    def replay(self, given: dict[int, Any], wanted: Sequence[Any]) -> list[Any]:
        """Run the calls again, on other numbers for the inputs `given`; the numbers of the values `wanted`."""
        values = {**dict(enumerate(self.first)), **given}
        for line in self.lines:
            found = line.call(*replaced(line.args, lambda value: values[value.number]))
            if type(line.results) is tuple:
                values.update(zip(line.results, found, strict=True))
            elif line.results is not None:
                values[line.results] = found
        return [values[value.number] if isinstance(value, Traced) else value for value in wanted]
