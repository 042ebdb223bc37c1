"""A program for all sizes, from the programs of traces with other sizes.

All programs must have the same lines on values that are alike but for their sizes. `SizedProgram.at(sizes)` is the
program for any sizes, as a trace would write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address
from ...tensors.state.writable import overlap
from ..passes.effects import checks, is_view, memory_written
from ..program.forms import Count, Form, Points, Refused, Sizes, Unlike, at, joined, plus, times, varies
from ..program.layouts import Layout, layout
from ..program.lines import Line, Program, Value, called, refs
from ..program.symbols import Quotients, Ratio, changed, hinted, is_symbolic, merged, quotient_of
from .guards import Sizing, different


class Filled(NamedTuple):
    """A constant that depends on sizes: one number everywhere, or, for the number None, 0, 1, 2 and so on."""

    layout: Layout
    number: Any

    def at(self, sizes: Sizes) -> Array:
        """The array for sizes."""
        number = self.number
        if number is None:
            return np.arange(at(self.layout.shape[0], sizes)).astype(self.layout.dtype)
        if isinstance(number, (Form, Ratio)):
            number = number.at(sizes)
        one = np.array(number, self.layout.dtype)
        shape = [at(n, sizes) for n in self.layout.shape]
        return np.full(shape, one) if any([step != 0 for step in self.layout.strides]) else np.broadcast_to(one, shape)


class TracedProgram(NamedTuple):
    """What pairing needs of a part of a traced run: its program, and the values that are others in each run."""

    program: Program
    given: tuple[int, ...]


def merged_lines(points: Points, lines: Sequence[Line], quotients: Quotients = ()) -> Line:
    """A line for all sizes, from what it is for several sizes."""
    first = lines[0]
    if any([line.op is not first.op or line[3:6] != first[3:6] for line in lines]):
        raise Refused("the program has other operations for another size")
    call, args = merged(points, [(line.call, line.args) for line in lines], quotients)
    return lines[-1]._replace(call=call, args=args)


class SizedProgram:
    """A program for all sizes. `conditions` are those for which it holds, besides those of the guard."""

    def __init__(self, traces: Sequence[TracedProgram], sized: Sizing) -> None:
        self.sized, self.points = sized, Points(sized.points.sizes, sized.points.products)
        programs = [trace.program for trace in traces]
        first, self.like, self.given = programs[0], programs[-1], traces[0].given
        if any([trace.given != self.given or trace.program[2:] != first[2:] for trace in traces]):
            raise Refused("the traces have other inputs or outputs")
        if any([len(program.lines) != len(first.lines) for program in programs]):
            raise Refused("the program has more operations for another size")
        used = {number for line in first.lines for number in (*line.reads, *line.results)}
        self.layouts: dict[int, Layout] = {}
        self.filled: dict[int, Filled] = {}
        for number in sorted({*used, *first.outputs, *self.given}):
            self._value(number, [program.values[number] for program in programs])
        self.lines = [merged_lines(self.points, lines, self.sized.quotients)
                      for lines in zip(*[program.lines for program in programs])]
        for line in self.lines:
            self._explain(line)

    def _value(self, number: int, values: Sequence[Value]) -> None:
        one, arrays = values[0], [value.like for value in values]
        if any([value.source != one.source or value.memory != one.memory for value in values]):
            raise Refused("a value lies in other memory for another size")
        found = self.layouts[number] = layout(self.points, arrays)
        if one.source == "constant":
            self._constant(number, arrays, found)
        elif one.source == "outside" and number not in self.given and any([array is not one.like for array in arrays]):
            raise Refused("the program reads other memory for another size")
        elif one.source == "outside" and found.varies and one.is_view:
            raise Refused("arguments share memory")
        if number in self.given and one.source == "line" and any([
                line.write and one.memory in memory_written(line, self.like.values) for line in self.like.lines]):
            raise Refused("a backward pass writes to a saved value")

    def _constant(self, number: int, arrays: Sequence[Array], found: Layout) -> None:
        first = arrays[0]
        if not found.varies and all([array is first or array.tobytes() == first.tobytes() for array in arrays]):
            return
        if first.ndim == 1 and found.dtype.kind in "if" and all([
                array.flags.c_contiguous and np.array_equal(array, np.arange(array.size)) for array in arrays]):
            self.filled[number] = Filled(found, None)
            return
        values = [array.reshape(-1)[0].item() if array.size and (array == array.reshape(-1)[0]).all() else None
                  for array in arrays]
        dense = all([array.flags.c_contiguous or not any(array.strides) for array in arrays])
        if None in values or not dense or found.dtype.kind not in "iufb":
            raise Refused("a table of numbers depends on the size")
        self.filled[number] = Filled(found, self._number(values, found.dtype))

    def _number(self, values: list[Any], dtype: np.dtype[Any]) -> Any:
        """A number that is `values` in the traces, as a number for all sizes."""
        if len(set(values)) == 1:
            return values[0]
        quotient = quotient_of(self.sized.quotients, lambda results: [
            np.array(result, dtype).item() for result in results] == values)
        try:
            number = self.points.whole(values)
        except Refused:
            if quotient is None:
                raise
            return quotient
        if quotient is not None and times(number, quotient.bottom) != quotient.top:
            raise Unlike("the traces have too few sizes to tell a number from a quotient")
        return number

    def _explain(self, line: Line) -> None:
        """Refuse a line if its results have sizes that do not come from its arguments. Kernels tell those of views."""
        if is_view(line, self.like.values):
            return
        if line.op.view and not line.write and not all([self.like.values[number].like.size for number in line.results]):
            raise Refused(f"the result of {line.op.name} is empty")            # and may have elements for other sizes
        if line.op.kind == "elementwise" or line.op.name == "copy":
            self._check_broadcasts(line)
        known: list[Count] = []
        for ref in refs(line.args):
            known += joined(self.layouts[ref.number].shape)
        changed(line.args, lambda number: known.append(number.expression))
        if line.op.name == "cat":
            known.append(self._joined(line))
        for number in line.results:
            for n in self.layouts[number].shape:
                if varies(n) and n not in known:
                    raise Refused(f"the result of {line.op.name} has a size that its arguments do not have")

    def _check_broadcasts(self, line: Line) -> None:
        """Refuse a line if an operand has one row for one of the sizes, which was repeated there."""
        for number in line.results or line.reads[:1]:
            wide = self.layouts[number].shape[::-1]
            for ref in refs(line.args):
                if any([varies(n) and n != m for n, m in zip(self.layouts[ref.number].shape[::-1], wide)]):
                    raise Refused(f"an operand of {line.op.name} is broadcast for one of the sizes")

    def _passed_on(self, line: Line, number: int) -> int:
        """The argument that is a result of a line."""
        place, layouts = address(self.like.values[number].like), self.layouts
        for read in line.reads:
            if layouts[read] == layouts[number] and address(self.like.values[read].like) == place:
                return read
        raise Refused(f"the result of {line.op.name} lies in the memory of an argument")

    def _joined(self, line: Line) -> Count:
        """The size of a concatenation."""
        dim, parts = line.args[1], [self.layouts[ref.number].shape for ref in refs(line.args[0])]
        total: Count = 0
        for part in parts:
            total = plus(total, part[dim]) if part else total
        return total

    def conditions(self) -> list[str]:
        """That no size in the program is 0 or 1, and that those which change independently are not equal."""
        found = {n for each in self.layouts.values() for n in each.shape if isinstance(n, Form)}
        return [f"{n.text()} > 1" for n in sorted(found)] + different(sorted(found))

    def bytes(self, sizes: Sizes) -> int:
        """The memory of the largest value for sizes."""
        return max([each.bytes(sizes) for each in self.layouts.values()], default=0)

    def is_generic(self, sizes: Sizes) -> bool:
        """Whether for sizes all numbers in shapes and strides that depend on them differ from all others."""
        numbers = {n for each in self.layouts.values() for n in (*each.shape, *each.strides)}
        factors = {factor for n in numbers if isinstance(n, Form) for _, factor in n.terms}
        found = {at(n, sizes): n for n in numbers}
        return len(found) == len(numbers) and factors.isdisjoint(sizes) and all([
            at_sizes > 0 for at_sizes, n in found.items() if isinstance(n, Form)])

    def at(self, sizes: Sizes) -> Program:
        """The program for sizes. Its arrays have a geometry, and no memory of their own worth speaking of."""
        values = [value.copied() for value in self.like.values]
        varying: set[int] = set()
        for number, each in self.layouts.items():
            value = values[number]
            if number in self.filled:
                value.like = self.filled[number].at(sizes)
            elif (value.source == "outside" or number in self.given) and each.varies:
                value.like = each.like(value.like, sizes)
                varying.add(number)
        lines = [hinted(line, sizes) for line in self.lines]
        for line in lines:
            self._results(line, values, varying, sizes)
            if line.write and _overlaps(line, values) != _overlaps(line, self.like.values):
                raise Refused(f"{line.op.name} reads memory that it writes, or not, for the sizes {sizes}")
        return self.like._replace(values=values, lines=lines)

    def _results(self, line: Line, values: list[Value], varying: set[int], sizes: Sizes) -> None:
        """Give the results of a line their geometry for sizes."""
        layouts = [self.layouts[number] for number in line.results]
        memory = {values[number].memory for number in line.results}
        if not any([each.varies for each in layouts]) and not memory & varying and not is_symbolic(line.args) and (
                memory.isdisjoint(self.filled)):
            return
        if is_view(line, values):
            try:
                found = called(line, line.op.kernel, lambda number: values[number].like)
            except (IndexError, RuntimeError, ValueError):
                raise Refused(f"{line.op.name} raises an error for the sizes {sizes}") from None
        elif checks(line):
            found = [values[line.reads[0]].like]
        elif any([values[number].is_view for number in line.results]):
            found = [values[self._passed_on(line, number)].like for number in line.results]
        else:
            found = [each.like(values[number].like, sizes) for number, each in zip(line.results, layouts, strict=True)]
            varying |= memory
        for number, array, each in zip(line.results, found, layouts, strict=True):
            planned = each.array(sizes)
            if any([getattr(array, what) != getattr(planned, what) for what in ("dtype", "shape", "strides")]):
                raise Refused(f"the result of {line.op.name} has another geometry for the sizes {sizes}")
            values[number].like = array


def _overlaps(line: Line, values: Sequence[Value]) -> list[bool]:
    """Which of its arguments a write partly overlaps, so that most operators refuse to write."""
    target, *others = [values[number].like for number in line.reads]
    return [np.may_share_memory(target, other) and overlap(target, other, False) for other in others]
