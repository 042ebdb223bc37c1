"""Units of a program as loops of steps, which can become machine code."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...foundations.dtypes import Array
from ...ops.linalg.matrix import bmm, mm
from ...ops.reductions import sum_all
from ...tensors.recording.inplace import write_over
from ..passes.effects import all_memory_written
from ..passes.fusing import REDUCTIONS, Unit, is_reduction, same_place, seen_as, shape_of
from ..program.lines import Line, Program, Ref, Value, plain_call
from ..program.loops import Loop, Operand, Output, Reduction, Step
from .lowering import lowers
from .products import Product, Stack
from .tiles import Sizes

# The most multiplications of a product in machine code.
_LARGEST = 1 << 24
Strides = tuple[int, ...]


class Lowered(NamedTuple):
    """A loop, and the numbers of the values that its operands are."""

    loop: Loop
    inputs: list[int]
    outputs: list[int]
    sums: list[int]


def joins(line: Line, values: list[Value]) -> bool:
    """Whether a line of a loop has machine code."""
    if is_reduction(line):
        return values[line.reads[0]].like.dtype.char in "fd"
    args = _arguments(line, values)
    if args is None:
        return False
    dtypes = [values[arg.number].like.dtype for arg in args if type(arg) is Ref]
    return lowers(Step(line.op, args, _result(line, values).like.dtype), dtypes)


def is_product(line: Line, values: list[Value]) -> bool:
    """Whether a line is a product of matrices, or of stacks of matrices, that has machine code."""
    found = product(line, values, (0, 0, 0))
    return found is not None and found.work <= _LARGEST


def product(line: Line, values: list[Value], slots: tuple[int, int, int]) -> Product | None:
    """A product of matrices, or of stacks of matrices, in machine code; None if it has none."""
    if line.op not in (mm, bmm) or not plain_call(line, values):
        return None
    x, y, out = likes = [values[number].like for number in (*line.reads[:2], line.results[0])]
    if x.ndim != y.ndim or x.shape[:-2] != y.shape[:-2] or any([
            like.dtype != out.dtype or not like.size or any([step % like.itemsize for step in like.strides])
            for like in likes]) or out.dtype.char not in "fd" or not out.flags.c_contiguous:
        return None
    (m, k), n = x.shape[-2:], y.shape[-1]
    if x.ndim == 2 and x.flags.forc and y.flags.forc:
        return Product(slots, m, n, k, (not x.flags.c_contiguous, not y.flags.c_contiguous), out.dtype)
    (row, step), (down, along) = _steps(x)[-2:], _steps(y)[-2:]
    turned = along != 1 and n != 1
    if turned and down != 1 and k != 1:
        return None
    sizes = Sizes(m, n, k, row, step, along if turned else down, turned)
    return Product(slots, m, n, k, (False, turned), out.dtype, sizes, _stacks(likes))


def _steps(array: Array) -> list[int]:
    return [step // array.itemsize for step in array.strides]


def _stacks(likes: Sequence[Array]) -> tuple[Stack, ...]:
    """The dims around matrices. Those that can be joined are one."""
    stacks: list[Stack] = []
    for number, *steps in zip(likes[0].shape[:-2], *map(_steps, likes)):
        if stacks and all([before == step * number for before, step in zip(stacks[-1].steps, steps)]):
            number *= stacks.pop().number
        stacks.append(Stack(number, (steps[0], steps[1], steps[2])))
    return tuple(stacks)


def _result(line: Line, values: list[Value]) -> Value:
    return values[line.reads[0] if line.write else line.results[0]]


def _arguments(line: Line, values: list[Value]) -> tuple[Any, ...] | None:
    """The arguments of the op of a line, without the target of a write; None if the line is called otherwise."""
    if not line.write:
        return line.args if plain_call(line, values) else None
    call = line.call
    return line.args[1:] if type(call) is partial and call.func is write_over else None


def lowered(unit: Unit, values: list[Value], kept: set[int], known: Container[int] = ()) -> Lowered:
    """The loop of a unit. `kept` are the results that are needed after it. `known` are single numbers that are the same
    in each run: they stand in the code.
    """
    return _Lowering(unit, values, known).loop(kept)


def numbers_known(program: Program, given: Sequence[int]) -> set[int]:
    """The values that are single numbers, the same in each run for all arrays `given`."""
    other = {*all_memory_written(program), *given}
    return {value.number for value in program.values
            if value.source == "constant" and not value.like.ndim and value.memory not in other}


class _Lowering:
    """The translation of one unit. `places` says which value of the loop each value of the program is.

    An input is a value as it is seen in the shape of the loop: the same value may be two inputs.
    """

    def __init__(self, unit: Unit, values: list[Value], known: Container[int]) -> None:
        assert unit.shape is not None
        self.unit, self.values, self.shape, self.known = unit, values, unit.shape, known
        self.made = {number for line in unit.lines for number in line.results}
        self.inputs: dict[tuple[int, Strides], int] = {}
        self.written: dict[int, tuple[int, Strides]] = {}  # the last value of each target, and how it lies
        self.places: dict[int, int] = {}
        for line in unit.lines:
            for number in line.reads[1 if line.write else 0:]:
                if self._made_as(number) is None and (number not in known or is_reduction(line)):
                    self.inputs.setdefault((number, self._strides(number, line)), len(self.inputs))

    def loop(self, kept: set[int]) -> Lowered:
        """The loop."""
        steps: list[Step] = []
        reductions, sums, outputs = [], [], []
        for line in self.unit.lines:
            if is_reduction(line):
                reductions.append(self._reduction(line))
                sums.append(line.results[0])
                continue
            args = tuple([self._argument(arg, line) for arg in _arguments(line, self.values) or ()])
            steps.append(Step(line.op, args, _result(line, self.values).like.dtype))
            place = len(self.inputs) + len(steps) - 1
            if line.write:
                target = self.values[line.reads[0]]
                for number in [n for n in self.written if same_place(self.values[n], target)]:
                    del self.written[number]               # the same memory, perhaps as another view
                self.written[target.number] = place, self._strides(target.number, line)
            else:
                self.places[line.results[0]] = place
                if line.results[0] in kept:
                    outputs.append((line.results[0], place, self._strides(line.results[0], line)))
        outputs = [output for output in outputs if not self._overwritten(output[0])]
        outputs += [(number, *stored) for number, stored in self.written.items()]
        stores = [Output(place, Operand(self.values[number].like.dtype, strides)) for number, place, strides in outputs]
        inputs = [Operand(self.values[number].like.dtype, strides) for number, strides in self.inputs]
        loop = Loop(self.shape, tuple(inputs), tuple(steps), tuple(stores), tuple(reductions))
        return Lowered(loop, [number for number, _ in self.inputs], [number for number, _, _ in outputs], sums)

    def _overwritten(self, number: int) -> bool:
        return any(same_place(self.values[number], self.values[target]) for target in self.written)

    def _made_as(self, number: int) -> int | None:
        """The result of a step that a value is: the value itself, or the value that it views in the same order."""
        if number in self.made:
            return number
        value = self.values[number]
        if value.is_view and value.memory in self.made and same_place(value, self.values[value.memory]):
            return value.memory
        return None

    def _argument(self, arg: Any, line: Line) -> Any:
        """The argument of a step."""
        if type(arg) is not Ref:
            return arg
        return self.values[arg.number].like if arg.number in self.known else Ref(self._place(arg.number, line))

    def _place(self, number: int, line: Line) -> int:
        """The value of the loop that a value of the program is by now."""
        for target, (place, _) in self.written.items():
            if same_place(self.values[number], self.values[target]):
                return place
        made = self._made_as(number)
        return self.inputs[number, self._strides(number, line)] if made is None else self.places[made]

    def _strides(self, number: int, line: Line) -> Strides:
        """The strides of a value in the shape of the loop, as the line sees the value."""
        own = shape_of(line, self.values)
        assert own is not None
        seen = seen_as(self.values[number].like, own, self.shape)
        assert seen is not None
        return seen.strides

    def _reduction(self, line: Line) -> Reduction:
        dims = tuple(range(len(self.shape))) if line.op is sum_all else tuple(line.args[1])
        number = line.reads[0]
        return Reduction(REDUCTIONS[line.op], self._place(number, line), dims, self.values[number].like.dtype)
