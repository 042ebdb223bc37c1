"""Joining the lines of a program to units: loops of elementwise lines with their reductions, and single calls.

A line joins a loop over the same shape if no line in between must run after the loop and before the line. `before` of
`effects` says which lines must run first. So the units are an order of the program in which each loop reads its inputs
once. At the end, two large loops become one if the later one reads what the earlier one computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...kernels.layout import address, dense
from ...ops.basic import cast, cast_in, clone, copy
from ...ops.choosing import choose
from ...ops.networks.activations import at_most, hardswish_slope, threshold_backward, twice_ndtr
from ...ops.reductions import amax, sum_all, sum_dim
from ..program.lines import Line, Program, Value, has_rare_types
from . import effects

# Operators that compute element by element, but whose statements do not say so.
ALSO_ELEMENTWISE = frozenset((
    at_most, cast, cast_in, choose, clone, copy, hardswish_slope, threshold_backward, twice_ndtr))
# The reductions that may end a loop. NumPy alone makes only sums so.
REDUCTIONS = {sum_all: "sum", sum_dim: "sum", amax: "amax"}
# A loop has at most so many lines. Longer loops gain nothing, and take long to compile.
LONGEST = 400
# Below this number of elements, lines join a loop of their shape even if they share no values with it.
SMALL = 4096


class Unit(NamedTuple):
    """Lines that run together. `shape` is the index space of a loop, or None for a single call.

    `native` says whether the unit has machine code.
    """

    lines: tuple[Line, ...]
    shape: Shape | None
    native: bool


class Lowering(Protocol):
    """What has machine code."""

    def joins(self, line: Line, values: list[Value]) -> bool:
        """Whether a line of a loop has."""

    def is_product(self, line: Line, values: list[Value]) -> bool:
        """Whether a line is a product of matrices that has."""


def shape_of(line: Line, values: list[Value]) -> Shape | None:
    """The index space of a line that may be part of a loop: an elementwise line, or a sum. None for other lines."""
    if is_reduction(line):
        like = values[line.reads[0]].like
        summed = like.size and like.dtype.kind == "f" and like.dtype == values[line.results[0]].like.dtype
        return like.shape if summed else None
    if not (effects.is_elementwise(line.op) or line.op in ALSO_ELEMENTWISE) or effects.draws(line):
        return None
    if line.write and _reads_elsewhere(line, values):
        return None
    number = line.reads[0] if line.write else line.results[0]
    like = values[number].like
    if has_rare_types(line, values):
        return None
    return like.shape if like.size and not _repeats(like) and (line.write or dense(like)) else None


def _reads_elsewhere(line: Line, values: list[Value]) -> bool:
    """Whether a line reads the memory that it writes at other places than it writes."""
    target = values[line.reads[0]]
    return any([values[number].memory == target.memory and not same_place(values[number], target)
                for number in line.reads[1:]])


def _repeats(array: Array) -> bool:
    """Whether elements of an array coincide, so that they cannot be written one by one."""
    return 0 in [stride for stride, size in zip(array.strides, array.shape, strict=True) if size > 1]


def is_reduction(line: Line) -> bool:
    """Whether a line of a loop is a reduction at its end."""
    return line.op in REDUCTIONS


def _places(bits: int) -> Iterator[int]:
    """The places of the bits that are set, the lowest one first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class _Groups:
    """The units while they are made. A set of units is an integer with one bit for each."""

    def __init__(self, program: Program, reshaping: bool) -> None:
        self.values, self.reshaping = program.values, reshaping
        self.lines: list[list[int]] = []
        self.shapes: list[Shape | None] = []
        self.native: list[bool] = []
        self.above: list[int] = []                         # which units must run before each unit
        self.of_line: list[int] = []
        self.touched: list[set[int]] = []                  # the memory that each unit reads or writes
        self.small: list[bool] = []

    def needs(self, before: int) -> int:
        """The units of a set of lines."""
        units = 0
        for place in _places(before):
            units |= 1 << self.of_line[place]
        return units

    def all_above(self, units: int) -> int:
        """The units, and all units that must run before them."""
        found = units
        for unit in _places(units):
            found |= self.above[unit]
        return found

    def takes(self, unit: int, line: Line, shape: Shape) -> bool:
        """Whether the arrays of a line can be seen in the shape of a unit."""
        own = self.shapes[unit]
        if own is None or own == shape:
            return own is not None
        if not self.reshaping or math.prod(own) != math.prod(shape) or line.op in (sum_dim, amax):
            return False
        numbers = line.reads if is_reduction(line) else (*line.reads, *line.results)
        return all(seen_as(self.values[number].like, shape, own) is not None for number in numbers)

    def add(self, place: int, shape: Shape | None, native: bool, small: bool, needs: int, touched: set[int]) -> None:
        """A new unit with this line."""
        self.of_line.append(len(self.lines))
        self.lines.append([place])
        self.shapes.append(shape)
        self.native.append(native)
        self.above.append(self.all_above(needs))
        self.touched.append(touched)
        self.small.append(small)

    def join(self, unit: int, place: int, needs: int, touched: set[int]) -> None:
        """Put a line into a unit. What the line needs must run before all that runs after the unit."""
        self.of_line.append(unit)
        self.lines[unit].append(place)
        self.touched[unit] |= touched
        bit = 1 << unit
        more = self.all_above(needs & ~bit)
        self.above[unit] |= more
        for other, above in enumerate(self.above):
            if above & bit:
                self.above[other] |= more

    def alike(self, one: int, other: int) -> bool:
        """Whether two loops are over the same shape, and are not too long to be one."""
        return (one != other and self.shapes[one] == self.shapes[other] and self.native[one] == self.native[other]
                and len(self.lines[one]) + len(self.lines[other]) <= LONGEST)

    def merge(self, earlier: int, later: int) -> None:
        """Put the lines of a unit into a later one, which needs the unit. Nothing may have to run between them."""
        own, bit = 1 << earlier, 1 << later
        self.lines[later] = sorted(self.lines[earlier] + self.lines[later])
        self.lines[earlier], self.shapes[earlier] = [], None
        self.touched[later] |= self.touched[earlier]
        self.above[later] |= self.above[earlier]
        for unit, above in enumerate(self.above):
            if above & own:
                self.above[unit] = (above | self.above[later] | bit) & ~own


