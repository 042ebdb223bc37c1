"""The steps of an LSTM in one native function: a product and the gates, step by step, forward or backward.

The arrays are those of the kernels in `kernels/networks/lstm`, which do what comes before and after the steps.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .elementary import exp, tanh
from .lanes import TYPES, Code, Lanes, Module
from .tiles import by_rows, write_tiled

# Vectors of fewer lanes gain nothing.
_NARROWEST = 4


class Steps(NamedTuple):
    """The steps of a layer of `size` states. The table has the addresses of the arrays of `_walk`: weight, factors,
    gates and terms. For steps `back`, those of `_walk_back`: the turned weight, slopes, slopes by the state, the
    gradients of the state and of the cell, and, if they are `arriving`, those of the outputs.
    """

    back: bool
    number: int
    size: int
    batch: int
    factors: int
    arriving: bool
    dtype: np.dtype[Any]

    @property
    def slots(self) -> int:
        """How many addresses the table has."""
        return 5 + self.arriving if self.back else 4


def lanes_of(module: Module, steps: Steps) -> int:
    """How many numbers are computed at a time; 0 if there are too few."""
    lanes = math.gcd(steps.size * steps.batch, module.host.bits // 8 // steps.dtype.itemsize)
    return lanes if lanes >= min(_NARROWEST, module.host.bits // 64) else 0


def write_steps(module: Module, steps: Steps, name: str) -> None:
    """Add the function `steps<name>(table)` to the module."""
    writer = _Writer(module, steps)
    writer.backward() if steps.back else writer.forward()
    module.functions[f"steps{name}"] = writer.code.function(f"internal void @steps{name}(ptr %table)")


class _Writer:
    """One function. `line` is how many numbers a state of the whole batch has."""

    def __init__(self, module: Module, steps: Steps) -> None:
        self.module, self.steps, self.code = module, steps, Code(module, lanes_of(module, steps))
        self.line, self.element = steps.size * steps.batch, TYPES[steps.dtype]
        self.arrays = [self.code.put(f"load ptr, ptr {self.code.put(f'getelementptr ptr, ptr %table, i64 {slot}')}")
                       for slot in range(steps.slots)]

    def forward(self) -> None:
        """gates = weight @ factors, and from the gates the cell and the state, which is a factor of the next step."""
        steps, code, line = self.steps, self.code, self.line
        weight, factors, gates, terms = self.arrays
        column = steps.factors * steps.batch

        def step(t: str) -> None:
            arriving, gate, part = self._at(factors, t, column), self._at(gates, t, 5 * line), self._at(
                terms, t, 3 * line)
            self._product(weight, arriving, gate, 4 * steps.size, steps.factors)
            after = self._at(arriving, 2 * column - line)

            def some(j: str) -> None:
                places = [self._at(self._at(gate, i * line), j) for i in range(5)]
                output, enters, stays = [1.0 / (exp(self._load(place)) + 1.0) for place in places[:3]]
                new, cell = tanh(self._load(places[3])), self._load(places[4])
                added, kept = enters * new, stays * cell
                cell = kept + added
                shown = tanh(cell)
                for place, value in zip(places, (output, enters, stays, new)):
                    self._store(place, value)
                for i, value in enumerate((added, kept, shown)):
                    self._store(self._at(self._at(part, i * line), j), value)
                self._store(self._at(self._at(gate, 9 * line), j), cell)           # of the next step
                self._store(self._at(after, j), output * shown)

            code.loop(0, line, code.width, some)

        code.loop(0, steps.number, 1, step)

    def backward(self) -> None:
        """Multiply the slopes with the gradients of the state and of the cell, and make those of the step before."""
        steps, code, line = self.steps, self.code, self.line
        weight, slopes, by_state, g_h, g_c, *arriving = self.arrays

        def step(i: str) -> None:
            t = code.put(f"sub nsw i64 {steps.number - 1}, {i}")
            slope, squashing = self._at(slopes, t, 5 * line), self._at(by_state, t, line)

            def some(j: str) -> None:
                h = self._load(self._at(g_h, j))
                for array in arriving:
                    h = h + self._load(self._at(self._at(array, t, line), j))
                c = self._load(self._at(g_c, j)) + h * self._load(self._at(squashing, j))
                for number in range(5):
                    place = self._at(self._at(slope, number * line), j)
                    value = self._load(place) * (c if number else h)
                    self._store(place, value)
                self._store(self._at(g_c, j), value)

            code.loop(0, line, code.width, some)
            self._product(weight, slope, g_h, steps.size, 4 * steps.size)

        code.loop(0, steps.number, 1, step)

    def _product(self, a: str, b: str, out: str, m: int, k: int) -> None:
        tiled = write_tiled(self.module, by_rows(m, self.steps.batch, k, (False, False)), self.steps.dtype)
        self.code.do(f"call void @{tiled.name}(ptr {a}, ptr {b}, ptr {out}, i64 0, i64 {tiled.pieces})")

    def _at(self, pointer: str, index: int | str, step: int = 1) -> str:
        numbers = index if step == 1 else self.code.put(f"mul nsw i64 {index}, {step}")
        return self.code.put(f"getelementptr {self.element}, ptr {pointer}, i64 {numbers}")

    def _load(self, place: str) -> Lanes:
        code, dtype = self.code, self.steps.dtype
        return code.vector(code.put(f"load {code.type(dtype)}, ptr {place}, align {dtype.itemsize}"), dtype)

    def _store(self, place: str, value: Lanes) -> None:
        self.code.do(f"store {value.type} {value.name}, ptr {place}, align {value.dtype.itemsize}")
