"""A traced program: calls of operators on numbered values, in order.

Each value has a `Value`: its geometry, and where its memory is. A value that is a view has the memory of the value that
it views. A line reads its arguments and makes new values, or writes over its first argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

from ...foundations.dtypes import RARE, Array
from ...foundations.errors import Site
from ...kernels.kinds import replaced
from ...ops.framework import Op

# Where the numbers of a value come from: an argument or captured tensor, a number that never changes, or a line.
Source = Literal["outside", "constant", "line"]


# How the names of operators begin that write over all of their arguments, as the steps of optimizers do.
STEP = "_fused_"


class Ref(NamedTuple):
    """The number of a value, where an argument of a call stands."""

    number: int


class Value:
    """One value of a program. `like` has its geometry, and, in the traced run, its numbers."""

    __slots__ = ("like", "memory", "number", "source")

    def __init__(self, number: int, like: Array, memory: int, source: Source) -> None:
        self.number, self.like, self.memory, self.source = number, like, memory, source

    def copied(self) -> Value:
        """The same value, for another plan."""
        return Value(self.number, self.like, self.memory, self.source)

    @property
    def is_view(self) -> bool:
        """Whether the memory belongs to an earlier value."""
        return self.memory != self.number


class Arithmetic(partial[Any]):
    """A function of arrays that takes all numbers, so that it raises no error."""


class Line(NamedTuple):
    """One call. `args` holds a `Ref` for each value. `results` are the numbers of its results; a write has none."""

    op: Op
    call: Callable[..., Any]
    args: tuple[Any, ...]
    results: tuple[int, ...]
    several: bool                                          # whether the call returns a tuple
    write: bool
    site: Site | None

    @property
    def reads(self) -> list[int]:
        """The numbers of the values among the arguments."""
        found = []
        for arg in self.args:
            kind = type(arg)
            if kind is Ref:
                found.append(arg.number)
            elif kind is list or kind is tuple:
                found += [ref.number for ref in refs(arg)]
        return found


class Program(NamedTuple):
    """What a trace leaves. `inputs` are the values that each run is given, `outputs` the values that it must return."""

    values: list[Value]
    lines: list[Line]
    inputs: list[int]
    outputs: list[int]


def called(line: Line, call: Callable[..., Any], array: Callable[[int], Any]) -> list[Any]:
    """The results of a call with the arguments of a line: with `array(number)` for each value."""
    found = call(*replaced(line.args, Ref, lambda ref: array(ref.number)))
    return [*found] if line.several else [found]


def last_uses(lines: Iterable[Line]) -> dict[int, int]:
    """The last line that uses each value."""
    return {number: place for place, line in enumerate(lines) for number in (*line.reads, *line.results)}


def refs(value: Any) -> Iterator[Ref]:
    """The values in an argument, also inside of lists and tuples."""
    if type(value) is Ref:
        yield value
    elif type(value) in (list, tuple):
        for part in value:
            yield from refs(part)


def has_rare_types(line: Line, values: list[Value]) -> bool:
    """Whether a line has arrays of types that kernels do not take as they are."""
    return bool(RARE) and any([values[number].like.dtype in RARE for number in (*line.reads, *line.results)])


def plain_call(line: Line, values: list[Value]) -> bool:
    """Whether a line calls the kernel of its op with arrays that the kernel takes as they are."""
    return line.call == line.op.compute and not has_rare_types(line, values)
