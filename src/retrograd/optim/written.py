"""Objects that write down what a formula computes: tensors, and the numbers that follow from options.

The formula of an optimizer is computed once on such objects. `quick_code` makes Python code from what they write, and
the compiler makes lines of a plan. A formula that asks for more is computed with tensors instead. This module must not
know any single optimizer.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..kernels.elementwise.choosing import limited, where_into
from ..ops.elementwise.arithmetic import add, div, mul, neg, pow_, reciprocal, sub
from ..ops.elementwise.comparison import gt, lt, maximum
from ..ops.elementwise.elementary import abs as absolute, sign, sqrt
from ..ops.framework import Op


class Unwritten(TypeError):
    """A formula asks for what cannot be written down, such as the numbers of a tensor."""


class Number:
    """A number that follows from options or from the rates of a step: its text, and its present value.

    A value of None is not known yet. `compared` collects the comparisons with their outcomes.
    """

    __slots__ = ("compared", "text", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: float | None, text: str, compared: list[str]) -> None:
        self.value, self.text, self.compared = value, text, compared

    def _with(self, what: Callable[[Any, Any], Any], sign: str, first: Any, second: Any) -> Any:
        if type(first) is Written or type(second) is Written:
            return NotImplemented
        x, y = value_of(first), value_of(second)
        return Number(None if x is None or y is None else what(x, y), f"({_text(first)} {sign} {_text(second)})",
                      self.compared)

    def _compared(self, what: Callable[[Any, Any], bool], sign: str, other: Any) -> bool:
        x, y = self.value, value_of(other)
        if x is None or y is None:
            raise Unwritten("a formula compares a number that is not known before the step")
        outcome = what(x, y)
        text = f"{self.text} {sign} {_text(other)}"
        self.compared.append(text if outcome else f"not {text}")
        return outcome

    def __neg__(self) -> Number:
        return Number(None if self.value is None else -self.value, f"(-{self.text})", self.compared)

    def __abs__(self) -> Number:
        return Number(None if self.value is None else abs(self.value), f"abs({self.text})", self.compared)

    def sqrt(self) -> Number:
        return Number(None if self.value is None else math.sqrt(self.value), f"sqrt({self.text})", self.compared)

    def __add__(self, other: Any) -> Any:
        return self._with(operator.add, "+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._with(operator.add, "+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._with(operator.sub, "-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(operator.sub, "-", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._with(operator.mul, "*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with(operator.mul, "*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, "/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, "/", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._with(operator.pow, "**", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._with(operator.pow, "**", other, self)

    def __eq__(self, other: object) -> bool:
        return self._compared(operator.eq, "==", other)

    def __lt__(self, other: Any) -> bool:
        return self._compared(operator.lt, "<", other)

    def __le__(self, other: Any) -> bool:
        return self._compared(operator.le, "<=", other)

    def __gt__(self, other: Any) -> bool:
        return self._compared(operator.gt, ">", other)

    def __ge__(self, other: Any) -> bool:
        return self._compared(operator.ge, ">=", other)

    def __bool__(self) -> bool:
        return self._compared(operator.ne, "!=", 0)

    def __float__(self) -> float:
        raise Unwritten("a formula hands a number on to a function")


def value_of(number: Any) -> Any:
    """The present value of a number."""
    return number.value if type(number) is Number else number


def _text(number: Any) -> str:
    return number.text if type(number) is Number else repr(number)


def symbolic(value: Any, text: str, compared: list[str], known: bool = True) -> Any:
    """A value with a `Number` in place of each float, also inside of tuples. `compared` collects what else it is.

    `known` says whether the numbers are known before the step.
    """
    if type(value) is float:
        compared.append(f"{text} is not None")
        return Number(value if known else None, text, compared)
    if type(value) is tuple:
        compared.append(f"len({text}) == {len(value)}")
        return tuple([symbolic(part, f"{text}[{place}]", compared, known) for place, part in enumerate(value)])
    if value is None or type(value) is bool:
        compared.append(f"{text} is {value}")
    elif type(value) in (int, str):
        compared.append(f"{text} == {value!r}")
    else:
        raise Unwritten(f"a formula reads an option of the type {type(value).__name__}")
    return value


class Options:
    """The options of a group as a formula reads them: with a `Number` in place of each float."""

    __slots__ = ("compared", "options")

    def __init__(self, options: dict[str, Any], compared: list[str]) -> None:
        self.options, self.compared = options, compared

    def __getitem__(self, name: str) -> Any:
        value = self.options[name]
        return value if type(value) in (Written, Number) else symbolic(value, option_text(name), self.compared)

    def __contains__(self, name: object) -> bool:
        self.compared.append(f"{name!r} {'in' if name in self.options else 'not in'} options")
        return name in self.options

    def __iter__(self) -> Any:
        raise Unwritten("a formula goes through all options")

    def __getattr__(self, name: str) -> Any:
        raise Unwritten(f"a formula uses {name} of the options, which is not written down")

    def get(self, name: str, default: Any = None) -> Any:
        if name in self.options:
            return self[name]
        self.compared.append(f"{name!r} not in options")
        return default


def option_text(name: str) -> str:
    """The text of an option."""
    return f"options[{name!r}]"


@lru_cache(maxsize=512)
def computing(*texts: str) -> Callable[[Any, Any], tuple[Any, ...]]:
    """A function of the options and the rates that computes what the texts say."""
    text = f"lambda options, rates: ({''.join([f'{text}, ' for text in texts])})"
    made: Callable[[Any, Any], tuple[Any, ...]] = eval(text, {"__name__": __name__, "sqrt": math.sqrt})
    return made


class Shape:
    """The shape of a `Written` tensor, which only `new_ones` takes."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise Unwritten("a formula compares a shape")

    def __bool__(self) -> bool:
        raise Unwritten("a formula looks at a shape")


