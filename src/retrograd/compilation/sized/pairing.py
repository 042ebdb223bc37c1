"""A program for all sizes, from the programs of two traces with another size.

Both programs must have the same lines on values that are alike but for their sizes. `SizedProgram.at(size)` is the
program for any size, as a trace would write it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..execution.storage import viewed
from ..passes.effects import checks, is_view, memory_written
from ..program import Line, Program, Value, refs
from ..stand_ins import reserve
from .guards import Sizing
from .symbols import Affine, Count, Ratio, Refused, at, changed, fitted, merged, moved, varies

Array = np.ndarray[Any, Any]


class Layout(NamedTuple):
    """The geometry of a value for each size."""

    dtype: np.dtype[Any]
    shape: tuple[Count, ...]
    strides: tuple[Count, ...]

    @property
    def varies(self) -> bool:
        """Whether the geometry depends on the size."""
        return any(map(varies, (*self.shape, *self.strides)))

    def array(self, size: int, memory: Any = None) -> Array:
        """An array of this geometry at the start of some memory, or of memory that is only reserved."""
        shape = [at(n, size) for n in self.shape]
        strides = [at(n, size) for n in self.strides]
        memory, start = (memory, 0) if memory is not None else reserve(self.bytes(size))
        return np.ndarray(shape, self.dtype, memory, start, strides)

    def like(self, traced: Array, size: int) -> Array:
        """What the array of a trace is for another size: one that can be written to, or not."""
        found = self.array(size)
        found.flags.writeable = traced.flags.writeable
        return found

    def bytes(self, size: int) -> int:
        """The memory from the first byte to behind the last."""
        return self.dtype.itemsize + sum([(at(n, size) - 1) * at(step, size)
                                          for n, step in zip(self.shape, self.strides, strict=True)])


def layout(sizes: Sequence[int], arrays: Sequence[Array]) -> Layout:
    """The geometry that arrays have for these sizes."""
    first = arrays[0]
    if any([array.dtype != first.dtype or array.ndim != first.ndim for array in arrays]):
        raise Refused("a value has another dtype, or another number of dims, for another size")
    shape, strides = [tuple([fitted(sizes, numbers) for numbers in zip(*[getattr(array, what) for array in arrays])])
                      for what in ("shape", "strides")]
    if sum(map(varies, shape)) > 1:
        raise Refused("a value has two dims that depend on the size")
    return Layout(first.dtype, shape, strides)


class Filled(NamedTuple):
    """A constant that depends on the size: one number everywhere, or, for the number None, 0, 1, 2 and so on."""

    layout: Layout
    number: Any

    def at(self, size: int) -> Array:
        """The array for a size."""
        number = self.number
        if number is None:
            return np.arange(at(self.layout.shape[0], size)).astype(self.layout.dtype)
        if isinstance(number, (Affine, Ratio)):
            number = number.at(size)
        one = np.array(number, self.layout.dtype)
        shape = [at(n, size) for n in self.layout.shape]
        return np.full(shape, one) if any([step != 0 for step in self.layout.strides]) else np.broadcast_to(one, shape)


class TracedProgram(NamedTuple):
    """What pairing needs of a part of a traced run: its program, and the values that are others in each run."""

    program: Program
    given: tuple[int, ...]


class SizedProgram:
    """A program for all sizes. `conditions` are those for which it holds, besides those of the guard."""

    def __init__(self, traces: tuple[TracedProgram, TracedProgram], sized: Sizing) -> None:
        self.sized, self.sizes = sized, sized.sizes
        programs = [trace.program for trace in traces]
        self.given, self.like = traces[0].given, programs[1]
        if traces[0].given != traces[1].given or any([
                getattr(programs[0], what) != getattr(programs[1], what) for what in ("inputs", "outputs")]):
            raise Refused("the traces have other inputs or outputs")
        if len(programs[0].lines) != len(programs[1].lines):
            raise Refused("the program has more operations for another size")
        self.lines = [self._line(*lines) for lines in zip(programs[0].lines, programs[1].lines)]
        used = {number for line in self.lines for number in (*line.reads, *line.results)}
        self.layouts: dict[int, Layout] = {}
        self.filled: dict[int, Filled] = {}
        for number in sorted({*used, *programs[0].outputs, *self.given}):
            self._value(number, *[program.values[number] for program in programs])
        for line in self.lines:
            self._explain(line)

    def _line(self, one: Line, other: Line) -> Line:
        if one.op is not other.op or one[3:6] != other[3:6]:
            raise Refused("the program has other operations for another size")
        call, args = merged(self.sizes, [(one.call, one.args), (other.call, other.args)], self.sized.quotients)
        return other._replace(call=call, args=args)

    def _value(self, number: int, one: Value, other: Value) -> None:
        if one.source != other.source or one.memory != other.memory:
            raise Refused("a value lies in other memory for another size")
        found = self.layouts[number] = layout(self.sizes, [one.like, other.like])
        if one.source == "constant":
            self._constant(number, one.like, other.like, found)
        elif one.source == "outside" and number not in self.given and one.like is not other.like:
            raise Refused("the program reads other memory for another size")
        elif one.source == "outside" and found.varies and one.is_view:
            raise Refused("arguments share memory")
        if any([line.write and other.memory in memory_written(line, self.like.values) for line in self.lines]) and (
                number in self.given and one.source == "line"):
            raise Refused("a backward pass writes to a saved value")

    def _constant(self, number: int, one: Array, other: Array, found: Layout) -> None:
        if one is other or (not found.varies and one.tobytes() == other.tobytes()):
            return
        if one.ndim == 1 and found.dtype.kind in "if" and all([
                array.flags.c_contiguous and np.array_equal(array, np.arange(array.size)) for array in (one, other)]):
            self.filled[number] = Filled(found, None)
            return
        values = [array.reshape(-1)[0].item() if array.size and (array == array.reshape(-1)[0]).all() else None
                  for array in (one, other)]
        dense = all([array.flags.c_contiguous or not any(array.strides) for array in (one, other)])
        if None in values or not dense or found.dtype.kind not in "iufb":
            raise Refused("a table of numbers depends on the size")
        self.filled[number] = Filled(found, self._number(values, found.dtype))

    def _number(self, values: list[Any], dtype: np.dtype[Any]) -> Any:
        """A number that is `values` in the two traces, as a number for each size."""
        if values[0] == values[1]:
            return values[0]
        for expression, results in self.sized.quotients:
            if [np.array(result, dtype).item() for result in results] == values:
                return expression
        if not all([value == int(value) for value in values]):
            raise Refused(f"the number {values[0]} is {values[1]} for another size")
        return fitted(self.sizes, [*map(int, values)])

    def _explain(self, line: Line) -> None:
        """Refuse a line if its results have sizes that do not come from its arguments. Kernels tell those of views."""
        if is_view(line, self.like.values):
            return
        if line.op.kind == "elementwise" or line.op.name == "copy":
            self._check_broadcasts(line)
        known: list[Affine] = []
        for ref in refs(line.args):
            known += [n for n in self.layouts[ref.number].shape if isinstance(n, Affine)]
        changed(line.args, lambda number: known.append(number.expression))
        if line.op.name == "cat":
            known.append(self._joined(line))
        for number in line.results:
            for n in self.layouts[number].shape:
                if isinstance(n, Affine) and n not in known:
                    raise Refused(f"the result of {line.op.name} has a size that its arguments do not have")

    def _check_broadcasts(self, line: Line) -> None:
        """Refuse a line if an operand has one row for one of the sizes, which was repeated there."""
        for number in line.results or line.reads[:1]:
            wide = self.layouts[number].shape[::-1]
            for ref in refs(line.args):
                if any([isinstance(n, Affine) and n != m for n, m in zip(self.layouts[ref.number].shape[::-1], wide)]):
                    raise Refused(f"an operand of {line.op.name} is broadcast for one of the sizes")

    def _joined(self, line: Line) -> Affine:
        """The size of a concatenation."""
        dim, parts = line.args[1], [self.layouts[ref.number].shape for ref in refs(line.args[0])]
        sizes = [n if isinstance(n, Affine) else Affine(0, n) for n in [part[dim] for part in parts if part]]
        return Affine(sum([n.by for n in sizes]), sum([n.start for n in sizes]))

    def conditions(self) -> list[str]:
        """That no size in the program is 0 or 1."""
        found = {n for each in self.layouts.values() for n in each.shape if isinstance(n, Affine)}
        return [f"{n.text('size')} > 1" for n in sorted(found) if n != (1, 0)]

    def bytes(self, size: int) -> int:
        """The memory of the largest value for a size."""
        return max([each.bytes(size) for each in self.layouts.values()], default=0)

    def is_generic(self, size: int) -> bool:
        """Whether for a size all numbers in shapes and strides that depend on it differ from all others."""
        numbers = {n for each in self.layouts.values() for n in (*each.shape, *each.strides)}
        return len({at(n, size) for n in numbers}) == len(numbers) and not any(
            [size in (n.by, n.start) for n in numbers if isinstance(n, Affine)])

    def at(self, size: int) -> Program:
        """The program for a size. Its arrays have a geometry, and no memory of their own worth speaking of."""
        values = [value.copied() for value in self.like.values]
        moving: set[int] = set()
        for number, each in self.layouts.items():
            value = values[number]
            if number in self.filled:
                value.like = self.filled[number].at(size)
            elif (value.source == "outside" or number in self.given) and each.varies:
                value.like = each.like(value.like, size)
                moving.add(number)
        lines = [line._replace(call=moved(line.call, size), args=moved(line.args, size)) for line in self.lines]
        for line in lines:
            self._results(line, values, moving, size)
        return self.like._replace(values=values, lines=lines)

    def _results(self, line: Line, values: list[Value], moving: set[int], size: int) -> None:
        """Give the results of a line their geometry for a size."""
        layouts = [self.layouts[number] for number in line.results]
        memory = {values[number].memory for number in line.results}
        if not any([each.varies for each in layouts]) and not memory & moving:
            return
        if is_view(line, values):
            found = viewed(line, {ref.number: values[ref.number].like for ref in refs(line.args)})
        elif checks(line):
            found = [values[line.reads[0]].like]
        elif any([values[number].is_view for number in line.results]):
            raise Refused(f"the result of {line.op.name} lies in the memory of an argument")
        else:
            found = [each.like(values[number].like, size) for number, each in zip(line.results, layouts, strict=True)]
            moving |= memory
        for number, array, each in zip(line.results, found, layouts, strict=True):
            if layout((size,), [array]) != layout((size,), [each.array(size)]):
                raise Refused(f"the result of {line.op.name} has another geometry for the size {size}")
            values[number].like = array

