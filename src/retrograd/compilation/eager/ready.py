"""A native function of rows that can be called: it fills tables of addresses and makes the results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...kernels.layout import address
from ...kernels.native.door import ctypes
from ...kernels.native.heap import new_array
from ..native.nest import BLOCK
from ..native.team import ENOUGH, with_team
from .plans import RowsPlan

# The bytes of an array's rows in a block, and the most bytes of a block's temporaries. If rows lie beside each other, a
# block has at least so many that each line of the cache is read once.
_NEAR, _STACK, _BESIDE = 1 << 14, 1 << 17, 128
# The most parts of a call, the least nanoseconds of a part, and the most rows that a sum adds one after the other.
_PARTS, _PART, _ADDED = 16, 10_000, 256
# How many shapes are kept bound.
_KEPT = 64


class TooWide(Exception):
    """The temporaries of one row do not fit."""


class _Bound(NamedTuple):
    """What is the same in all calls with the same sizes: the table, how many parts there are, whether threads help,
    and the slot, dtype and length of each sum over rows. `held` is memory that the table names.
    """

    table: list[int]
    parts: int
    team: bool
    across: list[tuple[int, Any, int]]
    held: Any


class Ready:
    """A native function. `code` keeps its memory."""

    def __init__(self, plan: RowsPlan, place: int, code: Any) -> None:
        self.plan, self._code = plan, code
        self._team = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(place)
        self._table = ctypes.c_size_t * plan.slots
        self._bound: dict[Shape, _Bound] = {}
        self._inputs = [(place, slot) for place, slot in enumerate(plan.inputs) if slot >= 0]

    def __call__(self, arrays: Sequence[Array], sizes: tuple[int, ...], shapes: Sequence[Shape]) -> list[Any]:
        """The results, in these shapes, for arrays of a layout class with these sizes of its letters."""
        bound = self._bound.get(sizes) or self._bind(sizes)
        entries = bound.table.copy()
        for place, slot in self._inputs:
            entries[slot] = address(arrays[place])
        sums: dict[int, Array] = {}
        results: list[Any] = []
        for slot, dtype, length in bound.across:
            sums[slot] = numbers = np.zeros((bound.parts, length), dtype)
            entries[slot] = address(numbers)
        for output, shape in zip(self.plan.outputs, shapes, strict=True):
            if output.across:
                results.append((sums[output.slot], shape))
            else:
                results.append(made := new_array(shape, np.dtype(output.dtype)))
                entries[output.slot] = address(made)
        table = self._table(*entries)
        if bound.team:
            with_team(self._team, ctypes.addressof(table))
        else:
            self._team(ctypes.addressof(table), None)
        return [self._joined(*each) if type(each) is tuple else each for each in results]

    @staticmethod
    def _joined(parts: Array, shape: Shape) -> Any:
        """The sum of the numbers of all parts."""
        if len(parts) == 1:
            return parts.reshape(shape)
        return np.add.reduce(parts, axis=0, dtype=np.float64).astype(parts.dtype).reshape(shape)

    def _bind(self, sizes: tuple[int, ...]) -> _Bound:
        plan, table = self.plan, [0] * self.plan.slots
        rows, elements = sizes[plan.rows], math.prod(sizes)
        step, parts = self._cut(sizes, rows, elements)
        known = (1, step, *sizes)
        for number in plan.numbers:
            value = number.factor * math.prod([known[symbol] for symbol in number.symbols])
            table[number.slot] = -(-value // BLOCK) if number.blocks else value
        offset = 0
        for temporary in plan.temporaries:
            table[plan.offsets[temporary.slot]] = offset
            offset += -(-step * self._times(temporary, sizes) // 64) * 64
        numbers = [np.array(self._times(each, sizes), each.dtype) for each in plan.constants]
        for each, array in zip(plan.constants, numbers):
            table[each.slot] = address(array)
        across = [(each.slot, np.dtype(each.dtype), self._times(each, sizes)) for each in plan.across]
        for slot, dtype, length in across:
            table[plan.lengths[slot]] = length * dtype.itemsize
        for name, value in (("rows", rows), ("step", step), ("parts", parts), ("scratch", max(offset, 64))):
            table[plan.named[name]] = value
        bound = _Bound(table, parts, plan.cost * elements >= ENOUGH, across, numbers)
        if len(self._bound) >= _KEPT:
            self._bound.clear()
        self._bound[sizes] = bound
        return bound

    def _cut(self, sizes: tuple[int, ...], rows: int, elements: int) -> tuple[int, int]:
        """The rows of a block, and the parts. Both depend on the sizes alone, so the numbers do, too."""
        plan, row = self.plan, max(elements // max(rows, 1), 1)
        bytes = sum([self._times(each, sizes) for each in plan.temporaries])
        step = max(_BESIDE if plan.beside else 1, min(_NEAR // (4 * row), _STACK // max(bytes, 1)))
        if bytes * step > _STACK and bytes:
            raise TooWide
        parts = min(rows // step, int(plan.cost * elements) // _PART, _PARTS)
        if plan.across:
            parts = max(parts, rows // _ADDED)
        return step, max(1, min(parts, rows, 1 << 12))

    @staticmethod
    def _times(each: Any, sizes: tuple[int, ...]) -> int:
        return int(each.factor * math.prod([sizes[letter] for letter in each.letters]))
