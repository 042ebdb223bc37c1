"""The guard of a call for all sizes, from the guards of traced calls whose arguments differ in sizes.

The lines of such guards differ only in the shapes and strides of tensors. Together with what the traced calls have
asked of sizes (`sizes`), they say for which sizes the traces hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from types import CellType
from typing import Any, NamedTuple

from ..guards.differences import Check
from ..guards.guard import Guard
from ..guards.lines import Geometry, number_of
from ..program import constants
from ..program.expressions import DIVISIONS
from ..program.forms import Count, Form, Points, Refused, Sizes, Unlike, divided, times, varies
from ..program.sizes import Use
from ..program.symbols import Quotients, Ratio
from ..reach.items import TENSOR

_ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
# So many sizes may change independently.
MOST_SYMBOLS = 3
# If there are only two traces, an argument's size follows another one only if it is a multiple, or so near.
NEAR = 2


class Sizing(NamedTuple):
    """What traces show of the sizes: their values in them, the dims that have them by the names of the arrays in the
    guard, and the conditions. `quotients` are the divisions by or of sizes, with their results in the traces.
    """

    points: Points
    places: Sequence[tuple[str, int]]
    conditions: list[str]
    quotients: Quotients

    def holds(self, sizes: Sizes) -> bool:
        """Whether the program does the same for other sizes."""
        names = {f"n{place}": size for place, size in enumerate(sizes)}
        return min(sizes) > 1 and all([eval(condition, names) for condition in self.conditions])


def _differing(guards: Sequence[Guard]) -> dict[int, list[Geometry]]:
    """The lines in which guards differ, by their places."""
    one = guards[0]
    if any([len(guard.lines) != len(one.lines) or guard.inputs != one.inputs or guard.returned != one.returned
            for guard in guards]):
        raise Unlike("the traces have found other things in the program")
    for guard in guards[1:]:
        _compare_scopes(one.check.__globals__, guard.check.__globals__)
    found = dict[int, list[Geometry]]()
    for place, lines in enumerate(zip(*[guard.lines for guard in guards])):
        if any([line != lines[0] for line in lines]):
            found[place] = _alike(lines)
    return found


def _alike(lines: Sequence[str | Geometry]) -> list[Geometry]:
    """Lines of guards that differ, which may do so in the sizes of a tensor only."""
    found = [line for line in lines if isinstance(line, Geometry)]
    if len(found) < len(lines):
        raise Unlike("the guards of the traces differ in more than shapes")
    if any([line._replace(shape=(), strides=()) != found[0]._replace(shape=(), strides=())
            or len(line.shape) != len(found[0].shape) for line in found]):
        raise Unlike("a tensor has another number of dims")
    return found


def _compare_scopes(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name in one.keys() | other.keys():
        if name not in ("guard", "__builtins__") and not (
                name in one and name in other and _same(one[name], other[name])):
            raise Unlike("the traces have found other things in the program")


def _same(one: Any, other: Any) -> bool:
    """Whether two values in the scopes of guards are the same for the guard."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, (frozenset, set, CellType)):
        return bool(one == other)
    return constants.is_constant(one) and not constants.differ(one, other)


def sizing(guards: Sequence[Guard], uses: Sequence[Sequence[Use]]) -> Sizing:
    """What the guards of traces and their uses of sizes say of the sizes. Raises Refused if they do not tell them."""
    found = [*_differing(guards).values()]
    dims = [(numbers, lines[0].array, dim) for lines in found
            for dim, numbers in enumerate(zip(*[line.shape for line in lines]))]
    own = _independent(dims)
    points = Points([*zip(*[numbers for numbers, _, _ in own])])
    if not points.apart():
        raise Unlike("the traces have too few sizes to tell them apart")
    if points.smallest < 2:
        raise Unlike("the sizes 0 and 1 have traces of their own")
    for lines in found:
        points.note_shape([points.fitted(numbers) for numbers in zip(*[line.shape for line in lines])])
    shapes = {points.fitted(numbers): None for numbers, _, _ in dims}
    conditions, quotients = _conditions(points, uses)
    conditions += different(shapes) + [f"{number.text()} > 1" for number in shapes if isinstance(number, Form)]
    result = Sizing(points, [(array, dim) for _, array, dim in own], [*dict.fromkeys(conditions)], quotients)
    if not all(map(result.holds, points.sizes)):
        raise Unlike("the program does something else for other sizes")
    return result


def _independent(dims: Sequence[tuple[Sizes, str, int]]) -> list[tuple[Sizes, str, int]]:
    """The dims whose sizes do not follow from those of others."""
    found: list[tuple[Sizes, str, int]] = []
    for numbers, array, dim in sorted(dims, key=lambda each: max(each[0]) - min(each[0])):
        if len(set(numbers)) > 1 and not any([_follows(numbers, other) for other, _, _ in found]):
            found.append((numbers, array, dim))
    if not found:
        raise Unlike("the arguments of the traces have the same shapes")
    if len(found) > min(MOST_SYMBOLS, len(dims[0][0]) - 1):
        raise Unlike("more sizes change independently than the traces can tell")
    return found


