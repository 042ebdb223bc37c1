"""What a line reads, what it writes, and which lines must stay in their order.

A line writes over the memory of its first argument, if it writes; the step of an optimizer also writes over its state.
Random numbers and checks are effects, too: such lines are never left out, and draws keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ops.basic import call, cast, cast_in, clone, copy, look
from ...ops.creation import drawn, drawn_beside, fresh, new_full, random_channels, random_from, random_like
from ...ops.framework import Op
from ...ops.linalg.matrix import addmm, bmm, mm
from ...ops.networks.activations import threshold_backward
from ...ops.networks.softmax import log_softmax, log_softmax_backward, softmax, softmax_backward
from ...ops.reductions import amax, mean_all, mean_dim, sum_all, sum_dim
from ...ops.shape import unsafe_view
from ..program.lines import STEP, Arithmetic, Line, Program, Value, refs

_DRAWING = frozenset((random_like, random_channels, random_from))
# Operators, other than elementwise ones, that take all numbers.
SAFE = frozenset((addmm, amax, bmm, cast, cast_in, clone, copy, fresh, mean_all, mean_dim, mm, new_full, softmax,
                   softmax_backward, log_softmax, log_softmax_backward, sum_all, sum_dim, threshold_backward))
# Operators without a derivative whose statements say that they are elementwise, but which look at whole arrays.
_OF_WHOLE_ARRAYS = frozenset(("isin", "is_singular", "linalg_eigvals", "linalg_eigvalsh", "linalg_svdvals",
                              "lu_permutation"))


def is_elementwise(op: Op) -> bool:
    """Whether an operator computes each element from those in the same place."""
    return op.kind == "elementwise" or (op.kind == "constant" and op.name not in _OF_WHOLE_ARRAYS)


def takes_all_numbers(op: Op) -> bool:
    """Whether an elementwise operator raises no error for any numbers. Some polynomials refuse high degrees."""
    return is_elementwise(op) and "_polynomial_" not in op.name


def draws_numbers(op: Op) -> bool:
    """Whether an operator takes numbers from a random generator."""
    return op in _DRAWING or op.kernel is drawn or op.kernel is drawn_beside


def draws(line: Line) -> bool:
    """Whether a line takes numbers from a random generator."""
    return draws_numbers(line.op)


def checks(line: Line) -> bool:
    """Whether a line only looks at numbers, and raises an error if they are wrong."""
    return line.op is look


def may_raise(line: Line) -> bool:
    """Whether the numbers of the arguments may be wrong for a line, such as an index out of bounds."""
    arithmetic = line.op is call and type(line.args[1]) is Arithmetic
    return not (line.write or arithmetic or takes_all_numbers(line.op) or line.op in SAFE)


def memory_read(line: Line, values: list[Value]) -> set[int]:
    """The memory of all arguments. A view reads nothing, since only its geometry counts."""
    if is_view(line, values):
        return set()
    return {values[number].memory for number in line.reads}


def targets(line: Line) -> list[int]:
    """The values that a line writes over: the first argument. The step of an optimizer writes over all arguments but
    its options, which stand in a tuple.
    """
    if not line.write:
        return []
    if line.op.name.startswith(STEP):
        return [ref.number for arg in line.args if type(arg) is not tuple for ref in refs(arg)]
    return line.reads[:1]


def memory_written(line: Line, values: list[Value]) -> set[int]:
    """The memory that the line writes over."""
    return {values[number].memory for number in targets(line)}


def all_memory_written(program: Program) -> set[int]:
    """The memory that any line writes over."""
    return set[int]().union(*[memory_written(line, program.values) for line in program.lines])


def may_start_again(program: Program) -> bool:
    """Whether the program itself may run after an error: it has drawn no random numbers, and no line that may raise
    comes after a write to outside memory.
    """
    values, written = program.values, False
    for line in program.lines:
        if draws(line):
            return False
        written = written or any(values[memory].source == "outside" for memory in memory_written(line, values))
        if written and (checks(line) or (may_raise(line) and not is_view(line, values))):
            return False
    return True


def needed(program: Program) -> list[Line]:
    """The lines without those whose results nobody uses."""
    values = program.values
    outside = [value.number for value in values if value.source == "outside"]
    return that_make([*program.outputs, *outside], program, lambda line: draws(line) or checks(line))


def that_make(made: Sequence[int], program: Program, also: Callable[[Line], bool] = lambda line: False) -> list[Line]:
    """The lines that some values need, and the lines that must stay `also`, with what these need."""
    values, kept = program.values, list[Line]()
    live = {values[number].memory for number in made}
    for line in reversed(program.lines):
        results = {values[number].memory for number in line.results}
        if also(line) or (results | memory_written(line, values)) & live:
            live |= {values[number].memory for number in line.reads} | results
            kept.append(line)
    return kept[::-1]


def before(lines: list[Line], values: list[Value]) -> list[int]:
    """For each line that is no view, the lines that must run before it: its arguments, and conflicts of memory.

    The lines are a set of bits. Views are left out of the numbers: what needs a view needs what made its memory. Checks
    and draws stay in their order. So do writes to memory from outside and lines that may raise an error, so that an
    error leaves what it would leave in the program.
    """
    made: dict[int, int] = {}
    writers: dict[int, int] = {}                           # the last line that wrote each memory
    readers: dict[int, int] = {}                           # the lines that have read each memory since then
    ordered, raising, lasting, result = 0, 0, 0, list[int]()
    for line in lines:
        if is_view(line, values):
            made.update(dict.fromkeys(line.results, made.get(line.reads[0], 0)))
            continue
        bit, needs = 1 << len(result), 0
        for number in line.reads:
            needs |= made.get(number, 0)
        read, written = memory_read(line, values), memory_written(line, values)
        for memory in read:
            needs |= writers.get(memory, 0)
            readers[memory] = readers.get(memory, 0) | bit
        for memory in written:
            needs |= writers.get(memory, 0) | readers.get(memory, 0)
            writers[memory], readers[memory] = bit, 0
            if values[memory].source == "outside":
                needs |= ordered | raising
                lasting |= bit
        for number in line.results:
            made[number] = bit
            if values[number].is_view:
                needs |= writers.get(values[number].memory, 0)
            else:
                writers[number] = bit
        if draws(line) or checks(line):
            needs |= ordered | lasting
            ordered = bit
        elif may_raise(line):
            needs |= lasting
            raising |= bit
        result.append(needs & ~bit)
    return result


def sources_of(program: Program, sources: Sequence[int]) -> list[set[int]]:
    """For each output of a program, on which of the values `sources` it depends, as places among them."""
    values = program.values
    depends: dict[int, set[int]] = {values[number].memory: {place} for place, number in enumerate(sources)}
    for line in program.lines:
        found = set[int]().union(*[depends.get(values[number].memory, set()) for number in line.reads])
        for memory in {values[number].memory for number in line.results} | memory_written(line, values):
            depends[memory] = depends.get(memory, set()) | found
    return [depends.get(values[number].memory, set()) for number in program.outputs]


def is_view(line: Line, values: list[Value]) -> bool:
    """Whether a line only looks at memory in another way."""
    views = (line.op.view or line.op is unsafe_view) and not line.write
    return views and all([values[number].is_view for number in line.results])
