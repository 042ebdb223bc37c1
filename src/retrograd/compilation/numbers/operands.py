"""Numbers of the program's state as operands of operators: arrays without dimensions, which each repetition writes.

A counter is another number in each call, so a plan cannot have the number in its lines. Each number that a line takes
gets memory of its own. Before each run of the plan, the recipe computes the number from what the guard has found, and
writes it there. A line copies the memory, so a backward pass that runs later has the number of its own call.

Operators that take numbers as options are taken apart into operators that take arrays. The results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.modes import local
from ...ops.basic import clone
from ...ops.elementwise.arithmetic import (
    add,
    add_scaled,
    addcdiv,
    addcmul,
    div,
    fill,
    fill_tensor,
    mul,
    rsub,
    rsub_scaled,
    sub,
    sub_scaled,
)
from ...ops.framework import Op
from ...tensors.recording.inplace import write_over
from ...tensors.recording.overlaps import check_overlaps
from ..program.expressions import Expression
from ..program.stand_in_numbers import STAND_INS

# The dtypes of operands: a number becomes an element of these without an error, or with one that declines the call.
_KINDS = "fdl"
# What `taken_apart` returns for a call that it does not take apart.
WHOLE: Any = object()


class Operands:
    """The numbers of one trace that operators take."""

    def __init__(self, tape: Any) -> None:
        self.tape = tape
        self._known: dict[tuple[int, np.dtype[Any]], tuple[Expression, Array, Any]] = {}

    def find(self, expression: Expression, dtype: np.dtype[Any], may_make: bool) -> Any:
        """A traced array that holds a number in each repetition; None if there is none and none can be made."""
        found = self._known.get((id(expression), dtype))
        if found is not None:
            return found[2]
        if not may_make or expression.of_tape or expression.is_late or dtype.char not in _KINDS or local.thread.levels:
            return None
        if dtype.char == "l" and not -2**63 <= expression.value < 2**63:
            return None
        with np.errstate(over="ignore"):
            memory = np.array(expression.value, dtype)
        traced = self.tape.record(clone, clone.compute, (self.tape.outside(memory), "C"), False)
        if isinstance(traced, np.ndarray):                 # another thread has given the tape up
            return None
        traced.like.flags.writeable = False                # the sign of a number for `is_number`
        self._known[id(expression), dtype] = expression, memory, traced
        return traced

    @property
    def expressions(self) -> list[Expression]:
        """What the numbers are computed from."""
        return [expression for expression, _, _ in self._known.values()]

    @property
    def memory(self) -> list[Array]:
        """Where the plan reads the numbers."""
        return [array for _, array, _ in self._known.values()]

    def let_go(self) -> None:
        """Let go of the traced arrays."""
        self._known = {}


class Call:
    """A call of an operator while it is taken apart. `dtype` is that of all its arrays."""

    def __init__(self, tape: Any, dtype: np.dtype[Any]) -> None:
        self.tape, self.dtype = tape, dtype

    def number(self, value: Any) -> Any:
        """A number as an array."""
        return value.as_operand(self.dtype) if type(value) in STAND_INS else np.array(value, self.dtype)

    def of(self, op: Op, *args: Any) -> Any:
        """The result of an operator."""
        return self.tape.record(op, op.compute, args, False)


_Parts = tuple[Op, tuple[Any, ...]]                        # the last operator, and its arguments


def _add_scaled(call: Call, x: Any, y: Any, alpha: Any) -> _Parts:
    return add, (x, call.of(mul, y, call.number(alpha)))


def _sub_scaled(call: Call, x: Any, y: Any, alpha: Any) -> _Parts:
    return sub, (x, call.of(mul, y, call.number(alpha)))


def _rsub_scaled(call: Call, x: Any, y: Any, alpha: Any) -> _Parts:
    return sub, (y, call.of(mul, x, call.number(alpha)))


def _rsub(call: Call, x: Any, number: Any, alpha: Any) -> _Parts:
    return sub, (call.number(number), call.of(mul, x, call.number(alpha)))


def _addcmul(call: Call, x: Any, y: Any, z: Any, value: Any) -> _Parts:
    return add, (x, call.of(mul, call.of(mul, y, call.number(value)), z))


def _addcdiv(call: Call, x: Any, y: Any, z: Any, value: Any) -> _Parts:
    return add, (x, call.of(div, call.of(mul, y, call.number(value)), z))


def _fill(call: Call, x: Any, value: Any) -> _Parts:
    return fill_tensor, (x, call.number(value))


# By kernel, since the op that is written over its operand may be another op.
_APART: dict[Any, Callable[..., _Parts]] = {
    add_scaled.kernel: _add_scaled, sub_scaled.kernel: _sub_scaled, rsub_scaled.kernel: _rsub_scaled,
    rsub.kernel: _rsub, addcmul.kernel: _addcmul, addcdiv.kernel: _addcdiv, fill.kernel: _fill}


_OPTIONS = STAND_INS | {int, float}


def _numbers(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.like


def taken_apart(tape: Any, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The result of a call with numbers of the state as options, or `WHOLE` if it is not taken apart."""
    apart = _APART.get(op.kernel)
    if apart is None or not any([type(arg) in STAND_INS for arg in args]):
        return WHOLE
    target, own = (args[0], args[1:]) if write else (None, args)
    usual = (type(call) is partial and call.func is write_over) if write else call == op.compute
    arrays, options = [*map(_numbers, own[:op.arity])], own[op.arity:]
    dtype = arrays[0].dtype
    if not usual or dtype.char not in "fd" or any([array.dtype != dtype for array in arrays]) or not (
            write or all([array.flags.c_contiguous for array in arrays])):   # else the parts may lie otherwise
        return WHOLE
    of = Call(tape, dtype)
    if any([type(each) not in _OPTIONS or of.number(each) is None for each in options]):
        return WHOLE
    if target is not None:
        if not _numbers(target).flags.writeable:           # some of its elements coincide
            return WHOLE
        check_overlaps(op, _numbers(target), arrays)
    last, given = apart(of, *own)
    if target is None:
        return of.of(last, *given)
    return tape.record(last, partial(write_over, last, None), (target, *given), True)