def units(program: Program, lowering: Lowering | None = None, measured: list[Value] | None = None) -> list[Unit]:
    """The program's lines as units, in an order in which they may run. Views are no lines: they need no run.

    If there is machine code, other lines stay out of loops, and lines of other shapes may join a loop, if their arrays
    can be seen in its shape. `measured` are the values that say which loops are small, if the units are to be those of
    the same program for other sizes.
    """
    values = program.values
    lines = [line for line in program.lines if not effects.is_view(line, values)]
    before = effects.before(program.lines, values)
    groups = _Groups(program, lowering is not None)
    for place, line in enumerate(lines):
        shape = shape_of(line, values)
        if line.op is amax if lowering is None else shape is not None and not lowering.joins(line, values):
            shape = None
        touched = {values[number].memory for number in (*line.reads, *line.results)}
        needs = groups.needs(before[place])
        space = shape if measured is None else shape_of(line, measured)
        small = math.prod(space or ()) <= SMALL
        unit = None if shape is None else _home(groups, lines, before[place], line, shape, small, needs, touched)
        if unit is None:
            native = lowering is not None and (shape is not None or lowering.is_product(line, values))
            groups.add(place, shape, native, small, needs, touched)
        else:
            groups.join(unit, place, needs, touched)
    _merge(groups, lines, before)
    return [Unit(tuple([lines[place] for place in groups.lines[unit]]), groups.shapes[unit], groups.native[unit])
            for unit in _order(groups)]


