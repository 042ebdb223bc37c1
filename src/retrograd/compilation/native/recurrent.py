"""The steps of a recurrent layer in one native function: products and the formulas of a cell, forward or backward.

The cells stand in `cells`. The arrays are those of the walks of the kernels in `kernels/networks`, which do what comes
before and after the steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .lanes import TYPES, Code, Lanes
from .modules import Module
from .table import address_at
from .tiles import by_rows, write_tiled

# Vectors of fewer lanes gain nothing.
_NARROWEST = 4


class Cell(NamedTuple):
    """What a step computes: functions that write its code, and how many arrays each of them reads and writes.

    Backward, the gradients of the outputs are one more array, if they are `arriving`.
    """

    forward: Callable[[Walk], None]
    arrays: int
    backward: Callable[[Walk], None]
    arrays_back: int


class Steps(NamedTuple):
    """The steps of a layer of `size` states. The table has the addresses of the arrays of its walk, in their order."""

    cell: Cell
    back: bool
    number: int
    size: int
    batch: int
    features: int
    bias: bool
    arriving: bool
    dtype: np.dtype[Any]

    @property
    def slots(self) -> int:
        """How many addresses the table has."""
        return self.cell.arrays_back + self.arriving if self.back else self.cell.arrays

    @property
    def inputs(self) -> int:
        """How many factors of a product the input makes, with the 1 of a bias."""
        return self.features + self.bias


def lanes_of(module: Module, steps: Steps) -> int:
    """How many numbers are computed at a time; 0 if there are too few."""
    lanes = math.gcd(steps.size * steps.batch, module.host.lanes(steps.dtype))
    return lanes if lanes >= min(_NARROWEST, module.host.bits // 64) else 0


def write_steps(module: Module, steps: Steps, name: str) -> None:
    """Add the function `steps<name>(table)` to the module."""
    walk = Walk(module, steps)
    walk.write()
    module.functions[f"steps{name}"] = walk.code.function(f"internal void @steps{name}(ptr %table)")


class Walk:
    """The function while it is written. `line` is how many numbers a state of the whole batch has."""

    def __init__(self, module: Module, steps: Steps) -> None:
        self.module, self.steps, self.code = module, steps, Code(module, lanes_of(module, steps))
        self.line, self.step, self.place = steps.size * steps.batch, "0", "0"
        self._arrays = [address_at(self.code, slot) for slot in range(steps.slots)]

    def write(self) -> None:
        """Write all steps, forward or backward."""
        cell, last = self.steps.cell, self.steps.number - 1

        def one(i: str) -> None:
            self.step = self.code.put(f"sub nsw i64 {last}, {i}") if self.steps.back else i
            cell.backward(self) if self.steps.back else cell.forward(self)

        self.code.loop(0, self.steps.number, 1, one)

    def rows(self, *widths: int) -> list[Rows]:
        """The arrays at the step, of so many numbers for each step. Those of no width are the same at each step."""
        return [Rows(self, self.at(array, self.step, width), width) for array, width in zip(self._arrays, widths)]

    def product(self, weight: str, factors: str, out: str, rows: int, count: int, more: bool = False) -> None:
        """out = weight @ factors for `rows` of `count` numbers. The product is added to the result if there is `more`.
        """
        sizes = by_rows(rows, self.steps.batch, count, (False, False))
        tiled = write_tiled(self.module, sizes, self.steps.dtype, more=more)
        self.code.do(f"call void @{tiled.name}(ptr {weight}, ptr {factors}, ptr {out}, i64 0, i64 {tiled.pieces})")

    def lanes(self, formulas: Callable[[], None]) -> None:
        """Write formulas for all numbers of a line."""

        def some(j: str) -> None:
            self.place = j
            formulas()

        self.code.loop(0, self.line, self.code.width, some)

    def at(self, pointer: str, index: int | str, step: int = 1) -> str:
        """The place `index * step` numbers after a pointer."""
        if step == 0 or index == 0:
            return pointer
        numbers = index if step == 1 else self.code.put(f"mul nsw i64 {index}, {step}")
        return self.code.put(f"getelementptr {TYPES[self.steps.dtype]}, ptr {pointer}, i64 {numbers}")


class Rows:
    """An array at a step: lines of numbers, which formulas read and write by their number, from 0 or, as -1, the last.
    """

    def __init__(self, walk: Walk, start: str, width: int) -> None:
        self.walk, self.start, self.width = walk, start, width

    @property
    def after(self) -> Rows:
        """The array at the next step."""
        return Rows(self.walk, self.walk.at(self.start, self.width), self.width)

    def line(self, number: int) -> str:
        """Where a line starts."""
        return self.walk.at(self.start, number * self.walk.line + (self.width if number < 0 else 0))

    def __getitem__(self, number: int) -> Lanes:
        code, dtype = self.walk.code, self.walk.steps.dtype
        place = self.walk.at(self.line(number), self.walk.place)
        return code.vector(code.put(f"load {code.type(dtype)}, ptr {place}, align {dtype.itemsize}"), dtype)

    def __setitem__(self, number: int, value: Lanes) -> None:
        place = self.walk.at(self.line(number), self.walk.place)
        self.walk.code.do(f"store {value.type} {value.name}, ptr {place}, align {value.dtype.itemsize}")
