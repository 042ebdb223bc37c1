"""Sizes that a traced program sees, and what it does with them besides adding, subtracting and scaling.

While a function is traced for sizes that may change, the shapes of its tensors hold a `SizeInt` for each size. Sums,
differences and multiples of sizes are sizes again. Anything else that a program does with a size is noted in order:
comparisons, divisions, conversions. Two traces with other sizes show from these notes which of them depend on a size.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from ..names import reached
from ..tensors.arguments.size import Size
from .reading import OWN, whose


class Use(NamedTuple):
    """What a program has done with a size: `what(*operands)`, which gave `result`."""

    what: str
    operands: tuple[Any, ...]
    result: Any


class Uses:
    """The uses of one traced run, in order."""

    current: ClassVar[Uses | None] = None

    def __init__(self) -> None:
        self.noted: list[Use] = []
        self.thread = threading.get_ident()

    def __enter__(self) -> Uses:
        self._before, Uses.current = Uses.current, self
        return self

    def __exit__(self, *error: object) -> None:
        Uses.current = self._before


def note(what: str, result: Any, *operands: Any) -> Any:
    """Note a use of a size. Returns the result."""
    uses = Uses.current
    if uses is not None and uses.thread == threading.get_ident():
        uses.noted.append(Use(what, tuple(map(plain, operands)), plain(result)))
    return result


class SizeInt(int):
    """A size of a tensor while a program is traced. Programs see an int."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _size(int.__add__(self, other), other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _size(int.__sub__(self, other), other)

    def __rsub__(self, other: Any) -> Any:
        return _size(int.__rsub__(self, other), other)

    def __neg__(self) -> Any:
        return SizeInt(int.__neg__(self))

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        found = int.__mul__(self, other)
        return note("mul", _size(found, other), self, other) if type(other) is SizeInt else _size(found, other)

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return int, (int.__int__(self),)


def _size(found: Any, other: Any) -> Any:
    """A result that is a size again: of a size and an int. A size and a float make a float."""
    return SizeInt(found) if isinstance(other, int) and type(other) is not bool else found


def plain(value: Any) -> Any:
    """A value with ints in the place of sizes, also inside of lists, tuples, dicts and slices."""
    if type(value) is SizeInt:
        return int.__int__(value)
    if type(value) is SizeFloat:
        return float.__float__(value)
    if type(value) is list:
        return [plain(part) for part in value]
    if type(value) is dict:
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple) and (type(value) is tuple or not hasattr(value, "_fields")):
        parts = [plain(part) for part in value]
        same = all([new is old for new, old in zip(parts, value, strict=True)])
        return value if same else tuple.__new__(type(value), parts)
    if type(value) is slice:
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return value


def without_sizes(result: Any) -> Any:
    """What a program has returned, with ints in the place of sizes."""
    pytree = reached("utils._pytree")
    sizes = any([type(leaf) in (SizeInt, SizeFloat, Size) for leaf in pytree.tree_leaves(result)])
    return pytree.tree_map(plain, result) if sizes else result


def _by_own_code() -> bool:
    """Whether this package asks, and not the program."""
    return whose(sys._getframe(2).f_globals.get("__name__")) == OWN


def _noted(name: str, always: bool, made: Any) -> Callable[..., Any]:
    """An operation of ints that is noted. If not `always`, that of this package's own code is not.

    `made` is the class of the result, if that is a size, too.
    """
    function = getattr(int, name)

    def operate(self: Any, *others: Any) -> Any:
        result = function(self, *others)
        if result is NotImplemented or (not always and _by_own_code()):
            return result
        return note(name.strip("_"), result if made is None else made(result), self, *others)

    return operate


# An order decides what a program does, and so does what follows from a division. Our own code asks whether sizes are
# equal only to see how shapes fit, and converts sizes only to hand them on.
_ORDERS = ("lt", "le", "gt", "ge")
_WHOLE = ("floordiv", "rfloordiv", "mod", "rmod")
_QUOTIENTS = ("truediv", "rtruediv")
_OTHERS = ("divmod", "rdivmod", "pow", "rpow", "lshift", "rlshift", "rshift", "rrshift", "and", "rand", "or", "ror",
           "xor", "rxor", "invert", "repr", "format")
_SILENT = ("eq", "ne", "bool", "hash", "int", "float", "round", "trunc", "floor", "ceil", "abs")


class SizeFloat(float):
    """A quotient with a size. Programs see a float. Everything but its use beside a tensor is noted."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return float, (float.__float__(self),)


def _of_quotient(name: str) -> Callable[..., Any]:
    function = getattr(float, name)

    def operate(self: Any, *others: Any) -> Any:
        return function(self, *others) if _by_own_code() else note("float", function(self, *others), self, *others)

    return operate


_FLOATS = ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod",
           "divmod", "rdivmod", "pow", "rpow", "neg", "abs", "round", "trunc", "floor", "ceil", "int", "bool", "hash",
           "eq", "ne", "lt", "le", "gt", "ge", "repr", "format")
for _names, _always, _made in ((_ORDERS + _OTHERS, True, None), (_WHOLE, True, SizeInt), (_SILENT, False, None),
                               (_QUOTIENTS, True, SizeFloat)):
    for _name in _names:
        setattr(SizeInt, f"__{_name}__", _noted(f"__{_name}__", _always, _made))
for _name in ("bit_length", "bit_count", "to_bytes"):
    setattr(SizeInt, _name, _noted(_name, True, None))
for _name in _FLOATS:
    setattr(SizeFloat, f"__{_name}__", _of_quotient(f"__{_name}__"))
for _class in (SizeInt, SizeFloat):
    setattr(_class, "__str__", _class.__repr__)              # noqa: B010     a method, which mypy lets nobody assign