def _home(groups: _Groups, lines: list[Line], before: int, line: Line, shape: Shape, small: bool, needs: int,
          touched: set[int]) -> int | None:
    """The unit that a line may join, or None."""
    for unit in range(len(groups.lines) - 1, max(-1, len(groups.lines) - 64), -1):
        if len(groups.lines[unit]) >= LONGEST or not groups.takes(unit, line, shape):
            continue
        if not small and not touched & groups.touched[unit]:
            continue
        bit = 1 << unit
        if groups.all_above(needs & ~bit) & bit:           # something must run after the unit and before the line
            continue
        members = [lines[place] for place in groups.lines[unit] if before >> place & 1]
        if all(_in_step(member, line, groups.values) for member in members):
            return unit
    return None


def _merge(groups: _Groups, lines: list[Line], before: list[int]) -> None:
    """Make one loop of two large ones, if the later one reads what the earlier one computes, element by element."""
    large = sum([1 << unit for unit, small in enumerate(groups.small) if groups.shapes[unit] is not None and not small])
    for later in _places(large):
        while any([_merges(groups, earlier, later, lines, before) for earlier in _places(groups.above[later] & large)]):
            pass


def _merges(groups: _Groups, earlier: int, later: int, lines: list[Line], before: list[int]) -> bool:
    """Make one loop of two, if they can be one. Returns whether they can."""
    if not groups.alike(earlier, later) or any([
            above >> earlier & groups.above[later] >> unit & 1 for unit, above in enumerate(groups.above)
            if unit not in (earlier, later)]):
        return False
    pairs = [(lines[member], lines[place]) for place in groups.lines[later] for member in groups.lines[earlier]
             if before[place] >> member & 1]
    if not all([_in_step(*pair, groups.values) for pair in pairs]):
        return False
    groups.merge(earlier, later)
    return True


def _in_step(earlier: Line, later: Line, values: list[Value]) -> bool:
    """Whether `later` may run for each element right after `earlier`: they share memory only element by element."""
    if is_reduction(earlier):
        return False
    made = {*earlier.results, *([earlier.reads[0]] if earlier.write else [])}
    shared = effects.memory_written(earlier, values) | {values[number].memory for number in earlier.results}
    changed = effects.memory_written(later, values)
    for number in later.reads:
        if values[number].memory in shared and not any(same_place(values[number], values[one]) for one in made):
            return False
    for number in earlier.reads:
        if values[number].memory in changed and not same_place(values[number], values[later.reads[0]]):
            return False
    return True


def seen_as(array: Array, shape: Shape, other: Shape) -> Array | None:
    """An array, broadcast to `shape`, as a view of the shape `other`; None if there is no such view."""
    whole = np.broadcast_to(array, shape)
    if shape == other:
        return whole
    try:
        return np.reshape(whole, other, copy=False)
    except ValueError:
        return None


def alike(one: Value, other: Value) -> bool:
    """Whether two values have the same geometry. The stride of a dim of one place does not count."""
    a, b = one.like, other.like
    return a.shape == b.shape and a.dtype == b.dtype and all(
        [x == y for x, y, size in zip(a.strides, b.strides, a.shape, strict=True) if size != 1])


def same_place(one: Value, other: Value) -> bool:
    """Whether two values are the same elements of the same memory, in the same order."""
    if one is other:
        return True
    a, b = one.like, other.like
    rows = a.flags.c_contiguous and b.flags.c_contiguous and a.size == b.size and a.dtype == b.dtype
    return (rows or alike(one, other)) and address(a) == address(b)


def _order(groups: _Groups) -> list[int]:
    """The units in an order in which each runs after those above it. Units with machine code follow each other."""
    done, order = 0, []
    waiting = sorted([unit for unit, lines in enumerate(groups.lines) if lines], key=lambda unit: groups.lines[unit][0])
    native = False
    while waiting:
        ready = [unit for unit in waiting if not groups.above[unit] & ~(1 << unit) & ~done]
        following = [unit for unit in ready if groups.native[unit] == native]
        native = native if following else not native
        for unit in following[:1] if native else following:
            done |= 1 << unit
            order.append(unit)
            waiting.remove(unit)
    return order
