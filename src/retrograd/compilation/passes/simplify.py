"""Passes over a traced program that change no result: constants, common subexpressions, dead code.

Each pass takes a program and returns a program. The values keep their numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from ...kernels.kinds import replaced
from ...ops.basic import clone, copy
from ...ops.creation import fresh, new_full
from ...ops.elementwise.arithmetic import mul
from ..program.lines import Line, Program, Ref, Value, called
from .effects import all_memory_written, checks, draws, is_view, memory_read, memory_written, needed
from .fusing import alike, same_place

# The numbers of constants that are looked at.
_SMALL = 4096


def with_constants(program: Program) -> Program:
    """The program without the lines that compute the same numbers in each run: those of constants only. Equal lines
    give one constant.
    """
    values, kept = program.values, list[Line]()
    found: dict[Hashable, Line] = {}
    instead: dict[int, int] = {}
    written = all_memory_written(program)
    fixed = {value.number for value in values if value.source == "constant" and value.memory not in written}
    escaping = {values[number].memory for number in program.outputs}
    for line in program.lines:
        line = with_instead(line, instead)
        memory = {values[number].memory for number in line.results}
        known = (line.op is new_full or fixed.issuperset(line.reads)) and not memory & escaping
        if line.write or draws(line) or checks(line) or not known or memory & written:
            kept.append(line)
            continue
        key = _key(line)
        earlier = line if key is None else found.setdefault(key, line)
        if earlier is not line:
            instead.update(zip(line.results, earlier.results, strict=True))
            continue
        fixed.update(line.results)
        for number, array in zip(line.results, called(line, line.call, lambda n: values[n].like), strict=True):
            values[number].source, values[number].like = "constant", array
    return with_others(program, kept, instead)


def with_equal_constants(program: Program) -> Program:
    """The program with one constant in place of small ones that are equal in all numbers and in their geometry.

    Constants with views stay as they are, since a view lies in the memory of its constant.
    """
    values = program.values
    changing = all_memory_written(program) | {values[number].memory for number in program.outputs}
    changing |= {value.memory for value in values if value.is_view}
    found: dict[Hashable, int] = {}
    instead: dict[int, int] = {}
    for value in values:
        like = value.like
        if value.source == "constant" and value.memory not in changing and (
                type(like) is np.ndarray and like.size <= _SMALL):
            same = found.setdefault((like.dtype, like.shape, like.strides, like.tobytes()), value.number)
            if same != value.number:
                instead[value.number] = same
    return with_others(program, [with_instead(line, instead) for line in program.lines], instead)


def without_detours(program: Program) -> Program:
    """The program without copies that nobody needs, without views of the same geometry, and without products with ones.
    """
    values = program.values
    written = all_memory_written(program)
    outputs = {values[number].memory for number in program.outputs}
    # Memory that results of lines that are no views share: nobody knows how they lie in other memory.
    shared = {values[number].memory for line in program.lines if not line.op.view for number in line.results
              if values[number].is_view}
    instead: dict[int, int] = {}
    kept = []
    for line in program.lines:
        line = with_instead(line, instead)
        same = None if line.write else _same_numbers(line, values)
        if same is None or line.results[0] in shared or not _may_share(values, same, line.results[0], written, outputs):
            kept.append(line)
            continue
        instead[line.results[0]] = same
        if values[line.results[0]].memory in outputs:
            outputs.add(values[same].memory)
    return with_others(program, kept, instead)


def with_instead(line: Line, instead: dict[int, int]) -> Line:
    """The line with other values in place of some of its arguments."""
    if instead.keys().isdisjoint(line.reads):
        return line
    return line._replace(args=replaced(line.args, Ref, lambda ref: Ref(instead.get(ref.number, ref.number))))


def with_others(program: Program, lines: list[Line], instead: dict[int, int]) -> Program:
    """The program with these lines, and with other values instead of some. Views of values that others stand for are
    views of those, at their places in memory.
    """
    values = program.values
    owners = {number: values[same].memory for number, same in instead.items() if values[number].memory == number}
    for number, same in instead.items():
        if values[number].source != "line":                # it lies nowhere else
            values[number].like = values[same].like
    moved = set()
    for value in values:
        while value.memory in owners:
            value.memory = owners[value.memory]
            moved.add(value.number)
    for line in lines:
        if line.op.view and not moved.isdisjoint(line.results):
            found = called(line, line.call, lambda number: values[number].like)
            for number, like in zip(line.results, found, strict=True):
                values[number].like = like
    return program._replace(lines=lines, outputs=[instead.get(number, number) for number in program.outputs])


def _may_share(values: list[Value], same: int, copied: int, written: set[int], outputs: set[int]) -> bool:
    """Whether a value may have the memory of the value that it is a copy of.

    The program sees the memory of outputs, so two outputs never share memory that they did not share.
    """
    source, result = values[same], values[copied]
    if source.memory == result.memory:
        return True
    if {source.memory, result.memory} & written:
        return False
    return result.memory not in outputs or (
        values[source.memory].source == "line" and source.memory not in outputs)


def _same_numbers(line: Line, values: list[Value]) -> int | None:
    """The argument that the result of a line equals, in all numbers and in its geometry; or None."""
    candidates: list[int] = []
    if line.op in (copy, clone) or line.op.view:
        candidates = line.reads
    elif line.op is mul and values[line.results[0]].like.dtype.kind != "c":            # inf + 0j times 1 is inf + nanj
        one, other = line.reads
        candidates = [a for a, b in ((one, other), (other, one)) if _is_one(values[b])]
    if not candidates or line.several:
        return None
    result = values[line.results[0]]
    for number in candidates:
        if alike(values[number], result) and (not line.op.view or same_place(values[number], result)):
            return number
    return None


def _is_one(value: Value) -> bool:
    """Whether a value is 1 everywhere, in each run. Of large arrays, only those of one number are looked at."""
    like = value.like
    if value.source != "constant" or not like.size or (like.size > _SMALL and any(like.strides)):
        return False
    return bool((like == 1).all()) if any(like.strides) else bool(like[(0,) * like.ndim] == 1)


def with_shared_results(program: Program) -> Program:
    """The program with one line where several lines call the same operator with the same arguments.

    Memory that a line writes holds other numbers from then on, so its writes are counted.
    """
    values, writes = program.values, Counter[int]()
    written, outputs = all_memory_written(program), {*program.outputs}
    changing = written | {values[number].memory for number in outputs}
    found: dict[Hashable, Line] = {}
    instead: dict[int, int] = {}
    kept = []
    for line in program.lines:
        line = with_instead(line, instead)
        key = None if _stands_for_itself(line, values, outputs, changing) else _key(line)
        numbers = [(memory, writes[memory]) for memory in sorted(memory_read(line, values) & written)]
        earlier = line if key is None else found.setdefault((key, *numbers), line)
        if earlier is line:
            kept.append(line)
            writes.update(memory_written(line, values))
        else:
            instead.update(zip(line.results, earlier.results, strict=True))
    return with_others(program, kept, instead)


def without_unused(program: Program) -> Program:
    """The program without lines whose results nobody uses."""
    return program._replace(lines=needed(program))


def _stands_for_itself(line: Line, values: list[Value], outputs: set[int], changing: set[int]) -> bool:
    """Whether no other line may stand for a line: it writes, draws, checks, makes memory that is `changing` or that the
    program sees, or makes an output.
    """
    if line.write or draws(line) or checks(line) or line.op is fresh or not outputs.isdisjoint(line.results):
        return True
    return not is_view(line, values) and bool({values[number].memory for number in line.results} & changing)


def _key(line: Line) -> Hashable | None:
    """What two lines with the same results have in common; None if the options cannot be compared."""
    key = (line.op, _typed(line.args))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _typed(value: Any) -> Any:
    """An argument together with its type, since 1, 1.0 and True are equal, and with the sign of a zero."""
    kind = type(value)
    if kind is Ref or value is None or kind is str:
        return value                                       # which equals nothing that begins with a type
    if kind is list or kind is tuple:
        return kind, *[_typed(part) for part in value]
    return kind, value, str(value) if isinstance(value, float) else None
