"""The code of a vector of a loop: what it reads, computes and writes, and what it adds to reductions.

A reduction over the inner dim has an accumulator for each lane. The lanes are added in pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..program.lines import Ref
from ..program.loops import Loop, Reduction
from ..program.symbols import Extent
from . import lowering
from .lanes import TYPES, Code, Lanes, Unknown, constant, maximum, minimum, select, to
from .modules import Module
from .nest import Nest
from .vector_math import shuffled

# So many turns of a loop may be straight code.
_FEW = 16
COMBINE = {"sum": lambda x, y: x + y, "amax": maximum, "amin": minimum}


def identity(reduction: Reduction) -> Any:
    """What does not change a reduction."""
    dtype = reduction.dtype
    if reduction.kind == "sum":
        return 0
    low = reduction.kind == "amax"
    if dtype.kind == "f":
        return -math.inf if low else math.inf
    return np.iinfo(dtype).min if low else np.iinfo(dtype).max


def memory(dtype: np.dtype[Any]) -> str:
    """The type of a number in memory."""
    return "i8" if dtype.kind == "b" else TYPES[dtype]


def begin_with(code: Code, reduction: Reduction, size: int | str, place: str) -> None:
    """Write what does not change a reduction to all its numbers, which begin at a place."""
    type, value = memory(reduction.dtype), constant(identity(reduction), reduction.dtype)
    _each(code, 0, size, 1, lambda i: code.do(
        f"store {type} {value}, ptr {code.put(f'getelementptr {type}, ptr {place}, i64 {i}')}"))


def combine(code: Code, reduction: Reduction, size: int | str, result: str, part: str) -> None:
    """Combine the numbers of a reduction, which begin at `result`, with those of a part."""
    dtype, width = reduction.dtype, code.width
    wide = code.module.host.lanes(dtype)

    def some(i: str) -> None:
        places = [code.put(f"getelementptr {TYPES[dtype]}, ptr {start}, i64 {i}") for start in (result, part)]
        x, y = [Lanes(code, code.put(f"load {code.type(dtype)}, ptr {place}, align {dtype.itemsize}"), dtype)
                for place in places]
        both = COMBINE[reduction.kind](x, y)
        code.do(f"store {both.type} {both.name}, ptr {places[0]}, align {dtype.itemsize}")

    whole: Any = code.put(f"and i64 {size}, {-wide}") if isinstance(size, str) else size // wide * wide
    for begin, end, lanes in ((0, whole, wide), (whole, size, 1)):
        code.width = lanes
        _each(code, begin, end, lanes, some)
    code.width = width


def _each(code: Code, begin: int | str, end: int | str, step: int, body: Callable[[str], None]) -> None:
    """A loop, or straight code for few places, so that LLVM can keep numbers of the function's own in registers."""
    if isinstance(begin, str) or isinstance(end, str) or end - begin > _FEW * step:
        code.loop(begin, end, step, body)
        return
    for i in range(begin, end, step):
        body(str(i))


