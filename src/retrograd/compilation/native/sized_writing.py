"""The function of a loop whose extents are set at run time: they stand in the table, beside the addresses.

A row whose length is not known runs in blocks, whose number stands in the table, too. What remains of a block after its
whole vectors runs in vectors of four numbers, and then one by one. So a sum of n floats over such a row has the error
of one over a row of known length, or less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..program.forms import Form, Sizes, times
from ..program.loops import Loop, Reduction
from ..program.symbols import Extent
from .lanes import Code, Module
from .nest import BLOCK, Nest
from .table import size_at
from .writing import ACCUMULATORS, FEW_STEPS, LoopWriter

# How many numbers a short vector has.
_SHORT = 4


class Blocks(NamedTuple):
    """The number of blocks of a row, whose length is `planned` for the sizes that the program was planned for."""

    length: Form
    planned: int

    def at(self, sizes: Sizes) -> int:
        """The number for sizes."""
        return -(-self.length.at(sizes) // BLOCK)


def key_of(number: Any) -> Any:
    """What the slot of a number is found by."""
    return number.expression if isinstance(number, Extent) else number


def planned_for(number: Any) -> int:
    """The number for the sizes that the program was planned for."""
    return -(-number.planned // BLOCK) if isinstance(number, Blocks) else int(number)


class SizedNest(Nest):
    """A nest whose extents are partly known only at run time (`Extent`)."""

    __slots__ = ()

    @property
    def outer(self) -> tuple[Any, ...]:
        """The sizes of the dims around the vectors."""
        inner = self.shape[-1]
        return (*self.shape[:-1], Blocks(inner.expression, int(inner))) if isinstance(inner, Extent) else super().outer

    def step(self, operand: int, level: int) -> int:
        """The stride of an operand in one of the dims of `outer`."""
        last = self.strides[operand][-1]
        if level < len(self.shape) - 1 or not isinstance(last, Extent):
            return super().step(operand, level)
        return Extent.of(times(last.expression, BLOCK), last * BLOCK)

    def extents(self) -> list[Any]:
        """The numbers that are set at run time."""
        found: list[Any] = [n for n in self.outer if isinstance(n, (Extent, Blocks))]
        found += [n for n in self.shape if isinstance(n, Extent)]
        for operand, strides in enumerate(self.strides):
            found += [self.step(operand, level) for level in range(len(self.outer))] + [*strides]
        return [*dict.fromkeys([key_of(n) for n in found if isinstance(n, (Extent, Blocks))])]


class SizedLoopWriter(LoopWriter):
    """Writes one loop. `slot` gives the slot of the table that has a number."""

    def __init__(self, module: Module, loop: Loop, slots: Sequence[int], name: str, nest: SizedNest,
                 slot: Callable[[Any], int]) -> None:
        super().__init__(module, loop, slots, name, nest)
        self.slot, self.names = slot, dict[Any, str]()
        self.sized = nest

    def _loop(self, name: str) -> str:
        self.names = {key: size_at(self.code, self.slot(key)) for key in self.sized.extents()}
        return super()._loop(name)

    def _count(self, number: Any) -> int | str:
        return number if type(number) is int else self.names[key_of(number)]

    def _reduced(self, code: Code, reduction: Reduction) -> int | str:
        count: int | str = 1
        for dim, n in enumerate(self.loop.shape):
            if dim not in reduction.dims:
                own = size_at(code, self.slot(n.expression)) if isinstance(n, Extent) else n
                both = isinstance(own, int) and isinstance(count, int)
                count = int(own) * int(count) if both else code.put(f"mul nsw i64 {own}, {count}")
        return count

    def _moved(self, pointer: str, i: str, step: int) -> str:
        if not isinstance(step, Extent) or i == "0":
            return super()._moved(pointer, i, step)
        code = self.code
        offset = code.put(f"mul nsw i64 {i}, {self.names[step.expression]}")
        return code.put(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def _row(self, pointers: list[str], block: str) -> None:
        length = self.sized.shape[-1]
        if not isinstance(length, Extent):
            super()._row(pointers, block)
            return
        code, width = self.code, self.width
        inner = [i for i in range(len(self.loop.reductions)) if not self.sized.strides[self.first_result + i][-1]]
        turns = ACCUMULATORS if inner and len(self.loop.steps) <= FEW_STEPS else 1
        accumulators = {i: [self._accumulator(i, width) for _ in range(turns)] for i in inner}
        rest = {i: self._accumulator(i, 1) for i in inner}
        before = code.put(f"mul nsw i64 {block}, {BLOCK}")
        left = code.put(f"sub nsw i64 {self.names[length.expression]}, {before}")
        last = code.put(f"select i1 {code.put(f'icmp slt i64 {left}, {BLOCK}')}, i64 {left}, i64 {BLOCK}")

        def piece(turns: int, valid: int, places: dict[int, Any]) -> Callable[[str], None]:
            def body(j: str) -> None:
                for turn in range(turns):
                    self._piece(pointers, j, turn * width, valid,
                                {i: found[turn] if isinstance(found, list) else found for i, found in places.items()})
            return body

        self._fix()
        start = self._pieces("0", last, turns * width, piece(turns, width, accumulators))
        if turns > 1:
            start = self._pieces(start, last, width, piece(1, width, accumulators))
        if any([factor % width for _, factor in length.expression.terms]):
            code.width = _SHORT
            if width > _SHORT:
                start = self._pieces(start, last, _SHORT, piece(1, _SHORT, rest))
            self._pieces(start, last, 1, piece(1, 1, rest))
            code.width = width
        for i in inner:
            self._deliver(i, accumulators[i], rest[i], pointers)

    def _pieces(self, start: str, end: str, step: int, body: Callable[[str], None]) -> str:
        """Code for all pieces of a length, a power of two, that fit before the end. Returns where they end."""
        code = self.code
        whole = code.put(f"and i64 {end}, {-step}")
        code.loop(start, whole, step, body)
        return whole
