"""Values in the lines of a program that depend on sizes: numbers, and what has such numbers in it."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from ...foundations.dtypes import Array
from ...ops.creation import Draw
from ...tensors.state.replays import Chain
from . import constants
from .forms import Count, Form, Points, Refused, Sizes, Unlike, at, times
from .lines import Ref
from .sizes import SizeInt, plain


class Symbolic:
    """A number that depends on sizes. Its value is a hint: the one for some sizes."""

    expression: Any

    def __new__(cls, expression: Any, sizes: Sizes) -> Self:
        return cls.of(expression, expression.at(sizes))

    @classmethod
    def of(cls, expression: Any, value: Any) -> Self:
        """A number with the value that it has for some sizes."""
        made = super().__new__(cls, value)  # type: ignore[call-arg]
        made.expression = expression
        return made


class Extent(Symbolic, int):
    """An int that depends on sizes, such as a `Form`."""


class Ratio(NamedTuple):
    """A quotient for each choice of sizes."""

    top: Count
    bottom: Count

    def at(self, sizes: Sizes) -> float:
        """The number for sizes."""
        top, bottom = at(self.top, sizes), at(self.bottom, sizes)
        return float(top / bottom)

    def same(self, other: Ratio) -> bool:
        """Whether another quotient is the same number for all sizes."""
        return times(self.top, other.bottom) == times(other.top, self.bottom)


class Quotient(Symbolic, float):
    """A float that is a `Ratio`."""


_WITH_PARTS = (slice, dict, partial, Draw, Chain)
# The quotients of a traced program, with their results for the sizes of the traces.
Quotients = Sequence[tuple[Ratio, tuple[float, ...]]]


def merged(points: Points, values: Sequence[Any], quotients: Quotients = ()) -> Any:
    """An argument from what it is in several traces: that of the first one, with an `Extent` or a `Quotient` for each
    number that depends on sizes. Raises Refused if anything else differs.
    """
    values = [plain(value) for value in values] if type(values[0]) is SizeInt else values
    first = values[0]
    kind = type(first)
    if all([value is first for value in values]):
        return first
    if any([type(value) is not kind for value in values]):
        raise Refused(f"an argument is {first!r} for one size and {values[-1]!r} for another")
    if kind is int:
        number = points.fitted(values)
        return Extent(number, points.sizes[0]) if isinstance(number, Form) else number
    if kind is float:
        return _quotient(points, values, quotients)
    if issubclass(kind, Symbolic):
        _same([value.expression for value in values])
        return first
    if kind is Ref or (constants.is_constant(first) and not isinstance(first, (tuple, slice))):
        return _constant(values)
    if isinstance(first, (tuple, list)):
        if any([len(value) != len(first) for value in values]):
            raise Refused("a list of arguments has another length for another size")
        return rebuilt(first, [merged(points, parts, quotients) for parts in zip(*values)])
    if isinstance(first, _WITH_PARTS):
        parts = merged(points, [parts_of(value) for value in values], quotients)
        return rebuilt(first, parts)
    if kind is types.MethodType:
        _same([value.__func__ for value in values])
        merged(points, [value.__self__ for value in values])
        return first
    if kind is types.FunctionType:
        return _function(points, values)
    if isinstance(first, np.ndarray) and all([_equal(first, value) for value in values]):
        return first
    raise Refused(f"an argument of the class {kind.__name__} is another object for another size")


def _quotient(points: Points, values: Sequence[float], quotients: Quotients) -> float:
    if not any([constants.differ(value, values[0]) for value in values]):
        return values[0]
    found = quotient_of(quotients, lambda results: results == tuple(values))
    if found is not None:
        return Quotient(found, points.sizes[0])
    raise Refused(f"the number {values[0]} is {values[-1]} for another size")


def quotient_of(quotients: Quotients, matches: Callable[[tuple[float, ...]], bool]) -> Ratio | None:
    """The quotient whose results in the traces match; None if there is none. Raises Unlike if more than one is."""
    found = [ratio for ratio, results in quotients if matches(results)]
    if not all([other.same(found[0]) for other in found]):
        raise Unlike("the traces have too few sizes to tell two quotients apart")
    return found[0] if found else None


def _constant(values: Sequence[Any]) -> Any:
    if type(values[0]) is Ref:
        _same(values)
    elif any([constants.differ(value, values[0]) for value in values]):
        raise Refused(f"an argument is {values[0]!r} for one size and {values[-1]!r} for another")
    return values[0]


def _same(values: Sequence[Any]) -> None:
    if any([value is not values[0] and value != values[0] for value in values]):
        raise Refused(f"an argument is {values[0]!r} for one size and {values[-1]!r} for another")


def _function(points: Points, values: Sequence[Any]) -> Any:
    """A function that was made anew in each trace, with the same captured values."""
    first = values[0]
    if any([value.__code__ is not first.__code__ or value.__kwdefaults__ != first.__kwdefaults__ for value in values]):
        raise Refused(f"the function {first.__name__} is another one for another size")
    cells = [[cell.cell_contents for cell in value.__closure__ or ()] for value in values]
    if is_symbolic(merged(points, [[*inner, value.__defaults__] for inner, value in zip(cells, values, strict=True)])):
        raise Refused(f"the function {first.__name__} has captured a size")
    return first


def _equal(one: Array, other: Array) -> bool:
    return (one.shape == other.shape and one.dtype == other.dtype and one.strides == other.strides
            and one.tobytes() == other.tobytes())


def parts_of(value: Any) -> list[Any]:
    """The parts of a slice, a dict, a partial function, a call that draws random numbers, or a view of a view."""
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, Draw):
        return [value.draw, value.args]
    if isinstance(value, Chain):
        return [value.first, value.then]
    return [value.func, value.args, value.keywords]


def rebuilt(like: Any, parts: list[Any]) -> Any:
    """A value with other parts."""
    if isinstance(like, slice):
        return slice(*parts)
    if isinstance(like, dict):
        half = len(parts) // 2
        return dict(zip(parts[:half], parts[half:], strict=True))
    if isinstance(like, (Draw, Chain)):
        return type(like)(parts[0], parts[1])
    if isinstance(like, partial):
        return type(like)(parts[0], *parts[1], **parts[2])
    return tuple.__new__(type(like), parts) if isinstance(like, tuple) else parts


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value in which something else replaces each `Extent` and `Quotient`."""
    if isinstance(value, Symbolic):
        return change(value)
    if type(value) is Ref or not isinstance(value, (tuple, list, *_WITH_PARTS)):
        return value
    parts = [*value] if isinstance(value, (tuple, list)) else parts_of(value)
    others = [changed(part, change) for part in parts]
    if all([other is part for other, part in zip(others, parts, strict=True)]):
        return value
    return rebuilt(value, others)


def is_symbolic(value: Any) -> bool:
    """Whether a value depends on sizes."""
    return changed(value, lambda number: None) is not value


def hinted(value: Any, sizes: Sizes) -> Any:
    """A value whose symbolic numbers have the hints for other sizes."""
    return changed(value, lambda number: type(number)(number.expression, sizes))


def concrete(value: Any, sizes: Sizes) -> Any:
    """A value as it is for sizes, without symbolic numbers."""
    return changed(value, lambda number: number.expression.at(sizes))