class VectorWriter:
    """Writes the vectors of a loop, which has no elements if there is no nest.

    `sizes` has the names of sizes that are set at run time, by their forms.
    """

    def __init__(self, module: Module, loop: Loop, nest: Nest | None) -> None:
        self.module, self.loop, self.nest = module, loop, nest
        dtypes = [operand.dtype for operand in loop.inputs]
        dtypes += [step.dtype for step in loop.steps] + [reduction.dtype for reduction in loop.reductions]
        for dtype in dtypes:
            if dtype not in TYPES:
                raise Unknown(f"no lanes of {dtype}")
        if any([reduction.dtype.kind == "b" for reduction in loop.reductions]):
            raise Unknown("reductions of bools")
        self.width = module.host.bits // 8 // max([dtype.itemsize for dtype in dtypes if dtype.kind != "b"], default=4)
        self.code = Code(module, self.width)
        self.first_result = len(loop.inputs) + len(loop.outputs)
        self.scalars: dict[int, str] = {}                   # the inputs that are one number in a row
        self.fixed: dict[int, Lanes] = {}                   # the values that are the same for all of a row
        self.sizes: dict[Any, str] = {}

    def _direct(self, number: int) -> bool:
        """Whether each number of the result is written once: it is that of one row, in one block."""
        if self.nest is None:
            return False
        nest, operand = self.nest, self.first_result + number
        inner = nest.strides[operand][-1] == 0
        return inner and all([nest.step(operand, level) for level in range(len(nest.outer))])

    def _fix(self) -> None:
        """Compute what is the same for all elements of a row."""
        values: list[Any] = [self._splat(i) if i in self.scalars else None for i in range(len(self.loop.inputs))]
        self.fixed = {}
        for number, step in enumerate(self.loop.steps, len(values)):
            same = all([values[arg.number] is not None for arg in step.args if isinstance(arg, Ref)])
            values.append(lowering.write(self.code, step, values) if same else None)
            if same:
                self.fixed[number] = values[-1]

    def _moved(self, pointer: str, i: str, step: int) -> str:
        """The place `i * step` bytes after a pointer."""
        if not step or i == "0":
            return pointer
        code = self.code
        if isinstance(step, Extent):
            offset = code.put(f"mul nsw i64 {i}, {self.sizes[step.expression]}")
        else:
            offset = str(int(i) * step) if i.isdigit() else code.put(f"mul nsw i64 {i}, {step}")
        return code.put(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def _piece(self, pointers: list[str], j: str, further: int, valid: int, accumulators: dict[int, str]) -> None:
        """All steps for one vector, whose first `valid` lanes are elements of the loop."""
        loop, nest = self.loop, self.nest
        assert nest is not None
        inner = [strides[-1] for strides in nest.strides]
        places = [self._moved(self._moved(pointer, j, step), str(further), step)
                  for pointer, step in zip(pointers, inner)]
        values = [self._splat(i) if i in self.scalars else self._read(places[i], operand.dtype, inner[i], valid)
                  for i, operand in enumerate(loop.inputs)]
        known = self.fixed if self.code.width == self.width else {}
        for number, step in enumerate(loop.steps, len(values)):
            values.append(known[number] if number in known else lowering.write(self.code, step, values))
        for i, output in enumerate(loop.outputs, len(loop.inputs)):
            self._store(places[i], to(values[output.value], output.operand.dtype), inner[i], valid)
        for number, reduction in enumerate(loop.reductions):
            i, value = self.first_result + number, to(values[reduction.value], reduction.dtype)
            if number in accumulators:
                self._accumulate(reduction, accumulators[number], value, valid)
            else:
                before = self._read(places[i], reduction.dtype, inner[i], valid)
                self._store(places[i], COMBINE[reduction.kind](before, value), inner[i], valid)

    def _splat(self, operand: int) -> Lanes:
        code, dtype = self.code, self.loop.inputs[operand].dtype
        type = memory(dtype)
        full = f"<{code.width} x {type}>"
        one = code.put(f"insertelement {full} poison, {type} {self.scalars[operand]}, i32 0")
        all = code.put(f"shufflevector {full} {one}, {full} poison, <{code.width} x i32> zeroinitializer")
        return self._from_memory(all, dtype)

    def _from_memory(self, name: str, dtype: np.dtype[Any]) -> Lanes:
        code = self.code
        if dtype.kind != "b":
            return code.vector(name, dtype)
        return code.vector(code.put(f"icmp ne <{code.width} x i8> {name}, zeroinitializer"), dtype)

    def _read(self, place: str, dtype: np.dtype[Any], step: int, valid: int) -> Lanes:
        """The elements from a place on. Lanes beyond the valid ones repeat the first."""
        code, type, size = self.code, memory(dtype), dtype.itemsize
        width = code.width
        if step == size or valid == 1:
            own = f"<{valid} x {type}>"
            name = code.put(f"load {own}, ptr {place}, align {size}")
            if valid < width:
                name = shuffled(code, own, name, name, [i if i < valid else 0 for i in range(width)])
            return self._from_memory(name, dtype)
        name = "poison"
        numbers = [code.put(f"load {type}, ptr {self._moved(place, str(i), step)}, align {size}") for i in range(valid)]
        for i in range(width):
            number = numbers[i if i < valid else 0]
            name = code.put(f"insertelement <{width} x {type}> {name}, {type} {number}, i32 {i}")
        return self._from_memory(name, dtype)

    def _store(self, place: str, value: Lanes, step: int, valid: int) -> None:
        """Write the valid lanes."""
        code, type, size, name = self.code, memory(value.dtype), value.dtype.itemsize, value.name
        full = f"<{code.width} x {type}>"
        if value.dtype.kind == "b":
            name = code.put(f"zext {value.type} {name} to {full}")
        if step == size or valid == 1:
            if valid < code.width:
                name = shuffled(code, full, name, name, range(valid))
            code.do(f"store <{valid} x {type}> {name}, ptr {place}, align {size}")
            return
        for i in range(valid):
            number = code.put(f"extractelement {full} {name}, i32 {i}")
            code.do(f"store {type} {number}, ptr {self._moved(place, str(i), step)}, align {size}")

    # Reductions over the inner dim

    def _accumulator(self, number: int, width: int) -> str:
        """Memory on the stack, which LLVM keeps in registers."""
        reduction = self.loop.reductions[number]
        type = TYPES[reduction.dtype]
        place = self.code.stack(f"<{width} x {type}>")
        self.code.do(f"store <{width} x {type}> splat ({type} {constant(identity(reduction), reduction.dtype)}), "
                     f"ptr {place}")
        return place

    def _accumulate(self, reduction: Reduction, place: str, value: Lanes, valid: int) -> None:
        code = self.code
        if valid < code.width:                              # a shorter vector goes to an accumulator of one lane
            mask = ", ".join([f"i1 {str(i < valid).lower()}" for i in range(code.width)])
            value = select(code.vector(f"<{mask}>", np.dtype(bool)), value, identity(reduction))
        if valid < self.width:
            self._add_lanes(reduction, place, value)
            return
        before = code.vector(code.put(f"load {value.type}, ptr {place}"), value.dtype)
        after = COMBINE[reduction.kind](before, value)
        code.do(f"store {value.type} {after.name}, ptr {place}")

    def _add_lanes(self, reduction: Reduction, place: str, value: Lanes) -> None:
        """Combine the number at the place with all lanes, which are combined in pairs."""
        code, before, type, size = self.code, self.code.width, TYPES[reduction.dtype], reduction.dtype.itemsize
        combine = COMBINE[reduction.kind]
        while code.width > 1:
            half, own, name = code.width // 2, value.type, value.name
            code.width = half
            value = combine(*[code.vector(shuffled(code, own, name, name, range(start, start + half)), value.dtype)
                              for start in (0, half)])
        total = combine(code.vector(code.put(f"load <1 x {type}>, ptr {place}, align {size}"), value.dtype), value)
        code.do(f"store <1 x {type}> {total.name}, ptr {place}, align {size}")
        code.width = before

    def _deliver(self, number: int, accumulators: list[str], rest: str, pointers: list[str]) -> None:
        """Bring the accumulators of a row or block together, and write or add the result."""
        code, reduction, place = self.code, self.loop.reductions[number], pointers[self.first_result + number]
        combine = COMBINE[reduction.kind]
        parts = [code.vector(code.put(f"load {code.type(reduction.dtype)}, ptr {place}"), reduction.dtype)
                 for place in accumulators]
        while len(parts) > 1:
            parts = [combine(x, y) for x, y in zip(parts[::2], parts[1::2])]
        for part in parts:
            self._add_lanes(reduction, rest, part)
        one, size = f"<1 x {TYPES[reduction.dtype]}>", reduction.dtype.itemsize
        code.width = 1
        total = code.vector(code.put(f"load {one}, ptr {rest}"), reduction.dtype)
        if not self._direct(number):
            total = combine(code.vector(code.put(f"load {one}, ptr {place}, align {size}"), reduction.dtype), total)
        code.do(f"store {one} {total.name}, ptr {place}, align {size}")
        code.width = self.width
