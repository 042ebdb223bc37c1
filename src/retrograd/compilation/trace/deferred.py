"""Elementwise calls on large arrays that a traced run puts off, and makes together when it ends.

The run gives such a call memory for its result, and goes on. When the run is over, a plan computes what is still alive,
in blocks that fit the processor's cache. Values that nobody needs are never computed. If something reads the numbers
earlier, or writes memory, all calls that were put off are made first. So nobody sees memory without its numbers.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ...kernels.kinds import replaced
from ...kernels.layout import owner_of
from ...ops.basic import cast_in, clone, copy
from ...ops.creation import new_full
from ...ops.framework import Op, called_as_ufunc
from ...ops.reductions import mean_all, sum_all
from ..execution.again import quiet
from ..execution.numpy_code import NumPyCode
from ..execution.plan import planned
from ..passes.effects import draws_numbers, takes_all_numbers
from ..passes.fusing import ALSO_ELEMENTWISE, LONGEST
from ..program.lines import Line, Program, Ref, Value, last_uses

# Calls with arrays of at least so many bytes are put off.
LARGE = 1 << 20
# A plan makes calls whose results have at least so many bytes. Others are made one by one, which needs no code.
PLANNED = 1 << 24
# If calls wait for more bytes than this that the run has computed, they are made, since the run may need the memory.
HELD = 1 << 27
# Kernels compute these types without errors, whatever the numbers are. Of integers this is not so.
_KINDS = frozenset("?fdFD")


class Deferred:
    """The calls of one traced run that were put off. `values` are those of its tape.

    `begin` need only be called if this is `active`: from the first large memory on, unless it is not `allowed`.
    """

    def __init__(self, values: list[Value]) -> None:
        self.values, self.allowed, self.active = values, True, False
        self._lock = RLock()                               # other threads may look at tensors of the run
        self._lines: list[Line] = []                       # the calls, and the views of their results
        self._results: set[int] = set()                    # the numbers of what the lines make
        self._given: dict[int, Array] = {}                 # the other arrays that the lines read
        self._held = 0                                     # the bytes of the results that the run has computed
        self._memory: dict[int, tuple[int, weakref.ref[Array]]] = {}    # of the results, by the identity of the array

    def begin(self, op: Op, args: Sequence[Any], write: bool) -> Array | None:
        """Memory for the result, if a call can be put off. Otherwise the numbers that the call reads are there, and
        the calls that waited for numbers that the call writes over.
        """
        if write:
            self.make()
            return None
        large = any([type(arg) is np.ndarray and arg.nbytes >= LARGE for arg in args])
        if not (self._lines or large) or op.view:
            return None
        with self._lock:                                   # waits for another thread that makes them
            waits = any(map(self._is_empty, _arrays(args)))
            result = _promised(op, args) if waits or large else None
            if result is None and waits and op is not new_full:             # which uses nothing of its argument
                self.make()
            return result

    def note(self, line: Line, args: Sequence[Any], promised: Array | None) -> None:
        """Note a line of the tape that was put off, or that views the results of others."""
        with self._lock:
            if promised is not None:
                self._memory[id(promised)] = line.results[0], weakref.ref(promised)
            elif not (self._lines and any(map(self._is_empty, _arrays(args)))):
                return
            for ref, array in zip(line.args, args):
                if type(ref) is Ref and ref.number not in self._results and ref.number not in self._given:
                    self._given[ref.number] = array
                    self._held += array.nbytes if self.values[ref.number].source == "line" else 0
            self._lines.append(line)
            self._results.update(line.results)
            if self._held > HELD:
                self.make()

    def make_for(self, array: Array) -> None:
        """Make what was put off, if an array has no numbers yet."""
        with self._lock:
            if self._is_empty(array):
                self.make()

    def make(self, last: bool = False) -> None:
        """Make all calls that were put off, and whose results are alive. `last` says that the run is over."""
        with self._lock:
            if not self._lines:
                return
            given = self._given
            wanted = {number: array for number, ref in self._memory.values() if (array := ref()) is not None}
            lines = _needed(self._lines, wanted)
            size = sum([self.values[number].like.nbytes for line in lines for number in line.results])
            context = quiet()
            way = self._planned if last and size >= PLANNED and len(lines) <= LONGEST else _one_by_one
            try:
                context.run(way, lines, given, wanted)
            except Exception:                              # such as MemoryError
                context.run(_one_by_one, lines, given, wanted)
                self._forget()
                raise
            self._forget()                                 # not after an interrupt: the end of the trace makes them

    def _forget(self) -> None:
        """Forget the calls, which were made."""
        self._lines, self._results, self._given, self._held, self._memory = [], set(), {}, 0, {}

    def _is_empty(self, array: Array) -> bool:
        owner = owner_of(array)
        found = self._memory.get(id(owner))
        return found is not None and found[1]() is owner

    def _planned(self, lines: list[Line], given: dict[int, Array], wanted: dict[int, Array]) -> None:
        """Make lines with a plan, which is of no further use."""
        made = [self.values[number] for line in lines for number in line.results]
        place = {number: i for i, number in enumerate([*given, *[value.number for value in made]])}
        values = [Value(place[number], array, place[number], "outside" if any(array.strides) else "constant")
                  for number, array in given.items()]
        inputs = [value.number for value in values if value.source == "outside"]
        values += [Value(place[value.number], value.like, place[value.memory], "line") for value in made]
        lines = [line._replace(args=replaced(line.args, Ref, lambda ref: Ref(place[ref.number])),
                               results=tuple([place[number] for number in line.results])) for line in lines]
        program = Program(values, lines, [*range(len(given))], [place[number] for number in wanted])
        plan = planned(program, inputs, False)
        arrays = [*wanted.values()]
        memory = dict(zip(plan.program.outputs, arrays))
        ready = NumPyCode(plan.program, plan.units, plan.given, plan.passed.stacks, memory).ready
        whole = [*given.values()]
        for found, array in zip(ready.run(*[whole[number] for number in plan.given]), arrays):
            if not np.may_share_memory(found, array):
                array[...] = found


def _needed(lines: list[Line], wanted: dict[int, Array]) -> list[Line]:
    """The lines without those whose results nobody uses."""
    live, kept = {*wanted}, []
    for line in reversed(lines):
        if not live.isdisjoint(line.results):
            live.update(line.reads)
            kept.append(line)
    return kept[::-1]


def _one_by_one(lines: list[Line], given: dict[int, Array], wanted: dict[int, Array]) -> None:
    """Make lines in their order."""
    last = last_uses(lines)
    found: dict[int, Array] = {**given}
    for place, line in enumerate(lines):
        args, kernel = replaced(line.args, Ref, lambda ref: found[ref.number]), line.op.kernel
        memory = wanted.get(line.results[0])
        if memory is not None and called_as_ufunc(kernel):
            made = kernel(*args, out=memory)
        else:
            made = kernel(*args)
            if memory is not None:
                memory[...] = made
                made = memory
        found.update(zip(line.results, made if line.several else (np.asarray(made),)))
        for number in {*line.reads, *line.results}:
            if last[number] == place:
                del found[number]


def _arrays(args: Sequence[Any]) -> list[Array]:
    """The arrays among arguments, also inside of lists and tuples."""
    found = []
    for arg in args:
        kind = type(arg)
        if kind is np.ndarray:
            found.append(arg)
        elif kind is list or kind is tuple:
            found += _arrays(arg)
    return found


def _promised(op: Op, args: Sequence[Any]) -> Array | None:
    """Memory for the result of a call that can be put off: no numbers raise an error, and the result lies row by row,
    since each operand does, or is one number repeated.
    """
    arrays = [arg for arg in args if type(arg) is np.ndarray]
    if not all([array.dtype.char in _KINDS for array in arrays]):
        return None
    spread = [array for array in arrays if not array.flags.c_contiguous]
    total = op is sum_all or op is mean_all
    if total:
        single = args[1] is None and not spread and (arrays[0].dtype is F32 or arrays[0].dtype is F64)
    else:
        single = _is_elementwise(op, args) and not any([any(array.strides) for array in spread])
    if not single:
        return None
    one = op.compute(*[np.ones((1,) * arg.ndim, arg.dtype) if type(arg) is np.ndarray else arg for arg in args])
    shape = () if total else np.broadcast_shapes(*[array.shape for array in arrays])
    return np.empty(shape, one.dtype) if one.dtype.char in _KINDS else None


def _is_elementwise(op: Op, args: Sequence[Any]) -> bool:
    """Whether a call computes each element from those in the same place, and raises no errors."""
    if op in (clone, copy, cast_in):                        # whose last argument says how the result lies
        return type(args[-1]) is str
    return (takes_all_numbers(op) or op in ALSO_ELEMENTWISE) and not draws_numbers(op)