def _follows(numbers: Sizes, others: Sizes) -> bool:
    """Whether a size of an argument is a multiple of another size, plus a number."""
    try:
        found = Points([(other,) for other in others]).fitted(numbers)
    except Refused:
        return False
    if not isinstance(found, Form) or found.degree > 1:
        return False
    start = found.at((0,))
    by = found.at((1,)) - start
    return by > 0 and (len(numbers) > 2 or not start or (by == 1 and abs(start) <= NEAR))


def different(shapes: Sequence[Count] | dict[Count, None]) -> list[str]:
    """That sizes which change independently are not equal. So programs need not decide what equal sizes mean."""
    lines = [number for number in shapes if isinstance(number, Form) and number.degree == 1]
    return [f"{one.text()} != {other.text()}" for one, other in combinations(lines, 2) if one.symbols != other.symbols]


def _conditions(points: Points, uses: Sequence[Sequence[Use]]) -> tuple[list[str], list[Any]]:
    """What must hold of the sizes, so that the program decides as in the traces. Also the quotients."""
    if len(set(map(len, uses))) > 1:
        raise Refused("the program looks at sizes in another way for another size")
    conditions, quotients = [], []
    for each in zip(*uses):
        first, results = each[0], tuple([use.result for use in each])
        if any([use.what != first.what or len(use.operands) != len(first.operands) for use in each]):
            raise Refused("the program looks at sizes in another way for another size")
        operands = [_operand(points, *values) for values in zip(*[use.operands for use in each])]
        if not any(map(varies, operands)):
            continue
        if first.what in DIVISIONS:
            conditions.append(f"bool({_text(operands[1])}) is True")
        if first.what in _ORDERS:
            if operands[0] == operands[1]:
                continue
            if len(set(results)) > 1:
                raise Refused("the program decides otherwise for another size")
            left, right = [_text(operand) for operand in operands]
            conditions.append(f"({left} {_ORDERS[first.what]} {right}) is {first.result}")
        elif first.what == "bool":
            conditions.append(f"bool({_text(operands[0])}) is {first.result}")
        elif first.what == "truediv":
            quotients.append((Ratio(*operands), results))
        else:
            _note_product(points, first.what, operands)
    return conditions, quotients


def _note_product(points: Points, what: str, operands: list[Any]) -> None:
    """Note the product that a use has made. A division must leave no rest for any sizes."""
    if all([type(operand) in (int, Form) for operand in operands]):
        if what == "mul":
            return points.add(times(*operands))
        if what in ("floordiv", "mod") and divided(*operands) is not None:
            return None
    if what == "returned":
        raise Refused("the program takes a size as a plain number, as by len(x); x.shape[0] can be followed")
    raise Refused(f"the program does more with a size than compare, add and multiply it ({what})")


def _operand(points: Points, *values: Any) -> Any:
    first = values[0]
    if all([type(value) is int for value in values]):
        return points.fitted(values)
    if any([type(value) is not type(first) or constants.differ(value, first) for value in values]) or (
            not constants.is_constant(first)):
        raise Refused("the program compares sizes with other things for another size")
    return first


def _text(operand: Any) -> str:
    if isinstance(operand, Form):
        return operand.text()
    if type(operand) is not int and not (type(operand) is float and math.isfinite(operand)):
        raise Refused(f"the program compares a size with {operand!r}")
    return f"({operand!r})"


def sized_guard(guards: Sequence[Guard], sized: Sizing, conditions: Sequence[str]) -> Guard:
    """The guard for all sizes for which the conditions hold. After the tensors, its list has the sizes."""
    like = guards[-1]
    lines, checks, tests = [*like.lines], dict(like.checks), list[str]()
    for place, each in _differing(guards).items():
        lines[place] = each[0].of_any_size()
        shape = [sized.points.fitted(numbers) for numbers in zip(*[line.shape for line in each])]
        strides = sized.points.strides([line.strides for line in each], shape)
        for what, numbers in (("shape", shape), ("strides", strides)):
            tests.append(f"{each[0].array}.{what} != ({''.join([f'{_whole(number)}, ' for number in numbers])})")
    names = [f"n{place}" for place in range(len(sized.places))]
    held = [f"{name} < 2" for name in names] + [
        f"not ({condition})" for condition in dict.fromkeys([*sized.conditions, *conditions])]
    sizes = [f"{name} = {array}.shape[{dim}]" for name, (array, dim) in zip(names, sized.places)]
    lines.append(f"  {'; '.join(sizes)}")
    number = number_of(len(lines))
    lines.append(f"  if {' or '.join([*tests, *held])}: return {number}, None")
    checks[number] = Check("the sizes of the arguments", "sizes", TENSOR, None)
    returned = [*like.returned, f"({', '.join(names)},)"]
    return Guard(lines, returned, dict(like.check.__globals__), checks, like.inputs)


def _whole(number: Count) -> str:
    return number.text() if isinstance(number, Form) else str(number)
