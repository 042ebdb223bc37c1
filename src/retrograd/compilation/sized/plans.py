"""A plan for all sizes: one program and one source of code, whose arrays and numbers are set for a size before a run.

The program is planned for sizes that no other numbers in it equal, so nothing is joined that only happens to have the
same shape. `bind` then sets for other sizes what depends on them: buffers are views of memory for the largest sizes so
far, views are taken again, and constants are computed again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.names import reached
from ...kernels.layout import address, owner_of
from ..execution.blocks import BlockedLoop, flat, suits
from ..execution.numpy_code import BLOCKED
from ..execution.plan import Plan, executor, planned
from ..execution.sized_units import SizedUnits
from ..passes.fusing import Unit
from ..passes.order import Work
from ..program.forms import Points, Refused, Sizes, at, varies
from ..program.layouts import Layout, layout
from ..program.lines import Line, Program, Value, called, refs
from ..program.symbols import concrete, hinted, is_symbolic
from .pairing import Filled, SizedProgram, merged_lines

# Some of these sizes are taken to plan a program: primes, the large ones first. Values may have so many bytes then,
# except for sizes so small that none are smaller.
LARGEST, SMALLEST = 1 << 26, 100
GENERIC = (10037, 10009, 10007, 5011, 5009, 5003, 2017, 2011, 2003, 1019, 1013, 1009, 521, 509, 503, 263, 257, 251, 137,
           131, 127, 71, 67, 61, 59, 53, 47, 43, 41, 37)
# How many times larger the largest of several sizes may be than the smallest.
NEAR = 1.3
# So many sizes are kept bound.
KEPT = 512


def generic(sized: SizedProgram, conditions: Sequence[str]) -> Points:
    """Some sizes for which the program holds, and which are no numbers of the program: one more than forms need."""
    count = sized.points.count
    for order in permutations(range(count)):
        found: list[Sizes] = []
        for sizes in _choices(order):
            names = {f"n{place}": size for place, size in enumerate(sizes)}
            if not ((max(sizes) < SMALLEST or sized.bytes(sizes) < LARGEST) and sized.is_generic(sizes)
                    and sized.sized.holds(sizes) and all([eval(condition, names) for condition in conditions])):
                continue
            found.append(sizes)
            if len(found) < count + 2:
                continue
            points = Points(found, sized.points.products)
            if points.apart():
                return points
            found.pop(0)
    raise Refused("the program holds for few sizes")


def _choices(order: Sequence[int]) -> Iterator[Sizes]:
    """Sizes whose order is given, the large ones first. Sizes of one choice are near, so that plans are alike."""
    for start in range(len(GENERIC) - len(order) + 1):
        near = GENERIC[start:start + len(order)]
        if near[0] < NEAR * near[-1]:
            yield tuple([near[place] for place in order])


class SizedPlan:
    """A plan whose `bind` makes it one for sizes. Then `code` runs calls of these sizes."""

    def __init__(self, sized: SizedProgram, conditions: Sequence[str], native: bool) -> None:
        self.sized, self.native = sized, native
        self.points = generic(sized, conditions)
        plans = [planned(sized.at(sizes), sized.given, native, sized=True) for sizes in self.points.sizes]
        self.given = plans[0].given
        self.program = self._joined(plans)
        for plan, sizes in zip(plans, self.points.sizes, strict=True):
            self._let_go(plan.program.values, sizes)
        self.lowering = reached("compilation.native.sized_lowering") if native else None
        self.planned = [self._units(plan.program.values, plans[0].program.values, sizes)
                        for plan, sizes in zip(plans, self.points.sizes, strict=True)]
        self.units = self.planned[0][0]
        if any([list(map(_kind, units)) != list(map(_kind, self.units)) for units, _ in self.planned]):
            raise Refused("the plan has other loops for another size")
        self.shapes = {id(unit): self._shape(unit) for unit in self.units}
        self.codes: dict[tuple[bool, ...], SizedCode] = {}
        self.of_sizes: dict[Sizes, SizedCode] = {}
        self.fitting: dict[Sizes, bool] = {}
        self.sizes = sized.points.sizes[-1]
        self._code(self.sizes)                             # which may refuse the plan

    @property
    def code(self) -> SizedCode:
        """The code for the sizes that were bound last."""
        return self._code(self.sizes)

    def fits(self, sizes: Sizes) -> bool:
        """Whether views lie for sizes as the traces tell. For small sizes, a view may end with its array before."""
        found = self.fitting.get(sizes)
        if found is None:
            try:
                self.sized.at(sizes)
                found = True
            except Refused:
                found = False
            if len(self.fitting) >= KEPT:
                self.fitting.clear()
            self.fitting[sizes] = found
        return found

    def bind(self, sizes: Sizes) -> SizedCode:
        """Make the code be that for sizes."""
        code = self.of_sizes.get(sizes)
        if code is None:
            if len(self.of_sizes) >= KEPT:
                self.of_sizes.clear()
            code = self.of_sizes[sizes] = self._code(sizes)
        self.sizes = sizes
        if code.sizes != sizes:
            code.bind(sizes)
        return code

    def apart(self) -> SizedPlan:
        """The same plan with memory of its own."""
        other = copy(self)
        other.codes, other.of_sizes = {}, {}
        return other

    def _code(self, sizes: Sizes) -> SizedCode:
        large = tuple([self._is_large(unit, sizes) for unit in self.units])
        code = self.codes.get(large)
        if code is None:
            code = self.codes[large] = SizedCode(self, large)
            code.ready.leases.settle()
        return code

    def _is_large(self, unit: Unit, sizes: Sizes) -> bool:
        """Whether a unit runs in another way, since it is large."""
        shape = self.shapes[id(unit)]
        if self.lowering:
            return bool(self.lowering.is_large(unit, shape, self.layouts, sizes))
        return shape is not None and math.prod([at(n, sizes) for n in shape]) > BLOCKED

    def _units(self, values: list[Value], first: list[Value], sizes: Sizes) -> tuple[list[Unit], list[Value]]:
        """The units for some of the sizes, and the values. What is small for the first sizes is small for all."""
        lines = [hinted(line, sizes) for line in self.program.lines]
        work = Work(self.program._replace(values=values, lines=lines), self.given, self.native, True, self.lowering,
                    first)
        work.run(late=True)
        return work.units, values

    def _joined(self, plans: list[Plan]) -> Program:
        """The program of the plans, which differ only in what depends on sizes."""
        programs = [plan.program for plan in plans]
        first = programs[0]
        if any([plan.given != self.given or plan.program.outputs != first.outputs
                or len(plan.program.lines) != len(first.lines) for plan in plans]):
            raise Refused("the plan is another one for another size")
        self.layouts: dict[int, Layout] = {}
        self.filled = dict(self.sized.filled)
        lines = [merged_lines(self.points, lines) for lines in zip(*[program.lines for program in programs])]
        used = {number for line in lines for number in (*line.reads, *line.results)} | {*first.outputs, *self.given}
        self.folded = self._folded(first.values)
        self.computed = self._needed(used)
        for number in used:
            self._value(number, [program.values[number] for program in programs])
        return first._replace(lines=lines)

    def _let_go(self, values: list[Value], sizes: Sizes) -> None:
        """Keep the geometry of constants that depend on sizes, but not their memory."""
        for number in {*self.filled, *self.folded}:
            known = self.layouts.get(number)
            values[number].like = np.empty(0) if known is None else known.array(sizes)

    def _value(self, number: int, values: Sequence[Value]) -> None:
        if any([value.memory != values[0].memory or value.source != values[0].source for value in values]):
            raise Refused("a value of the plan lies in other memory for another size")
        arrays = [value.like for value in values]
        found = self.layouts[number] = layout(self.points, arrays)
        known = number in self.filled or number in self.folded or number < len(self.sized.like.values)
        if values[0].source == "constant" and not known and any([
                array.tobytes() != arrays[0].tobytes() for array in arrays]):
            if found.shape:
                raise Refused("a table of the plan depends on sizes")
            self.filled[number] = Filled(found, self.points.whole([array.item() for array in arrays]))

    def _folded(self, values: list[Value]) -> dict[int, Line]:
        """The lines whose results are the same in all runs of the same sizes, and that depend on sizes."""
        found: dict[int, Line] = {}
        for line in self.sized.lines:
            reads = [ref.number for ref in refs(line.args)]
            if all([values[number].source == "constant" for number in line.results]) and line.results and (
                    is_symbolic(line.args) or any([n in self.filled or n in found for n in reads])):
                found.update(dict.fromkeys(line.results, line))
        return found

    def _shape(self, unit: Unit) -> tuple[Any, ...] | None:
        """The index space of a unit for all sizes, if it may run in blocks."""
        blocks = self.lowering is None
        if unit.shape is None or (blocks and (len(unit.lines) == 1 or not suits(unit, self.program.values))):
            return None
        numbers = [number for line in unit.lines for number in (*line.reads, *line.results)]
        shape = next((self.layouts[n].shape for n in numbers if self.program.values[n].like.shape == unit.shape), None)
        if shape is None and not blocks:
            raise Refused("a loop has a shape of its own")
        ordered = shape is not None and (not any(map(varies, shape[1:])) or flat(unit, self.program.values))
        return shape if ordered or not blocks else None

    def _needed(self, used: set[int]) -> list[Line]:
        """The folded lines whose results the program uses, or that other such lines use."""
        needed, found = set(used), list[Line]()
        for line in reversed([*{id(line): line for line in self.folded.values()}.values()]):
            if not needed.isdisjoint(line.results):
                needed.update(line.reads)
                found.insert(0, line)
        return found

    def constants(self, sizes: Sizes) -> dict[int, Array]:
        """The constants that depend on sizes."""
        found = {number: filled.at(sizes) for number, filled in self.filled.items()}
        values = self.program.values
        for line in self.computed:
            own = concrete(line, sizes)
            made = called(own, own.call, lambda number: found[number] if number in found else values[number].like)
            found.update(zip(line.results, map(np.asarray, made), strict=True))
        return found


def _kind(unit: Unit) -> tuple[Any, ...]:
    """What is the same of a unit for all sizes: how it runs, and its lines."""
    return unit.native, unit.shape is None, [(line.op, line.results, line.reads) for line in unit.lines]


class Bound(NamedTuple):
    """What depends on sizes: global names of the source, and entries of tables."""

    names: dict[str, Any]
    tables: list[tuple[Array, Any, Any]]


class SizedCode:
    """The code of a plan for those sizes for which the same units are `large`. After `bind`, `ready` runs sizes."""

    def __init__(self, plan: SizedPlan, large: tuple[bool, ...]) -> None:
        self.plan, self.layouts, ids = plan, plan.layouts, [*map(id, plan.units)]
        planned = {each: [(units[place], values) for units, values in plan.planned] for place, each in enumerate(ids)}
        self.code = executor(plan.native)(plan.program, plan.units, plan.given, sized=SizedUnits(
            plan.points, plan.layouts, dict(zip(ids, large, strict=True)), planned))
        self.ready = self.code.ready
        self.pool: dict[int, Array] = {}                   # the memory of buffers, by the identity of the first one
        self.bound: dict[Sizes, Bound] = {}
        self.sizes: Sizes = ()                             # that are bound
        self.varying = self._find_varying()
        self._named = [(name, value) for name, value in self.code.source.scope.items() if (
            is_symbolic(value) or type(value) is BlockedLoop or self._made_like(value) is not None)]

    def _find_varying(self) -> list[tuple[int, str]]:
        """The fixed arrays that depend on sizes, in their order, and what they are."""
        arrays, varying, views = self.code.storage.arrays, dict[int, str](), self.code.views
        constants = {*self.plan.filled, *[number for line in self.plan.computed for number in line.results]}
        self.memories: dict[int, list[Layout]] = {}
        for number, array in arrays.items():
            if self.code.values[number].source == "line" and number not in views:
                self.memories.setdefault(id(owner_of(array)), []).append(self.layouts[number])
        for number, array in arrays.items():
            if number in constants:
                varying[number] = "constant"
            elif number in views:
                line = views[number]
                if is_symbolic(line.args) or any([n in varying for n in line.reads]):
                    varying[number] = "view"
            elif self.code.values[number].source == "line" and any([
                    each.varies for each in self.memories[id(owner_of(array))]]):
                varying[number] = "buffer"
        return [*varying.items()]

    def bind(self, sizes: Sizes) -> None:
        """Have the code run for sizes."""
        self.sizes, bound = (), self.bound.get(sizes) or self._bound(sizes)
        self.code.source.scope.update(bound.names)
        for table, slots, entries in bound.tables:
            table[slots] = entries
        self.sizes = sizes

    def _bound(self, sizes: Sizes) -> Bound:
        """What depends on sizes."""
        if self._grow(sizes) or len(self.bound) >= KEPT:
            self.bound.clear()
        arrays, constants = dict(self.code.storage.arrays), self.plan.constants(sizes)
        for number, kind in self.varying:
            if kind == "constant":
                arrays[number] = constants[number]
            elif kind == "buffer":
                memory = self.pool[id(owner_of(self.code.storage.arrays[number]))]
                arrays[number] = self.layouts[number].array(sizes, memory)
            else:
                self._take(self.code.views[number], arrays, sizes)
        names = self.code.names
        found = {names[number]: arrays[number] for number, _ in self.varying if number in names}
        found.update([(name, self._for(value, sizes)) for name, value in self._named])
        bound = self.bound[sizes] = Bound(found, self._tables(arrays, sizes))
        return bound

    def _tables(self, arrays: dict[int, Array], sizes: Sizes) -> list[tuple[Array, Any, Any]]:
        """The tables of machine code, with the slots whose entries depend on sizes, and these entries."""
        varying = {number for number, _ in self.varying}
        found: dict[int, tuple[Array, list[int], list[int]]] = {}
        for table, slot, key in self.code.entries:
            if key not in varying and isinstance(key, int):
                continue
            _, slots, entries = found.setdefault(id(table), (table, [], []))
            slots.append(slot)
            entries.append(address(arrays[key]) if isinstance(key, int) else key.at(sizes))
        return [(table, np.array(slots), np.array(entries, np.uintp)) for table, slots, entries in found.values()]

    def _take(self, line: Line, arrays: dict[int, Array], sizes: Sizes) -> None:
        """Take a view of arrays for sizes."""
        made = called(concrete(line, sizes), line.op.kernel, arrays.__getitem__)
        arrays.update(zip(line.results, made, strict=True))

    def _for(self, value: Any, sizes: Sizes) -> Any:
        """What the source names, as it is for sizes."""
        if type(value) is BlockedLoop:
            shape = self.plan.shapes[id(self.code.loops[id(value)])] or ()
            return value.resized([at(n, sizes) for n in shape])
        number = self._made_like(value)
        return concrete(value, sizes) if number is None else partial(np.empty_like, self.layouts[number].array(sizes))

    def _made_like(self, value: Any) -> int | None:
        """The value whose memory a function of the source makes in each run, if it depends on sizes."""
        if type(value) is not partial or value.func is not np.empty_like:
            return None
        return next((number for number, each in self.layouts.items()
                     if each.varies and self.code.values[number].like is value.args[0]), None)

    def _grow(self, sizes: Sizes) -> bool:
        """See to it that the buffers are large enough for sizes. Returns whether some of them are new."""
        grown = False
        for memory, layouts in self.memories.items():
            if not any([each.varies for each in layouts]):
                continue
            needed = max([each.bytes(sizes) for each in layouts])
            if memory not in self.pool or self.pool[memory].nbytes < needed:
                self.pool[memory] = np.empty(needed, np.uint8)
                grown = True
        return grown
