"""A loop over large arrays in blocks that fit the processor's cache, in threads, with NumPy alone.

All lines of the loop run on one block before they run on the next one. So values that only the loop uses are never
whole: each thread has a few small arrays for all of them. A sum is made of the sums of the blocks, in their order. The
sum of all elements has the bits that the operator gives it, if the rows make blocks of the right size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ...kernels.kinds import replaced
from ...kernels.native.threads import in_parts
from ...kernels.rows import BLOCK as SUMMED, part_of_sum, sum_of_parts
from ...ops.framework import called_as_ufunc
from ...ops.reductions import sum_all, sum_dim
from ..passes.fusing import Unit, is_reduction, same_place
from ..program.lines import Line, Ref, Value, last_uses
from .python_source import Source, write_text

# The number of elements of a block. Threads meet at the interpreter's lock between calls: with a tenth of this, two
# threads take as long as one.
BLOCK = 3 << 16
# What one element of one line costs, in nanoseconds, to decide on threads.
COST = 0.5


class BlockedLoop:
    """A unit as a function of whole arrays: of the values `inputs`, then of `outputs`, which it writes.

    If `flat`, the elements of all arrays lie in the same order without gaps, and blocks are ranges of elements;
    otherwise blocks are ranges of the first dim. `summed` are the results of sums.
    """

    def __init__(self, unit: Unit, values: list[Value], kept: set[int]) -> None:
        unit = _without_views(unit, values)
        assert unit.shape is not None
        block = _Block(unit, values, kept, flat(unit, values))
        self.inputs, self.outputs, self.summed, self.flat = block.inputs, block.outputs, block.summed, block.flat
        self.sums = [(line, values[line.results[0]].like, line in block.exact) for line in block.sums]
        self.size = math.prod(unit.shape)
        self.length = self.size if self.flat else unit.shape[0]
        self.least = _least(self.size // self.length) if block.exact else 1         # where parts and blocks begin
        self.rows = max(BLOCK // (self.size // self.length) // self.least, 1) * self.least
        self.cost = COST * len(unit.lines) * self.size
        self.scratch, self.work = block.scratch, block.function()

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Run the loop on whole arrays. Returns the sums."""
        if self.flat:                                      # a number of two dims would give a block two dims
            arrays = tuple([array.reshape(-1) if array.ndim or self.length == 1 else array for array in arrays])
        parts: list[tuple[int, list[tuple[Any, ...]]]] = []
        least = self.least

        def work(first: int, last: int) -> None:
            first, last = first * least, min(last * least, self.length)
            rows, found = min(self.rows, last - first), []
            scratch = [np.empty((rows, *shape), dtype) for shape, dtype in self.scratch]
            for start in range(first, last, rows):
                stop = min(start + rows, last)
                whole = stop - start == rows
                found.append(self.work(start, stop, scratch if whole else [one[: stop - start] for one in scratch],
                                       *arrays))
            parts.append((first, found))

        in_parts(work, -(-self.length // least), self.cost)
        parts.sort(key=lambda part: part[0])
        blocks = [block for _, found in parts for block in found]
        return tuple([self._summed(*one, [block[i] for block in blocks]) for i, one in enumerate(self.sums)])

    def resized(self, shape: Sequence[int]) -> BlockedLoop:
        """The same loop over another number of elements, or of places of the first dim."""
        found, size = copy(self), math.prod(shape)
        found.size, found.cost = size, self.cost / self.size * size
        found.length = size if self.flat else shape[0]
        return found

    def _summed(self, line: Line, like: Array, exact: bool, parts: list[Any]) -> Array:
        """A sum from the sums of the blocks."""
        if exact:
            return sum_of_parts(parts).reshape(like.shape)
        if not self.flat and line.op is not sum_all and 0 not in line.args[1]:
            return np.concatenate(parts, axis=0, dtype=like.dtype)
        return np.add.reduce(np.stack(parts), axis=0, dtype=like.dtype, out=...).reshape(like.shape)


def _without_views(unit: Unit, values: list[Value]) -> Unit:
    """The unit, in which lines read its own results and no views of them, which are not taken before the loop runs.

    Such a view is the same elements in the same order: what two transposes give, for example.
    """
    made = {number for line in unit.lines for number in line.results}

    def viewed(ref: Ref) -> Ref:
        value = values[ref.number]
        own = ref.number in made or value.memory not in made or not same_place(value, values[value.memory])
        return ref if own else Ref(value.memory)

    return unit._replace(lines=tuple([line._replace(args=replaced(line.args, Ref, viewed)) for line in unit.lines]))


class _Block:
    """The source of one block. `scratch` has the shape of a row, and the dtype, of the memory that the block needs."""

    def __init__(self, unit: Unit, values: list[Value], kept: set[int], flat: bool) -> None:
        self.unit, self.values, self.shape, self.flat = unit, values, unit.shape or (), flat
        made = [number for line in unit.lines for number in line.results]
        self.sums = [line for line in unit.lines if is_reduction(line)]
        self.summed = [line.results[0] for line in self.sums]
        self.exact = [line for line in self.sums if self._is_exact(line)]           # sums with the bits of the operator
        self.inputs = [*dict.fromkeys(n for line in unit.lines for n in line.reads if n not in made)]
        self.outputs = [number for number in made if number in kept and number not in self.summed]
        self.scratch: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self.unused: dict[np.dtype[Any], list[int]] = {}   # places of memory
        self.held: dict[int, int] = {}                     # the places of values
        self.source = Source()
        self._write()

    def function(self) -> Callable[..., Any]:
        """The block as a function of its range, the scratch memory and the arrays."""
        names = [f"v{number}" for number in (*self.inputs, *self.outputs)]
        return self.source.function("block", ["start", "stop", "scratch", *names])

    def _write(self) -> None:
        """Write the source of one block."""
        source, last = self.source, last_uses(self.unit.lines)
        for number in (*self.inputs, *self.outputs):
            if self._is_sliced(number):
                source.lines.append(f"v{number} = v{number}[start:stop]")
        for place, line in enumerate(self.unit.lines):
            ended = [number for number in {*line.reads, *line.results} if last[number] == place]
            if isinstance(line.op.kernel, np.ufunc):       # may write its result over an argument
                self._free(ended)
            self._line(line)
            self._free(ended)
        source.lines.append(f"return ({''.join([f'v{number}, ' for number in self.summed])})")

    def _free(self, numbers: Sequence[int]) -> None:
        """Let later lines use the memory of values that the loop no longer needs."""
        for number in numbers:
            if number in self.held:
                self.unused.setdefault(self.values[number].like.dtype, []).append(self.held.pop(number))

    def _line(self, line: Line) -> None:
        source = self.source
        if line.write:
            source.lines.append(write_text(source, line, self.values, self._text))
            return
        number = line.results[0]
        if is_reduction(line):
            args = line.args if not self.flat else (line.args[0], None)
            kernel = (sum_all if self.flat else line.op).kernel
            if line in self.exact:
                args, kernel = args[:1], part_of_sum
            source.lines.append(f"v{number} = {source.call(kernel, args, self._text)}")
        elif called_as_ufunc(line.op.kernel):
            if number not in self.outputs:
                self.held[number] = self._scratch(number)
                source.lines.append(f"v{number} = scratch[{self.held[number]}]")
            source.lines.append(source.write(line.op.kernel, line.args, self._text, f"v{number}"))
        elif number in self.outputs:
            source.lines.append(f"v{number}[...] = {source.call(line.op.kernel, line.args, self._text)}")
        else:
            source.lines.append(f"v{number} = {source.call(line.op.kernel, line.args, self._text)}")

    def _text(self, number: int) -> str:
        return f"v{number}"

    def _scratch(self, number: int) -> int:
        """The place of memory for a value that only the loop uses."""
        dtype = self.values[number].like.dtype
        if self.unused.get(dtype):
            return self.unused[dtype].pop()
        self.scratch.append((() if self.flat else self.shape[1:], dtype))
        return len(self.scratch) - 1

    def _is_exact(self, line: Line) -> bool:
        """Whether the operator makes a sum of all elements from the sums of small blocks, and this loop can, too."""
        like, inner = self.values[line.reads[0]].like, 1 if self.flat else math.prod(self.shape[1:])
        least = _least(inner)
        if (least > 1 and least * inner > BLOCK) or not like.flags.c_contiguous:
            return False
        whole = line.op is sum_all or (line.op is sum_dim and len(line.args[1]) == like.ndim)
        return whole and line.args[-1] is None and (like.dtype is F32 or like.dtype is F64)

    def _is_sliced(self, number: int) -> bool:
        shape = self.values[number].like.shape
        return shape == self.shape if self.flat else len(shape) == len(self.shape) and shape[0] == self.shape[0]


def _least(inner: int) -> int:
    """The least number of places of the first dim, of `inner` elements each, that are whole blocks of a sum."""
    return SUMMED // math.gcd(SUMMED, inner)


def flat(unit: Unit, values: list[Value]) -> bool:
    """Whether all arrays of a unit lie in the same order without gaps, except for single numbers."""
    for line in unit.lines:
        for number in (*line.reads, *([] if is_reduction(line) else line.results)):
            like = values[number].like
            if like.size > 1 and not (like.shape == unit.shape and like.flags.c_contiguous):
                return False
        if is_reduction(line) and line.op is not sum_all and len(line.args[1]) != len(unit.shape or ()):
            return False
    return True


def suits(unit: Unit, values: list[Value]) -> bool:
    """Whether blocks make sense for a loop: the arrays lie alike, or the first dim has enough places."""
    return flat(unit, values) or (unit.shape is not None and math.prod(unit.shape[1:]) <= 4 * BLOCK and all(
        values[number].like.ndim <= len(unit.shape) for line in unit.lines for number in line.reads))
