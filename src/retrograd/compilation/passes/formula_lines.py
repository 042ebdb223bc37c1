"""The formula of an optimizer as lines of arithmetic: it is computed once, on objects that write the lines.

The objects stand for tensors and for the options of the group. Numbers that follow from options are computed when the
options change, and the lines read them from memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.elementwise.arithmetic import add, div, mul, neg, sub
from ...ops.elementwise.elementary import sqrt
from ...ops.framework import Op
from ...optim.formula import ElementsOptimizer
from ...optim.option_memory import OptionMemory
from ..program.lines import Ref
from .line_writer import LineWriter


class Number:
    """A number that follows from options: the present value, and how it is computed from them."""

    __slots__ = ("compute", "key", "value")

    def __init__(self, value: float, key: Any, compute: Callable[[dict[str, Any]], float]) -> None:
        self.value, self.key, self.compute = value, key, compute

    def _with(self, what: Callable[[Any, Any], Any], first: Any, second: Any) -> Number:
        key = what, _key(first), _key(second)
        return Number(what(_value(first), _value(second)), key,
                      lambda options: what(_computed(first, options), _computed(second, options)))

    def __neg__(self) -> Number:
        return self._with(operator.mul, -1.0, self)

    def __sub__(self, other: Any) -> Number:
        return self._with(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Number:
        return self._with(operator.sub, other, self)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == other)

    def __gt__(self, other: float) -> bool:
        return self.value > other

    __hash__ = None  # type: ignore[assignment]


def _value(number: Any) -> Any:
    return number.value if type(number) is Number else number


def _key(number: Any) -> Any:
    return number.key if type(number) is Number else number


def _computed(number: Any, options: dict[str, Any]) -> Any:
    return number.compute(options) if type(number) is Number else number


def option_numbers(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a group with a `Number` in the place of each float."""
    return {name: Number(value, name, operator.itemgetter(name)) if type(value) is float else value
            for name, value in options.items()}


class Lines:
    """A tensor whose methods write lines. They round as those of `Elements` do."""

    __slots__ = ("memory", "ref", "writer")

    def __init__(self, writer: LineWriter, memory: OptionMemory | None, ref: Ref) -> None:
        self.writer, self.memory, self.ref = writer, memory, ref

    def _operand(self, other: Any) -> Ref:
        """A tensor or a number as a value."""
        if type(other) is Lines:
            return other.ref
        dtype = self.writer.like(self.ref).dtype
        if type(other) is not Number:
            return self.writer.constant(other, dtype)
        assert self.memory is not None
        compute, names = other.compute, tuple(self.memory.options)
        array, = self.memory.numbers(
            dtype, other.key, lambda *options: (compute(dict(zip(names, options, strict=True))),), names)
        return self.writer.outside(array)

    def _made(self, op: Op, *others: Any) -> Lines:
        like = self.writer.like(self.ref)
        made = self.writer.call(op, self.ref, *map(self._operand, others), like=np.empty_like(like))
        return Lines(self.writer, self.memory, made)

    def _written(self, op: Op, other: Any) -> Lines:
        self.writer.write(op, self.ref, self._operand(other))
        return self

    def __neg__(self) -> Lines:
        return self._made(neg)

    def sqrt(self) -> Lines:
        return self._made(sqrt)

    def add(self, other: Any, alpha: Any = 1) -> Lines:
        return self._made(add, _times(other, alpha))

    def add_(self, other: Any, alpha: Any = 1) -> Lines:
        return self._written(add, _times(other, alpha))

    def mul(self, other: Any) -> Lines:
        return self._made(mul, other)

    def mul_(self, other: Any) -> Lines:
        return self._written(mul, other)

    def div(self, other: Any) -> Lines:
        return self._made(div, other)

    def addcmul(self, first: Lines, second: Lines, value: Any = 1) -> Lines:
        return self.add(first.mul(second), value)

    def addcmul_(self, first: Lines, second: Lines, value: Any = 1) -> Lines:
        return self.add_(first.mul(second), value)

    def addcdiv_(self, first: Lines, second: Lines, value: Any = 1) -> Lines:
        return self.add_(first.div(second), value)

    def lerp_(self, end: Lines, weight: Any) -> Lines:
        way = end._made(sub, self)
        if abs(_value(weight)) < 0.5:
            return self.add_(way, weight)
        self.writer.assign(sub, self.ref, end.ref, way.mul(1 - weight).ref)
        return self


def _times(values: Lines, factor: Any) -> Lines:
    return values if type(factor) is int and factor == 1 else values.mul(factor)


def group_step(w: LineWriter, rows: list[tuple[tuple[str, ...], list[Ref], list[Ref]]], optimizer: ElementsOptimizer,
               options: OptionMemory | dict[str, Any], lr: tuple[Any, ...]) -> bool:
    """Write the lines of the steps of the parameters of a group, unless numbers of the state decide about them."""
    if lr or not optimizer.writes_lines or any([w.like(ref).dtype.char not in "fd" for _, refs, _ in rows
                                                for ref in refs]):
        return False
    memory = options if isinstance(options, OptionMemory) else None
    group = options if isinstance(options, dict) else option_numbers(options.options)
    for names, refs, (step,) in rows:
        w.write(add, step, w.constant(1, w.like(step).dtype))
        optimizer._compute([Lines(w, memory, ref) for ref in refs], names, None, group)
    return True
