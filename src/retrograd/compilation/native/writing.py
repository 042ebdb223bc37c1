"""The function of one loop: `loop(table, begin, end)` runs a range of the outermost dim, `fill(table)` begins sums.

Vectors of a whole register run through the inner dim. What remains at its end is one shorter vector, which reads and
writes nothing beyond. A reduction over the inner dim has an accumulator for each lane; the lanes are added in pairs at
the end of a row or block, and rows and blocks one after the other. So a sum of n floats over the inner dim is off by at
most (8192 / w + log2(w) + n / 8192) roundings, with w = 16 to 64 lanes. A sum over outer dims adds row after row, 128
at a time, then 128 such sums at a time, in up to four parts if threads may share the rows (`sharing`).

Extents that are set at run time (`Extent`) stand in the table, beside the addresses. A row whose length is not known
runs in blocks, whose number stands in the table, too. What remains of a block after its whole vectors runs in vectors
of four numbers, and then one by one. So a sum of n floats over such a row has the error of one over a row of known
length, or less.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..program.loops import Loop, Reduction
from ..program.symbols import Extent
from .lanes import Code, constant
from .modules import Module
from .nest import BLOCK, Nest, nest_of, order_of
from .table import address_at, size_at
from .vectors import VectorWriter, begin_with, combine, identity, memory

# A loop with few steps adds to several accumulators in turn, since an addition waits for the one before.
_FEW_STEPS, _ACCUMULATORS = 4, 4
# How many numbers a short vector has.
_SHORT = 4
# So many sums are added before their total is added to the next sum, if there are more than twice as many: rows first,
# then the totals of so many rows.
_ADDED = 128
# The most bytes of such a total, which lies in the memory that the function has on the stack of its thread. They are
# fewer if the size is set at run time, since then each total takes all of them.
_STACK, _SET_STACK = 1 << 16, 1 << 14


class Placed(NamedTuple):
    """A loop, and for each operand (inputs, outputs, reductions) the slot of the table that has its address.

    An output may lie where an input of the same strides lies. A reduction needs memory that nothing else uses.

    If extents are set at run time, `slot` gives the slot of the table that has a size. The loop then has a `nest`, and
    `large` says whether it is called by ranges.
    """

    loop: Loop
    slots: tuple[int, ...]
    nest: Nest | None = None
    slot: Callable[[Any], int] | None = None
    large: bool = False


class Work(NamedTuple):
    """A loop's functions, by name. A range of [0, extent) can be run at a time; `cost` is in nanoseconds.

    `fill` is empty if no reduction needs to begin with a number. `partial` has the numbers of the reductions that
    several ranges share.
    """

    loop: str
    fill: str
    extent: int
    cost: float
    partial: tuple[int, ...]


class _Row(NamedTuple):
    """A row or block of one: where the operands start, and the memory of the reductions over it, by their numbers.

    `turns` vectors in turn have accumulators of their own; `rest` is for shorter vectors.
    """

    pointers: list[str]
    block: str
    turns: int
    accumulators: dict[int, list[str]]
    rest: dict[int, str]


class _Added(NamedTuple):
    """A sum over many rows: the numbers of its result that a row adds to, and the condition for adding some rows first.

    The condition is None if it holds in any case.
    """

    size: int | str
    condition: str | None


class LoopWriter(VectorWriter):
    """Writes one loop."""

    def __init__(self, module: Module, placed: Placed, name: str) -> None:
        loop = placed.loop
        super().__init__(module, loop, placed.nest or (nest_of(loop, order_of(loop)) if loop.size else None))
        self.placed, self.name = placed, name

    def write(self) -> Work:
        """Add the two functions to the module."""
        name, fill = f"loop{self.name}", f"fill{self.name}"
        if all([self._direct(number) for number in range(len(self.loop.reductions))]):
            fill = ""
        else:
            self.module.functions[fill] = self._fill(fill)
        self.module.functions[name] = self._loop(name)
        if self.nest is None:
            return Work(name, fill, 0, 0.0, ())
        nest, outer = self.nest, self.nest.outer
        partial = [i for i in range(len(self.loop.reductions)) if outer and not nest.step(self.first_result + i, 0)]
        return Work(name, fill, outer[0] if outer else 1, self._cost(), tuple(partial))

    def _cost(self) -> float:
        """About how long the loop takes."""
        loop = self.loop
        moved = sum([operand.dtype.itemsize for operand, steps in zip(
            [*loop.inputs, *[output.operand for output in loop.outputs]], self.nest.strides if self.nest else ())
            if steps[-1]])
        calls = sum([line.count("call") for line in self.code.lines if " call " in line]) / 2
        return loop.size * (0.03 * moved + 0.02 * len(loop.steps) + 0.15 * calls)

    # The memory of reductions

    def _fill(self, name: str) -> str:
        code = Code(self.module, 1)
        for number, reduction in enumerate(self.loop.reductions):
            if self._direct(number):
                continue
            slot, type = self.placed.slots[self.first_result + number], memory(reduction.dtype)
            place, value = address_at(code, slot), constant(identity(reduction), reduction.dtype)

            def body(i: str, type: str = type, place: str = place, value: str = value) -> None:
                code.do(f"store {type} {value}, ptr {code.put(f'getelementptr {type}, ptr {place}, i64 {i}')}")

            code.loop(0, self._reduced(code, reduction), 1, body)
        return code.function(f"void @{name}(ptr %table)")

    def _reduced(self, code: Code, reduction: Reduction) -> int | str:
        """How many numbers the result of a reduction has."""
        count: int | str = 1
        for dim, n in enumerate(self.loop.shape):
            if dim not in reduction.dims:
                own = self._size_at(code, n.expression) if isinstance(n, Extent) else n
                both = isinstance(own, int) and isinstance(count, int)
                count = int(own) * int(count) if both else code.put(f"mul nsw i64 {own}, {count}")
        return count

    def _size_at(self, code: Code, expression: Any) -> str:
        """A size that is set at run time."""
        assert self.placed.slot is not None
        return size_at(code, self.placed.slot(expression))

    # Dims

    def _loop(self, name: str) -> str:
        code = self.code
        if self.nest is not None:
            if self.placed.slot is not None:
                self.sizes = {each: self._size_at(code, each) for each in self.nest.set_at_run_time()}
            pointers = [address_at(code, slot) for slot in self.placed.slots]
            for operand in range(len(self.loop.inputs)):
                if not any(self.nest.strides[operand]):
                    self._read_scalar(operand, pointers)
            self._level(0, pointers, "")
        return code.function(f"void @{name}(ptr %table, i64 %begin, i64 %end)")

    def _read_scalar(self, operand: int, pointers: list[str]) -> None:
        type = memory(self.loop.inputs[operand].dtype)
        self.scalars[operand] = self.code.put(f"load {type}, ptr {pointers[operand]}")

    def _level(self, level: int, pointers: list[str], block: str) -> None:
        """The code of the dims from this one on."""
        nest = self.nest
        assert nest is not None
        outer = nest.outer
        if level == len(nest.shape) - 1:                    # a row begins, or its blocks
            for operand in range(len(self.loop.inputs)):
                if any(nest.strides[operand]) and not nest.strides[operand][-1]:
                    self._read_scalar(operand, pointers)
        if level == len(outer):
            self._row(pointers, block)
            return

        def body(i: str, pointers: list[str] = pointers) -> None:
            steps = [nest.step(operand, level) for operand in range(len(pointers))]
            moved = [self._moved(pointer, i, step) for pointer, step in zip(pointers, steps)]
            self._level(level + 1, moved, i)

        begin, end = ("%begin", "%end") if level == 0 else (0, self._count(outer[level]))
        self._rows(self._at_a_time(outer[level]), begin, end, self._added(level, begin, end), pointers, body)

    @staticmethod
    def _at_a_time(rows: int) -> list[int]:
        """How many rows are added first, for the sums of them and for the sums of such sums; the larger number first.
        """
        return [_ADDED ** power for power in (2, 1) if isinstance(rows, Extent) or rows > 2 * _ADDED ** power]

    def _added(self, level: int, begin: int | str, end: int | str) -> dict[int, _Added]:
        """The sums over the rows of this level that add some rows first, by their numbers."""
        nest, found = self.nest, dict[int, _Added]()
        assert nest is not None
        for number, reduction in enumerate(self.loop.reductions):
            if reduction.kind != "sum" or nest.step(self.first_result + number, level):
                continue
            size, strides = reduction.dtype.itemsize, nest.strides[self.first_result + number][level + 1:]
            dims = [dim for dim, stride in enumerate(strides, level + 1) if stride]
            n: Any = nest.shape[dims[0]] if dims else 1
            if len(dims) > 1 or (dims and strides[dims[0] - level - 1] != size):
                continue
            if isinstance(n, Extent) or isinstance(nest.outer[level], Extent):
                found[number] = _Added(self._count(n), self._pays(n, size, begin, end))
            elif n * size <= _STACK:
                found[number] = _Added(n, None)
        return found

    def _pays(self, n: int, size: int, begin: int | str, end: int | str) -> str:
        """Whether there are many rows, of few numbers, if one or the other is known at run time only."""
        code = self.code
        many = code.put(f"icmp sgt i64 {code.put(f'sub nsw i64 {end}, {begin}')}, {2 * _ADDED}")
        few = code.put(f"icmp sle i64 {self._count(n)}, {_SET_STACK // size}")
        return code.put(f"and i1 {many}, {few}")

    def _rows(self, steps: list[int], begin: int | str, end: int | str, added: dict[int, _Added], pointers: list[str],
              body: Callable[[str, list[str]], None]) -> None:
        """Code for a range of rows. The sums of as many rows as the first step says are made in memory of the function,
        and so on for the next step.
        """
        code = self.code
        if not added or not steps:
            code.loop(begin, end, 1, lambda i: body(i, pointers))
            return

        def some(first: str) -> None:
            after = code.put(f"add nsw i64 {first}, {steps[0]}")
            last = code.put(f"select i1 {code.put(f'icmp slt i64 {after}, {end}')}, i64 {after}, i64 {end}")
            own = [*pointers]
            for number, sums in added.items():
                own[self.first_result + number] = self._begun(number, sums, pointers[self.first_result + number])
            self._rows(steps[1:], first, last, added, own, body)
            for number, sums in added.items():
                i, reduction = self.first_result + number, self.loop.reductions[number]
                code.only_if(sums.condition, partial(combine, code, reduction, sums.size, pointers[i], own[i]))

        code.loop(begin, end, steps[0], some)

    def _begun(self, number: int, sums: _Added, place: str) -> str:
        """The memory for the sums of some rows, which begin at 0; or their place in the result if this does not pay."""
        code, reduction = self.code, self.loop.reductions[number]
        most = sums.size if isinstance(sums.size, int) else _SET_STACK // reduction.dtype.itemsize
        own = code.stack(f"[{most} x {memory(reduction.dtype)}], align 64")
        code.only_if(sums.condition, lambda: begin_with(code, reduction, sums.size, own))
        return own if sums.condition is None else code.put(f"select i1 {sums.condition}, ptr {own}, ptr {place}")

    def _count(self, number: int) -> int | str:
        """A number of places, or the name that has it."""
        return self.sizes[number.expression] if isinstance(number, Extent) else number

    # A row

    def _row(self, pointers: list[str], block: str) -> None:
        nest = self.nest
        assert nest is not None
        n, width = nest.shape[-1], self.width
        inner = [i for i in range(len(self.loop.reductions)) if not nest.strides[self.first_result + i][-1]]
        several = inner and len(self.loop.steps) <= _FEW_STEPS and (isinstance(n, Extent) or n >= 8 * width)
        turns = _ACCUMULATORS if several else 1
        row = _Row(pointers, block, turns, {i: [self._accumulator(i, width) for _ in range(turns)] for i in inner},
                   {i: self._accumulator(i, 1) for i in inner})
        if isinstance(n, Extent):
            self._any_length(row, n)
        else:
            self._known_length(row, n)
        for i in inner:
            self._deliver(i, row.accumulators[i] if isinstance(n, Extent) or n >= width else [], row.rest[i], pointers)

    def _whole(self, row: _Row, turns: int, j: str) -> None:
        """So many whole vectors from a place on."""
        for turn in range(turns):
            self._piece(row.pointers, j, turn * self.width, self.width,
                        {i: places[turn] for i, places in row.accumulators.items()})

    def _short(self, row: _Row, valid: int, j: str) -> None:
        """A shorter vector, of so many elements."""
        self._piece(row.pointers, j, 0, valid, row.rest)

    def _known_length(self, row: _Row, n: int) -> None:
        code, step = self.code, row.turns * self.width
        assert self.nest is not None
        last = n - (n - 1) // BLOCK * BLOCK                 # the length of the last block
        whole, end = last // step * step, None
        bound: int | str = whole
        if n > BLOCK:
            end = code.put(f"icmp eq i64 {row.block}, {self.nest.outer[-1] - 1}")
            bound = code.put(f"select i1 {end}, i64 {whole}, i64 {BLOCK}")
        self._fix()
        code.loop(0, bound, step, partial(self._whole, row, row.turns))
        if last > whole:
            code.only_if(end, lambda: self._tail(row, whole, last))

    def _tail(self, row: _Row, start: int, end: int) -> None:
        """The last elements of a row: whole vectors, then a shorter one."""
        while end - start >= self.width:
            self._whole(row, 1, str(start))
            start += self.width
        if end > start:
            self.code.width = min(self.width, max(4, 1 << (end - start - 1).bit_length()))
            self._short(row, end - start, str(start))
            self.code.width = self.width

    def _any_length(self, row: _Row, n: Extent) -> None:
        code, width = self.code, self.width
        before = code.put(f"mul nsw i64 {row.block}, {BLOCK}")
        left = code.put(f"sub nsw i64 {self.sizes[n.expression]}, {before}")
        last = code.put(f"select i1 {code.put(f'icmp slt i64 {left}, {BLOCK}')}, i64 {left}, i64 {BLOCK}")
        self._fix()
        start = self._pieces("0", last, row.turns * width, partial(self._whole, row, row.turns))
        if row.turns > 1:
            start = self._pieces(start, last, width, partial(self._whole, row, 1))
        if any([factor % width for _, factor in n.expression.terms]):
            code.width = _SHORT
            if width > _SHORT:
                start = self._pieces(start, last, _SHORT, partial(self._short, row, _SHORT))
            self._pieces(start, last, 1, partial(self._short, row, 1))
            code.width = width

    def _pieces(self, start: str, end: str, step: int, body: Callable[[str], None]) -> str:
        """Code for all pieces of a length, a power of two, that fit before the end. Returns where they end."""
        whole = self.code.put(f"and i64 {end}, {-step}")
        self.code.loop(start, whole, step, body)
        return whole
