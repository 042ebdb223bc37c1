"""The shape of the code of a loop: its dims in the order of memory, joined where memory has no gap, in blocks.

The last dim is the inner one, which runs in vectors. A long inner dim is cut into blocks. Then each block is reduced
for itself, so sums keep their digits, and the blocks can go to several threads.

Extents that are set at run time are `Extent`s, which have their value for the sizes that the program was planned for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..program.forms import Form, Sizes, times
from ..program.loops import Loop, Reduction
from ..program.symbols import Extent

BLOCK = 8192
Strides = tuple[int, ...]


class Blocks(NamedTuple):
    """The number of blocks of a row of this length."""

    length: Form

    def at(self, sizes: Sizes) -> int:
        """The number for sizes."""
        return -(-self.length.at(sizes) // BLOCK)


class Nest(NamedTuple):
    """The dims of the code, and the strides in bytes of the inputs, the outputs and the reductions, in this order.

    A reduction has stride 0 in the dims over which it goes.
    """

    shape: tuple[int, ...]
    strides: tuple[Strides, ...]

    @property
    def outer(self) -> tuple[int, ...]:
        """The sizes of the dims around the vectors. If the inner dim has blocks, their number is the last."""
        inner = self.shape[-1]
        blocks = -(-inner // BLOCK)
        if isinstance(inner, Extent):
            return *self.shape[:-1], Extent.of(Blocks(inner.expression), blocks)
        return (*self.shape[:-1], blocks) if inner > BLOCK else self.shape[:-1]

    def step(self, operand: int, level: int) -> int:
        """The stride of an operand in one of the dims of `outer`."""
        strides = self.strides[operand]
        if level < len(self.shape) - 1:
            return strides[level]
        last = strides[-1]
        return Extent.of(times(last.expression, BLOCK), last * BLOCK) if isinstance(last, Extent) else last * BLOCK

    def set_at_run_time(self) -> list[Any]:
        """The sizes that are set at run time: their expressions."""
        found = [*self.outer, *self.shape]
        for operand, strides in enumerate(self.strides):
            found += [self.step(operand, level) for level in range(len(self.outer))] + [*strides]
        return [*dict.fromkeys([n.expression for n in found if isinstance(n, Extent)])]


def reduced_size(loop: Loop, reduction: Reduction) -> int:
    """How many numbers the result of a reduction has."""
    return math.prod([n for dim, n in enumerate(loop.shape) if dim not in reduction.dims])


def order_of(loop: Loop) -> list[int]:
    """The dims of a loop in the order of memory, without those of one element."""
    strides = _strides(loop)
    dims = [dim for dim, n in enumerate(loop.shape) if n != 1]
    dims.sort(key=lambda dim: -sum([abs(steps[dim]) for steps in strides]))
    return dims


def nest_of(loop: Loop, dims: Sequence[int]) -> Nest:
    """The nest of a loop that has elements, with its dims in this order."""
    strides = _strides(loop)
    shape: list[int] = []
    joined: list[list[int]] = [[] for _ in strides]
    for dim in dims:
        n = loop.shape[dim]
        if shape and all([own[-1] == steps[dim] * n for own, steps in zip(joined, strides)]):
            shape[-1] *= n
            for own, steps in zip(joined, strides):
                own[-1] = steps[dim]
        else:
            shape.append(n)
            for own, steps in zip(joined, strides):
                own.append(steps[dim])
    if not shape:
        return Nest((1,), tuple([(0,) for _ in strides]))
    return Nest(tuple(shape), tuple(map(tuple, joined)))


def _strides(loop: Loop) -> list[Strides]:
    """The strides of the inputs, the outputs and the reductions."""
    return [*[operand.strides for operand in (*loop.inputs, *[output.operand for output in loop.outputs])],
            *[_result_strides(loop, reduction) for reduction in loop.reductions]]


def _result_strides(loop: Loop, reduction: Reduction) -> Strides:
    """The strides of a reduction's result, which lies row by row."""
    strides, step = [], reduction.dtype.itemsize
    for dim in reversed(range(len(loop.shape))):
        reduced = dim in reduction.dims
        strides.append(0 if reduced else step)
        step *= 1 if reduced else loop.shape[dim]
    return tuple(reversed(strides))