class Written:
    """A tensor whose methods write down what they compute. They round as those of tensors do.

    The writer has the methods `call`, `write`, `copy`, `made` and `operand`, which take and return references.
    """

    __slots__ = ("ref", "writer")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, writer: Any, ref: Any) -> None:
        self.writer, self.ref = writer, ref

    def __getattr__(self, name: str) -> Any:
        raise Unwritten(f"a formula uses {name}, which is not written down")

    def __bool__(self) -> bool:
        raise Unwritten("a formula looks at the numbers of a tensor")

    def __eq__(self, other: object) -> bool:
        raise Unwritten("a formula compares a tensor")

    def _operand(self, other: Any) -> Any:
        return self.writer.operand(self.ref, other.ref if type(other) is Written else other)

    def _call(self, op: Op, *others: Any) -> Written:
        return Written(self.writer, self.writer.call(op, self.ref, *map(self._operand, others)))

    def _made(self, kernel: Callable[..., Any], *others: Any) -> Written:
        """What a kernel makes in new memory."""
        return Written(self.writer, self.writer.made(kernel, self.ref, *map(self._operand, others)))

    def _write(self, op: Any, *others: Any) -> Written:
        self.writer.write(op, self.ref, self.ref, *map(self._operand, others))
        return self

    def __neg__(self) -> Written:
        return self._call(neg)

    def __rsub__(self, other: Any) -> Written:
        return Written(self.writer, self._operand(other))._call(sub, self)

    def __rmul__(self, other: Any) -> Written:
        return self._call(mul, other)

    __mul__ = __rmul__

    def __truediv__(self, other: Any) -> Written:
        return self._call(div, other)

    def __rpow__(self, other: Any) -> Written:
        return Written(self.writer, self._operand(other))._call(pow_, self)

    def abs(self) -> Written:
        return self._call(absolute)

    def sign(self) -> Written:
        return self._call(sign)

    def sqrt(self) -> Written:
        return self._call(sqrt)

    def reciprocal(self) -> Written:
        return self._call(reciprocal)

    def maximum(self, other: Any) -> Written:
        return self._call(maximum, other)

    def add(self, other: Any, alpha: Any = 1) -> Written:
        return self._call(add, _times(other, alpha))

    def add_(self, other: Any, alpha: Any = 1) -> Written:
        return self._write(add, _times(other, alpha))

    def sub(self, other: Any) -> Written:
        return self._call(sub, other)

    def mul(self, other: Any) -> Written:
        return self._call(mul, other)

    def mul_(self, other: Any) -> Written:
        return self._write(mul, other)

    def div(self, other: Any) -> Written:
        return self._call(div, other)

    def addcmul(self, first: Written, second: Written, value: Any = 1) -> Written:
        return self.add(_times(first, value).mul(second))

    def addcmul_(self, first: Written, second: Written, value: Any = 1) -> Written:
        return self.add_(_times(first, value).mul(second))

    def addcdiv_(self, first: Written, second: Written, value: Any = 1) -> Written:
        return self.add_(_times(first, value).div(second))

    def lerp_(self, end: Written, weight: Any) -> Written:
        way = end._call(sub, self)
        if abs(weight) < 0.5:
            return self.add_(way, weight)
        self.writer.write(sub, self.ref, end.ref, way.mul(1 - weight).ref)
        return self

    def copy_(self, other: Written) -> Written:
        self.writer.copy(self.ref, other.ref)
        return self

    def detach(self) -> Written:
        return self

    def clone(self) -> Written:
        return Written(self.writer, self.writer.copied(self.ref))

    def clamp_(self, low: Number, high: Any) -> Written:
        return self._write(limited, low, high)

    @property
    def shape(self) -> Shape:
        return Shape()

    def new_ones(self, shape: Shape) -> Written:
        if type(shape) is not Shape:
            raise Unwritten("a formula makes a tensor of another shape")
        return self._made(np.ones_like)

    def gt(self, other: Any) -> Written:
        return self._made(gt.kernel, other)

    def lt(self, other: Any) -> Written:
        return self._made(lt.kernel, other)

    def masked_fill(self, mask: Written, value: Any) -> Written:
        return self._made(_masked_fill, mask, value)


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return where_into(x.copy(), mask, value)


def _times(values: Any, factor: Any) -> Any:
    return values if type(factor) is int and factor == 1 else values.mul(factor)
