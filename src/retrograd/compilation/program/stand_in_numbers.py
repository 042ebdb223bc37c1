"""A number that is traced: programs take it for an int or a float, and it notes what they do with it.

Python's own functions must ask its methods, so it is neither an int nor a float: what they take for one, they would use
unnoticed. Arithmetic that raises no error is followed. Any other use is a look at the number.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np

from ...tensors.state.base import TensorBase
from .expressions import DIVISIONS, FUNCTIONS, RISKY, Expression, combined, constant, of_size
from .sizes import SizeFloat, SizeInt, note

_EXACT = (int, float, bool)
_NO_NUMBERS = (list, tuple, dict, set, str, bytes, type(None))


class Follower(Protocol):
    """What the numbers of a trace are asked."""

    @property
    def follows(self) -> bool:
        """Whether the program is being traced, and this thread runs it."""

    def divides(self, expression: Expression) -> bool:
        """Whether a number is zero in no repetition."""

    def decided(self, what: str, parts: tuple[Expression, ...]) -> Any:
        """The outcome of a comparison, on which the program may branch."""

    def looked_at(self, expression: Expression) -> None:
        """Note that the program uses a number in a way that nobody can follow."""

    def is_sure(self, expression: Expression) -> bool:
        """Whether each repetition can compute a number without an error, and the number is of the same type."""

    def stand_in(self, expression: Expression) -> Any:
        """A number for the program."""

    def operand(self, expression: Expression, dtype: np.dtype[Any]) -> Any:
        """An array of a dtype that holds a number in each repetition; None if there is none."""


class Number:
    """A number while a program is traced. `value` is the number, and `numbers` those of its trace."""

    __slots__ = ("__weakref__", "expression", "numbers")
    kind: ClassVar[type[Any]]
    is_followed: ClassVar[bool] = True                       # whether arithmetic makes further stand-ins
    __class__: Any = property(lambda self: self.kind)        # so that `isinstance` says yes

    def __init__(self, numbers: Follower, expression: Expression) -> None:
        self.numbers, self.expression = numbers, expression

    value = property(lambda self: self.expression.value)

    def look(self) -> Any:
        """The number, for code that nobody can follow."""
        self.numbers.looked_at(self.expression)
        return self.expression.value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.kind, (self.look(),)

    def __pow__(self, other: Any, *modulus: Any) -> Any:
        if isinstance(other, TensorBase):
            return NotImplemented
        made = NotImplemented if modulus else followed(self, "pow", (self, other))
        return pow(self.look(), looked(other), *map(looked, modulus)) if made is NotImplemented else made

    def __rpow__(self, other: Any) -> Any:
        made = followed(self, "pow", (other, self))
        return pow(looked(other), self.look()) if made is NotImplemented else made

    def as_operand(self, dtype: np.dtype[Any]) -> Any:
        """An array without dimensions that holds the number in each repetition; None if there is none."""
        return self.numbers.operand(self.expression, dtype)

    def __divmod__(self, other: Any) -> Any:
        return divmod(self.look(), looked(other))

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(looked(other), self.look())

    def __copy__(self) -> Number:
        return self                                          # as copies of numbers are

    def __deepcopy__(self, memo: Any) -> Number:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.look(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(looked, inputs), **{name: looked(part) for name, part in options.items()})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.look(), name)


class FloatNumber(Number):
    """A float that is traced."""

    __slots__ = ()
    kind = float


class IntNumber(Number):
    """An int that is traced."""

    __slots__ = ()
    kind = int

    def __index__(self) -> int:
        return self.look()  # type: ignore[no-any-return]


class Handed(Number):
    """An array of NumPy that the program only hands on (`leaving_code`), over the memory of a tensor."""

    __slots__ = ()
    kind = np.ndarray
    is_followed = False


KINDS: dict[type[Any], type[Number]] = {float: FloatNumber, int: IntNumber}
STAND_INS = frozenset({FloatNumber, IntNumber, Handed})

# An error that a traced number causes names the type that the program knows.
for _class, _kind, _name in (
        (FloatNumber, float, "float"), (IntNumber, int, "int"), (Handed, np.ndarray, "numpy.ndarray")):
    _class.__name__, _class.__qualname__, _class.__module__ = _name, _kind.__name__, _kind.__module__


def looked(value: Any) -> Any:
    """A value with plain numbers in it, also inside of lists, tuples and dicts: code looks at these numbers."""
    kind = type(value)
    if kind in STAND_INS:
        return value.look()
    if kind is SizeInt or kind is SizeFloat:
        return note("number", value.value, value)
    if kind is list or kind is tuple:
        return kind([looked(part) for part in value])
    return {name: looked(part) for name, part in value.items()} if kind is dict else value


def is_traced(key: Any) -> bool:
    """Whether a key of a dict is a traced number, or a tuple with one: no repetition makes such a key."""
    return issubclass(type(key), Number) or (isinstance(key, tuple) and any(map(is_traced, key)))


def _expressions(self: Number, operands: tuple[Any, ...]) -> list[Expression] | None:
    """The expressions of `self` and other numbers; None if one of the numbers cannot be followed."""
    parts = []
    for each in operands:
        if isinstance(each, Number) and each.is_followed and each.numbers is self.numbers:
            parts.append(each.expression)
        elif type(each) in _EXACT:
            parts.append(constant(each))
        elif type(each) is SizeInt:
            parts.append(of_size(each.value))
        else:
            return None
    return parts


def followed(self: Number, what: str, operands: tuple[Any, ...]) -> Any:
    """The number that an operation gives, if it can be followed; NotImplemented if not."""
    numbers, parts = self.numbers, _expressions(self, operands)
    if parts is None:
        return NotImplemented
    if what in DIVISIONS and parts[1].what == "size":
        note("bool", bool(parts[1].value), operands[1])
    if not numbers.follows or (what in DIVISIONS and not numbers.divides(parts[1])):
        return NotImplemented
    try:
        value = FUNCTIONS[what](*[part.value for part in parts])
    except (ArithmeticError, ValueError):                   # which the program itself shall raise
        return NotImplemented
    made = combined(what, tuple(parts), value)
    if made is None or type(value) not in KINDS or (what in RISKY and not numbers.is_sure(made)):
        return NotImplemented
    return numbers.stand_in(made)


def _binary(what: str, swapped: bool) -> Callable[[Any, Any], Any]:
    function = getattr(operator, what)

    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, TensorBase):                   # whose operator takes the number as it is
            return NotImplemented
        operands = (other, self) if swapped else (self, other)
        made = followed(self, what, operands) if what in FUNCTIONS else NotImplemented
        if made is NotImplemented and type(other) in _NO_NUMBERS:
            self.look()
            return NotImplemented                           # Python knows the operation: `+` or `+=`
        return function(*map(looked, operands)) if made is NotImplemented else made

    return operate


def _unary(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: Any, *options: Any) -> Any:
        exact = what != "round" or (len(options) == 1 and type(options[0]) is int and 0 <= options[0] < 400)
        made = followed(self, what, (self, *options)) if exact and what in FUNCTIONS else NotImplemented
        return function(self.look(), *map(looked, options)) if made is NotImplemented else made

    return operate


def _decided(what: str) -> Callable[..., Any]:
    """An operation that says yes or no, on which the program may branch."""
    def operate(self: Any, *others: Any) -> Any:
        if any([isinstance(other, TensorBase) for other in others]):
            return NotImplemented
        parts = _expressions(self, (self, *others))
        if parts is None:
            return FUNCTIONS[what](self.look(), *map(looked, others))
        return self.numbers.decided(what, tuple(parts))

    return operate


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "lshift", "rshift", "and_", "or_", "xor"):
    for _swapped in (False, True):
        setattr(Number, f"__{'r' * _swapped}{_name.strip('_')}__", _binary(_name, _swapped))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "bool"):
    setattr(Number, f"__{_name}__", _decided(_name))
for _name, _function in (
        ("neg", operator.neg), ("pos", operator.pos), ("abs", abs), ("round", round), ("hash", hash), ("int", int),
        ("float", float), ("complex", complex), ("trunc", int), ("floor", math.floor), ("ceil", math.ceil),
        ("invert", operator.invert), ("repr", repr), ("str", str), ("format", format)):
    setattr(Number, f"__{_name}__", _unary(_name, _function))
