"""Sizes that a traced program sees, and what it does with them besides adding, subtracting and scaling.

While a function is traced for sizes that may change, the shapes of its tensors hold a `SizeInt` for each size. Sums,
differences and multiples of sizes are sizes again. Anything else that a program does with a size is noted in order:
comparisons, divisions, conversions. Traces with other sizes show from these notes which of them depend on a size.

Some functions of the package give the program plain numbers, as `len(x)` and `x.nbytes` do. Nobody can follow what the
program does with a plain number, so these numbers are noted, too.
"""

from __future__ import annotations

import math
import operator
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...tensors.arguments.size import Size
from .origins import OWN, whose


class Use(NamedTuple):
    """What a program has done with a size: `what(*operands)`, which gave `result`."""

    what: str
    operands: tuple[Any, ...]
    result: Any


class Uses:
    """The uses of one traced run, in order. Those of the run that lasts are `current`."""

    current: ClassVar[Uses | None] = None

    def __init__(self) -> None:
        self.noted: list[Use] = []
        self.thread = threading.get_ident()

    def returned(self, frame: FrameType, value: Any) -> None:
        """Note the plain numbers that a function of the package returns to other code. (Sizes note their own uses.)"""
        if type(value) in _HOLDERS and frame.f_back is not None and (
                frame.f_globals is not globals() and _is_own(frame) and not _is_own(frame.f_back)):
            for number in _plain_numbers(value):
                self.noted.append(Use("returned", (number,), number))


_NUMBERS = (int, float, bool)
# What a program may get plain numbers in.
_HOLDERS = frozenset({*_NUMBERS, tuple, list, dict, Size})


def _is_own(frame: FrameType) -> bool:
    return whose(frame.f_globals.get("__name__")) == OWN


def _plain_numbers(value: Any) -> Iterator[Any]:
    """The plain numbers in a value that a function returned."""
    kind = type(value)
    if kind in _NUMBERS:
        yield value
    elif kind in _HOLDERS:
        for part in value.values() if kind is dict else value:
            yield from _plain_numbers(part)


def note(what: str, result: Any, *operands: Any) -> Any:
    """Note a use of a size. Returns the result."""
    uses = Uses.current
    if uses is not None and uses.thread == threading.get_ident():
        uses.noted.append(Use(what, tuple(map(plain, operands)), plain(result)))
    return result


def note_sizes(shape: tuple[int, ...]) -> None:
    """Note that the program gets plain lists of these lengths."""
    for size in shape:
        note("returned", size, size)


class Watched:
    """A number that came from a size. Programs take it for an int or a float.

    Python's own functions must ask its methods, so it is neither: what they take for an int, they would use unnoticed.
    """

    __slots__ = ("value",)
    kind: ClassVar[type[Any]]
    __class__: Any = property(lambda self: self.kind)        # so that `isinstance` says yes

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.kind, (self.value,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = np.array(self.value, dtype)
        return made if _by_own_code() else note("array", made, self)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.value, name)
        return note(name, found, self)


class SizeInt(Watched):
    """A size of a tensor while a program is traced, or a sum or multiple of sizes."""

    __slots__ = ()
    kind = int


class SizeFloat(Watched):
    """A quotient with a size. Everything but its use beside a tensor is noted."""

    __slots__ = ()
    kind = float


# An error that a size causes names the type that the program knows.
for _size, _kind in ((SizeInt, int), (SizeFloat, float)):
    _size.__name__, _size.__qualname__, _size.__module__ = _kind.__name__, _kind.__name__, _kind.__module__


def plain(value: Any) -> Any:
    """A value with ints in place of sizes, also inside of lists, tuples, dicts and slices."""
    kind = type(value)
    if kind is SizeInt or kind is SizeFloat:
        return value.value
    if kind is list:
        return [plain(part) for part in value]
    if kind is dict:
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and (kind is tuple or not hasattr(value, "_fields")):
        return with_parts(value, [plain(part) for part in value])
    if kind is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return value


def with_parts(value: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    """A tuple of the same class with other parts; the tuple itself if they are the same things."""
    same = all([new is old for new, old in zip(parts, value, strict=True)])
    return value if same else tuple.__new__(type(value), parts)


def _by_own_code() -> bool:
    """Whether this package asks, and not the program."""
    return whose(sys._getframe(2).f_globals.get("__name__")) == OWN


def _binary(what: str, function: Callable[[Any, Any], Any], swapped: bool, made: Any, silent: bool) -> Any:
    """An operation on a watched number and another number. `made` is the class of a result that is watched, too.

    If `silent`, the operation is not noted for this package's own code.
    """
    def operate(self: SizeInt, other: Any) -> Any:
        number = plain(other)
        if not issubclass(type(number), (int, float, complex)):
            return NotImplemented                          # also a stand-in for a number, which knows sizes itself
        operands = (number, self.value) if swapped else (self.value, number)
        result = function(*operands)
        whole = type(number) is int and type(self) is SizeInt
        if whole and what in _LINEAR and (what != "mul" or type(other) is not SizeInt):
            return SizeInt(result)
        if silent and _by_own_code():
            return result
        noted = whole or (what in _ORDERS and type(self) is SizeInt)
        return note(what if noted else "float", made(result) if whole and made else result, *operands)

    return operate


def _unary(what: str, function: Callable[..., Any], silent: bool) -> Any:
    def operate(self: Any, *options: Any) -> Any:
        result = function(self.value, *options)
        handed_on = silent and not (type(self) is SizeFloat and what in _WHOLE)
        return result if handed_on and _by_own_code() else note(what, result, self, *options)

    return operate


# Sums, differences and multiples are sizes again, and so are whole parts. An order decides what a program does. Our own
# code asks whether sizes are equal only to see how shapes fit, and converts sizes only to hand them on, but for the
# whole parts of quotients.
_LINEAR, _ORDERS = ("add", "sub", "mul"), ("lt", "le", "gt", "ge", "eq", "ne")
_WHOLE = ("int", "round", "trunc", "floor", "ceil")
_MADE = {"mul": SizeInt, "floordiv": SizeInt, "mod": SizeInt, "truediv": SizeFloat}
for _name in (*_LINEAR, "floordiv", "mod", "truediv", "pow", "lshift", "rshift", "and_", "or_", "xor"):
    _what, _made = _name.strip("_"), _MADE.get(_name)
    for _swapped in (False, True):
        setattr(Watched, f"__{'r' * _swapped}{_what}__", _binary(
            _what, getattr(operator, _name), _swapped, _made, False))
for _swapped in (False, True):
    setattr(Watched, f"__{'r' * _swapped}divmod__", _binary("divmod", divmod, _swapped, None, False))
for _name in _ORDERS:
    setattr(Watched, f"__{_name}__", _binary(_name, getattr(operator, _name), False, None, _name in ("eq", "ne")))
for _name, _function, _silent in (
        ("bool", bool, True), ("hash", hash, True), ("int", int, True), ("index", int, True), ("float", float, True),
        ("complex", complex, True), ("round", round, True), ("trunc", int, True), ("floor", math.floor, True),
        ("ceil", math.ceil, True), ("abs", abs, True), ("invert", operator.invert, False), ("repr", repr, False),
        ("str", str, False), ("format", format, False)):
    setattr(Watched, f"__{_name}__", _unary(_name, _function, _silent))
for _name, _method in (("__pos__", lambda self: self), ("__neg__", lambda self: 0 - self)):
    setattr(Watched, _name, _method)
