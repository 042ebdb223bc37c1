"""The trace below the levels of transforms (`tensors.transforms`): what `vmap` and forward mode compute.

The tape is the lowest transform on the seam. While levels are in effect, tensors still have traced arrays, so the tape
notices a program that looks at numbers. The levels compute with memory: they find tangents by the memory of an array,
and take views by strides. So levels get the NumPy arrays behind the traced ones, and the tape knows a NumPy array by
its memory. A view that no operator has taken becomes a line, by its strides. Memory that the tape does not know was
computed past the seam, and ends the trace.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import user_site
from ...foundations.modes import ThreadState, local
from ...foundations.names import reached
from ...kernels.kinds import replaced
from ...kernels.layout import address, steps, strided
from ...ops.creation import new_full
from ...ops.framework import Op
from ...ops.shape import alias, as_strided
from ...tensors.recording.operands import kept_scalars
from ..program.lines import STEP, Line, Ref, refs
from ..program.sizes import plain as plain_sizes
from ..program.stand_ins import Memory
from ..program.undoing import Undo
from .shaped_by_numbers import is_shaped_by_numbers
from .traced import Traced
from .tracing import Tape

# How an array lies in memory: its place in it, its shape, its strides and its dtype.
_Lie = tuple[int, tuple[int, ...], tuple[int, ...], np.dtype[Any]]


class _Unknown(Exception):
    """Memory that the tape does not know."""


class BelowLevels:
    """The calls of a traced run that levels make. `inside` says whether a level computes, and not the program.

    `by_rule` says whether a rule computes what a level needs, whose results lie as the kernels make them.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape, self.inside, self.by_rule, self.used = tape, False, False, False
        self._known: dict[int, tuple[Memory, dict[_Lie, int]]] = {}        # values, by their memory

    # Between the program and the levels

    def enter(self, interpret: Callable[..., Any], op: Op, call: Callable[..., Any], args: tuple[Any, ...],
              write: bool) -> Any:
        """Have levels interpret a call that the program makes, or a rule for a level."""
        tape = self.tape
        if tape.uses is not None:
            args = plain_sizes(args)
        if tape.numbers is not None:
            args = tape.numbers.plain(args)
        if op.view and not write and type(args[0]) is Traced:                # it is the view of all tangents, too
            return tape.record(op, call, args, False)
        given = self.inner(args)
        self.inside = True
        try:
            found = interpret(op, call, given, write)
        finally:
            self.inside = False
        return self.outer(found)

    def inner(self, array: Any) -> Any:
        """The array behind a traced one, for levels; also inside of lists and tuples."""
        if type(array) is np.ndarray and not self.inside:  # which the program has made of no tensors
            return self.constant(array)
        if type(array) is not Traced:
            return [*map(self.inner, array)] if type(array) is list else (
                tuple(map(self.inner, array)) if type(array) is tuple else array)
        tape = self.tape
        self.used = True
        if tape.deferred.allowed:                          # levels read memory at any time
            tape.deferred.allowed = tape.deferred.active = False
            tape.deferred.make()
        if tape.reason is None:
            self._note(array.like, array.number)
        return array.like

    def outer(self, array: Any) -> Any:
        """The traced array for what a level has made, for the program; also inside of lists and tuples."""
        if self.tape.reason is not None or array is None:
            return array
        if type(array) is not np.ndarray:
            return replaced(array, np.ndarray, self.outer)
        try:
            return self._traced(array)
        except _Unknown:
            self._end()
            return array

    def constant(self, array: Array) -> Array:
        """Note that an array has the same numbers in each run, unless the tape knows its memory."""
        tape = self.tape
        if tape.reason is None and (id(array) in tape._known or self._values_beside(array) is None):
            self._note(array, tape._constant(array).number)
        return array

    # What levels compute

    def record(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        """Make a call, and write it down. Levels give and get NumPy arrays; others, traced ones."""
        tape = self.tape
        if not self.inside:
            return tape.record(op, call, args, write)
        if tape.reason is None and is_shaped_by_numbers(op, args):
            tape.give_up(f"the shape of the result of {op.name} depends on numbers")
        if tape.reason is not None:
            return call(*args)
        try:
            noted = tuple([self._noted(arg) for arg in args])
        except _Unknown:
            self._end()
            return call(*args)
        for ref in [*refs(noted)][:None if op.name.startswith(STEP) else 1] if write else ():
            tape.former.keep(ref.number)
        found = call(*args)
        tape.check_result(op, found)
        if tape.stopped:                                   # since the kernel has looked at a number
            return found
        if write:
            tape.lines.append(Line(op, call, noted, (), False, True, user_site(2)))
            return found
        several = type(found) is tuple
        numbers = []
        for part in found if several else (found,):
            numbers.append(tape._value(part, "line").number)
            self._note(part, numbers[-1])
        tape.lines.append(Line(op, call, noted, tuple(numbers), several, False, user_site(2)))
        return found

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """New memory of zeros, which a level writes to."""
        before, self.inside = self.inside, True
        try:
            beside = self.constant(np.zeros((), dtype))
            return self.record(new_full, new_full.compute, (beside, shape, dtype, 0), False)
        finally:
            self.inside = before

    def alike(self, alone: Array, array: Array) -> None:
        """Note that `alone` is the memory of `array`, whose tangents are found apart."""
        tape = self.tape
        if tape.reason is not None or not alone.size:
            return
        try:
            source = self._traced(array)
        except _Unknown:
            self._end()
            return
        tape.memories.own_as(alone, array)
        number = tape._value(alone, "line").number
        tape.values[number].memory = tape.values[source.number].memory
        tape.lines.append(Line(alias, alias.compute, (source.ref,), (number,), False, False, user_site()))
        self._note(alone, number)

    def owners(self) -> list[Array]:
        """The arrays that own the memory that levels have used."""
        return [owner for owner in [memory() for memory, _ in self._known.values()] if owner is not None]

    def arrays(self, numbers: list[int], alive: list[Traced]) -> list[Array]:
        """The arrays of values: of traced arrays that are alive, or in memory of levels that is alive."""
        found = {array.number: array.like for array in alive}
        if found.keys() >= {*numbers}:
            return [found[number] for number in numbers]
        for memory, known in self._known.values():
            owner = memory()
            if owner is None:
                continue
            for (place, shape, strides, dtype), number in known.items():
                size, start = dtype.itemsize, memory.address + place - address(owner)
                whole = owner if dtype == owner.dtype else _read_as(owner, dtype)
                if whole is not None and number not in found:
                    found[number] = strided(whole, shape, tuple([step // size for step in strides]), start // size)
        return [found[number] for number in numbers]

    # Which value an array is

    def _noted(self, arg: Any) -> Any:
        kind = type(arg)
        if kind is np.ndarray:
            return Ref(self._number(arg))
        return replaced(arg, np.ndarray, lambda part: Ref(self._number(part))) if kind in (list, tuple) else arg

    def _traced(self, array: Array) -> Traced:
        traced = Traced(self.tape, array, self._number(array))
        self.tape._made.append(weakref.ref(traced))
        return traced

    def _values_beside(self, array: Array) -> tuple[Memory, dict[_Lie, int]] | None:
        """The memory of an array, and the values that are known to lie in it; None if the tape does not know it."""
        memory = self.tape.memories.of(array)
        if memory is None:
            return None
        found = self._known.get(memory.key)
        if found is None or found[0] is not memory:
            found = self._known[memory.key] = memory, {}
        return found

    def _note(self, array: Array, number: int) -> None:
        """Note which value an array is."""
        found = self._values_beside(array)
        if found is not None:
            memory, known = found
            known[_lie(array, memory)] = number

    def _number(self, array: Array) -> int:
        """The number of the value that an array is: of a view by strides, if no line has made the array."""
        beside = self._values_beside(array)
        if beside is None:
            if not array.size or id(array) in kept_scalars():
                return self.tape._constant(array).ref.number
            raise _Unknown
        memory, known = beside
        lie = _lie(array, memory)
        found = known.get(lie)
        if found is None:
            found = known[lie] = self._viewed(array, known)
        return found

    def _viewed(self, array: Array, known: dict[_Lie, int]) -> int:
        """A value that is a view of another value in its memory."""
        tape, size = self.tape, array.itemsize
        source = next((number for (*_, dtype), number in known.items() if dtype == array.dtype), None)
        if source is None or any([stride % size for stride in array.strides]):
            raise _Unknown
        whole = tape.values[source].like
        number = tape._value(array, "line").ref.number
        start = address(tape.values[number].like) - address(whole)
        args = (Ref(source), array.shape, steps(array), start // size, steps(whole))
        tape.lines.append(Line(as_strided, as_strided.compute, args, (number,), False, False, user_site()))
        return number

    def _end(self) -> None:
        self.tape.give_up("vmap or forward mode computes something without an operator")


def stand(below: BelowLevels, undo: Undo) -> None:
    """Have the tape stand on the seam, and below all levels, until the exit of `undo`."""
    thread = local.thread
    undo.note(partial(_leave, thread))
    below.inside = below.by_rule = False
    thread.below, thread.transform = below, below.tape.record


def _leave(thread: ThreadState) -> None:
    thread.below = None
    thread.transform = reached("tensors.transforms.levels").interpret if thread.levels else None


def _read_as(owner: Array, dtype: np.dtype[Any]) -> Array | None:
    """The memory of an array by elements of another type; None if the memory has gaps or another order. A kernel may
    have made the array by elements of another type of the same size, as `where` does.
    """
    if dtype.itemsize == owner.itemsize:
        return owner.view(dtype)
    return owner.reshape(-1, order="A").view(dtype) if owner.flags.forc else None


def _lie(array: Array, memory: Memory) -> _Lie:
    return address(array) - memory.address, array.shape, array.strides, array.dtype
