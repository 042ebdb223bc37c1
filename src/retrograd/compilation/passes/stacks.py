"""Lines on small arrays that become one call of NumPy, on stacks of these arrays.

A call takes as long as hundreds of additions. So lines of one kind that do not need each other run as one call, if the
values that they read and make can lie one after the other: each value is a row of a *stack*. A sum of many values, made
by one addition after the other, is one reduction of a stack.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from ...ops.elementwise.arithmetic import add
from ..program.lines import Line, Program, Ref, plain_call
from .effects import all_memory_written, before, is_view
from .fusing import SMALL, Unit, shape_of

# Functions whose results do not depend on where a number lies among others.
_EXACT = frozenset((
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.square, np.sqrt, np.absolute, np.maximum, np.minimum))
# Shorter sums gain nothing.
_TERMS = 4
# All stacks of a plan have at most so many numbers, since their memory serves no other values.
_LARGEST = 1 << 18


class Rows(NamedTuple):
    """Rows of a stack: the first, and the distance from each row to the next, which may be negative."""

    stack: int
    first: int
    step: int
    length: int


class Size(NamedTuple):
    """How many rows a stack has, and their shape and dtype."""

    rows: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Call(NamedTuple):
    """One call for several lines. `args` has `Rows` for values that differ between the lines. `copied` is the number
    of a value that is first copied to the first row; it is for sums, whose only argument are the rows of the terms.
    """

    args: tuple[Any, ...]
    out: Rows | None
    copied: int | None = None


class Stacks:
    """The units of a program with lines of one kind as one unit, and the stacks that their values lie in.

    `rows` gives the stack and the row in which a value lies. `calls` are by the number of the result of the last line
    of a unit.
    """

    def __init__(self, program: Program, units: Sequence[Unit]) -> None:
        self.values = program.values
        self.sizes: list[Size] = []
        self.rows: dict[int, tuple[int, int]] = {}
        self.calls: dict[int, Call] = {}
        self.units: list[Unit] = []
        self._numbers = 0                                   # of all stacks
        self._written = all_memory_written(program)
        self._fixed = {program.values[number].memory for number in program.outputs}
        self._fixed |= {value.memory for line in program.lines for value in map(self.values.__getitem__, line.results)
                        if value.is_view}
        self._uses = Counter([number for line in program.lines for number in line.reads] + program.outputs)
        self._needs = _Needs(program)
        small: list[Unit] = []
        for unit in units:
            if unit.shape is not None and math.prod(unit.shape) <= SMALL:
                small.append(unit)
                continue
            self._run(small)
            small = []
            self.units.append(unit)
        self._run(small)

    def _run(self, units: list[Unit]) -> None:
        """Arrange the lines of units. A line may run anywhere after the lines that it needs."""
        lines = [line for unit in units for line in unit.lines]
        places = {id(line): place for place, line in enumerate(lines)}
        sums = self._sums(lines)
        levels = self._levels(lines, sums)
        joined: dict[int, list[Line]] = {}
        groups = [[lines[place] for place in group] for group in self._groups(lines, levels, sums)]
        calls = [(part, self._together(part)) for group in sorted(groups, key=len, reverse=True)
                 for part in self._parts(group)]
        for group, call in [*calls, *[(chain, self._sum(chain)) for chain in sums]]:
            if call is not None:
                self.calls[group[-1].results[0]] = call
                joined.update(dict.fromkeys([places[id(line)] for line in group], group))
        if not joined:
            self.units += units
            return
        single: list[Line] = []
        for place in sorted(range(len(lines)), key=lambda place: (-levels[place], place)):
            if place not in joined:
                single.append(lines[place])
            elif joined[place][0] is lines[place]:
                self._add(single)
                self._add(joined[place])
                single = []
        self._add(single)

    def _add(self, lines: list[Line]) -> None:
        """Add lines as units, each with lines of one shape."""
        for shape, group in groupby(lines, lambda line: shape_of(line, self.values)):
            self.units.append(Unit(tuple(group), shape, False))

    # Which lines belong together

    def _levels(self, lines: list[Line], sums: list[list[Line]]) -> list[int]:
        """How many lines must at least run after each line. The lines of a sum are one."""
        chain_of = {id(line): i for i, chain in enumerate(sums) for line in chain}
        of_chain: dict[int, int] = {}
        levels = [0] * len(lines)
        needs = self._needs.within(lines)
        for place in reversed(range(len(lines))):
            chain = chain_of.get(id(lines[place]))
            if chain is not None:                           # its last line comes first here
                levels[place] = of_chain.setdefault(chain, levels[place])
            for earlier in needs[place]:
                if chain is None or chain_of.get(id(lines[earlier])) != chain:
                    levels[earlier] = max(levels[earlier], levels[place] + 1)
        return levels

    def _sums(self, lines: list[Line]) -> list[list[Line]]:
        """Additions of one value after the other, whose sums in between nobody else uses."""
        open_sums: dict[int, list[Line]] = {}
        for line in lines:
            if line.op is not add or not self._is_plain(line) or self.values[line.results[0]].like.size < 2 or (
                    len(line.reads) != 2):
                continue
            first, second = line.reads
            known = open_sums.pop(first, None) if self._uses[first] == 1 and first != second else None
            open_sums[line.results[0]] = [line] if known is None else [*known, line]
        return [chain for chain in open_sums.values() if len(chain) + 1 >= _TERMS]

    def _is_plain(self, line: Line) -> bool:
        """Whether a line calls an exact ufunc with arrays of one shape and type, and makes a value that may be moved.
        """
        if line.write or line.op.kernel not in _EXACT or not plain_call(line, self.values):
            return False
        value = self.values[line.results[0]]
        like = value.like
        if self._written & {value.memory, *[self.values[number].memory for number in line.reads]}:
            return False
        return (value.memory not in self._fixed and like.dtype.char in "fd" and like.flags.c_contiguous
                and all([type(arg) in (Ref, int, float) for arg in line.args])
                and all([self.values[number].like.dtype == like.dtype for number in line.reads]))

    def _groups(self, lines: list[Line], levels: list[int], sums: list[list[Line]]) -> list[list[int]]:
        """Lines of one level that call the same function in the same way, and whose results serve the same ends."""
        summed = {id(line): place for place, chain in enumerate(sums) for line in chain}
        ends: dict[int, set[Hashable]] = defaultdict(set)
        for line in lines:
            for place, number in enumerate(line.reads):
                ends[number].add((line.op.kernel, place, summed.get(id(line))))
        alike: dict[Hashable, list[int]] = defaultdict(list)
        for place, line in enumerate(lines):
            if id(line) not in summed and self._is_plain(line):
                numbers = tuple([(type(arg), None if type(arg) is Ref else repr(arg)) for arg in line.args])
                number = line.results[0]
                like = self.values[number].like
                what = line.op.kernel, like.shape, like.dtype
                alike[levels[place], what, numbers, frozenset(ends[number])].append(place)
        found: dict[Hashable, list[int]] = defaultdict(list)
        for key, places in alike.items():
            often = Counter([(i, arg) for place in places for i, arg in enumerate(lines[place].args)])
            for place in places:
                shared = tuple([arg if often[i, arg] > 1 else None for i, arg in enumerate(lines[place].args)])
                found[key, shared].append(place)
        return [*found.values()]

    # Where the values lie

    def _parts(self, group: list[Line]) -> Iterator[list[Line]]:
        """The lines whose values lie in rows at equal distances, or lie nowhere yet."""
        alike: dict[Hashable, list[Line]] = defaultdict(list)
        columns = [column for column in zip(*map(_values, group), strict=True) if len({*column}) > 1]
        for line, *numbers in zip(group, *columns, strict=True):
            stacks = [self.rows[n][0] if n in self.rows else -1 for n in numbers]
            if all([n in self.rows or self._is_movable(n) for n in numbers]):
                alike[tuple(stacks)].append(line)
        for lines in alike.values():
            part: list[Line] = []
            steps: Any = None
            for line in lines:
                step = [self.rows[n][1] - self.rows[m][1] for m, n in zip(_values(part[-1]), _values(line))
                        if n in self.rows and m in self.rows] if part else None
                if len(part) > 1 and step != steps:
                    yield part
                    part, step = [], None
                part.append(line)
                steps = step
            if len(part) > 1:
                yield part

    def _together(self, lines: Sequence[Line]) -> Call | None:
        """The call of lines of one kind; None if their values cannot lie in stacks."""
        shape = self.values[lines[0].results[0]].like.shape
        args: list[Any] = []
        for column in zip(*[line.args for line in lines], strict=True):
            if len({*column}) == 1:
                same = column[0]
                if type(same) is Ref and self.values[same.number].like.ndim > len(shape):
                    return None
                args.append(same)
            else:
                rows = self._column([arg.number for arg in column], shape)
                if rows is None:
                    return None
                args.append(rows)
        out = self._column([line.results[0] for line in lines], shape)
        # NumPy's `negative` may be wrong where the operand and the result have the same gaps.
        gaps = lines[0].op.kernel is np.negative and any([type(x) is Rows and x.step != 1 for x in (*args, out)])
        return None if out is None or gaps else Call(tuple(args), out)

    def _sum(self, chain: list[Line]) -> Call | None:
        """The call of a sum; None if its terms do not lie in a stack. A row before the others may be for the first."""
        first, terms = chain[0].reads[0], [line.reads[1] for line in chain]
        shape = self.values[chain[-1].results[0]].like.shape
        if any([self.values[number].like.shape != shape for number in (first, *terms)]):
            return None
        rows = self._column(terms, shape)
        if rows is None or rows.step != 1:
            return None
        whole = Rows(rows.stack, rows.first - 1, 1, rows.length + 1)
        if self.rows.get(first) == (rows.stack, rows.first - 1):
            return Call((whole,), None)
        return Call((whole,), None, first) if rows.first == 1 else None

    def _column(self, numbers: list[int], shape: tuple[int, ...]) -> Rows | None:
        """The rows that values lie in. If they lie nowhere yet, they get a stack, whose first row is free."""
        known = [self.rows.get(number) for number in numbers]
        if not any(known):
            return self._new(numbers, shape)
        if None in known:
            return None
        stacks, places = {stack for stack, _ in known}, [row for _, row in known]   # type: ignore[misc]
        steps = {later - earlier for earlier, later in pairwise(places)}
        if len(stacks) > 1 or len(steps) > 1 or 0 in steps or self.sizes[min(stacks)].shape != shape:
            return None
        return Rows(stacks.pop(), places[0], steps.pop(), len(places))

    def _new(self, numbers: list[int], shape: tuple[int, ...]) -> Rows | None:
        values, size = [self.values[number] for number in numbers], (len(numbers) + 1) * math.prod(shape)
        movable = all([value.like.shape == shape and self._is_movable(value.number) for value in values])
        if not movable or len({*numbers}) < len(numbers) or self._numbers + size > _LARGEST:
            return None
        self._numbers += size
        self.rows.update({number: (len(self.sizes), 1 + i) for i, number in enumerate(numbers)})
        self.sizes.append(Size(len(numbers) + 1, shape, values[0].like.dtype))
        return Rows(len(self.sizes) - 1, 1, 1, len(numbers))

    def _is_movable(self, number: int) -> bool:
        """Whether a value may lie in any row."""
        line = self._needs.maker.get(number)
        return line is not None and self._is_plain(line)


def _values(line: Line) -> list[int]:
    """The values that a line reads and makes."""
    return [*line.reads, *line.results]


class _Needs:
    """Which lines of a program must run before each line."""

    def __init__(self, program: Program) -> None:
        lines = [line for line in program.lines if not is_view(line, program.values)]
        self.maker = {number: line for line in lines for number in line.results}
        self._places = {id(line): place for place, line in enumerate(lines)}
        self._before = before(program.lines, program.values)

    def within(self, lines: Sequence[Line]) -> list[list[int]]:
        """For each of some lines, which of these must run before it."""
        places = {self._places[id(line)]: i for i, line in enumerate(lines)}
        among = sum([1 << place for place in places])
        found = []
        for line in lines:
            rest, needs = self._before[self._places[id(line)]] & among, list[int]()
            while rest:
                lowest = rest & -rest
                needs.append(places[lowest.bit_length() - 1])
                rest ^= lowest
            found.append(needs)
        return found
