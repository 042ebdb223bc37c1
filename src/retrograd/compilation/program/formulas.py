"""The numbers of Python's own that a repetition makes: in a form that traces can compare, and as a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .expressions import FIXED, SOURCES, Expression, in_order
from .forms import Form, Points, Refused, Unlike

# What a leaf of an expression is read from: ("output", place, index), ("input", place), ("late",) or a constant.
Leaf = tuple[Any, ...]


class Formulas(NamedTuple):
    """How numbers are computed.

    Each of `steps` is a leaf, or an operation with the places of earlier steps. `branches` are places of steps with the
    outcomes that they had in the traced call, and `wanted` are those of the numbers.
    """

    steps: tuple[tuple[Any, ...], ...]
    branches: tuple[tuple[int, bool], ...]
    wanted: tuple[int, ...]

    def function(self, count: int) -> Callable[..., Any]:
        """What takes `count` sizes and returns a function that makes the numbers."""
        scope: dict[str, Any] = {"math": math}
        tests = dict(self.branches)
        lines = []
        for place, step in enumerate(self.steps):
            lines.append(f"v{place} = {_source(step, place, scope)}")
            if place in tests:
                lines.append(f"if v{place} is not {tests[place]}: return None")
        sizes = ", ".join([f"n{place}" for place in range(count)])
        lines.append(f"return [{', '.join([f'v{place}' for place in self.wanted])}]")
        source = "\n  ".join([f"def of_sizes({sizes}):\n def numbers(arrays, inputs):", *lines]) + "\n return numbers"
        exec(compile(source, "<numbers>", "exec"), scope)
        made: Callable[..., Any] = scope["of_sizes"]
        return made


class Maker:
    """What makes the numbers of formulas in each repetition. They may depend on `count` sizes, which `begin` gives it.

    `make(arrays, inputs)` makes the numbers from the arrays of a run, and from what the guard has returned. It returns
    None if a branch turns out otherwise.
    """

    __slots__ = ("_of_sizes", "make")
    make: Callable[[Any, list[Any]], list[Any] | None]

    def __init__(self, formulas: Formulas, count: int = 0) -> None:
        self._of_sizes = formulas.function(count)
        if count == 0:
            self.begin()

    def begin(self, *sizes: int) -> None:
        """Make the numbers for these sizes from now on."""
        self.make = self._of_sizes(*sizes)


def _source(step: tuple[Any, ...], place: int, scope: dict[str, Any]) -> str:
    """How Python computes a step. Constants are put into the scope."""
    what, *parts = step
    if what == "output":
        return f"arrays[{parts[0]}].item({', '.join(map(str, parts[1]))})"
    if what == "input":
        return f"inputs[{parts[0]}]"
    if what == "late":
        return "None"
    if what == "size" and isinstance(parts[0], Form):
        return parts[0].text()
    if what in FIXED:
        scope[f"c{place}"] = parts[0]
        return f"c{place}"
    return SOURCES[what].format(*[f"v{part}" for part in parts])


def formulas(branches: Iterable[tuple[Expression, bool]], wanted: Iterable[Expression],
             leaf: Callable[[Expression], Leaf]) -> Formulas:
    """The formulas of expressions: of those on which the call branches, with their outcomes, and of the `wanted` ones.

    `leaf` says what an expression that is read from somewhere is read from.
    """
    branches, wanted = [*branches], [*wanted]
    places: dict[int, int] = {}
    steps = list[tuple[Any, ...]]()
    for each in in_order([*[branch for branch, _ in branches], *wanted]):
        places[id(each)] = len(steps)
        if each.what in FIXED:
            steps.append(fixed(each.what, each.value))
        elif each.what in ("read", "place", "late"):
            steps.append(leaf(each))
        else:
            steps.append((each.what, *[places[id(part)] for part in each.operands()]))
    return Formulas(tuple(steps), tuple([(places[id(each)], outcome) for each, outcome in branches]),
                    tuple([places[id(each)] for each in wanted]))


def fixed(what: str, value: Any) -> Leaf:
    """The leaf of a number that is always the same, or the same for the same sizes. Its text tells 0.0 from -0.0."""
    return what, value, type(value), repr(value)


def merged(points: Points, traced: Sequence[Formulas]) -> Formulas:
    """The formulas for all sizes. Raises Refused or Unlike if those of the traces differ in more than sizes."""
    first = traced[0]
    if any([each[1:] != first[1:] or len(each.steps) != len(first.steps) for each in traced]):
        raise Unlike("the traced calls have made other numbers")
    steps = list[tuple[Any, ...]]()
    for same in zip(*[each.steps for each in traced]):
        if {step[0] for step in same} == {"size"}:
            steps.append(("size", points.fitted([step[1] for step in same])))
        elif any([step != same[0] for step in same]):
            raise Refused("a number is computed in another way for another size")
        else:
            steps.append(same[0])
    return first._replace(steps=tuple(steps))
