"""The guard of a call for all sizes, from the guards of two traced calls whose arguments differ in one size.

The lines of two such guards differ only in the shapes and strides of tensors. Together with what the traced calls have
asked of sizes (`sizes`), they say for which sizes the traces hold.
"""

from __future__ import annotations

import math
import re
from ast import literal_eval
from collections.abc import Sequence
from types import CellType
from typing import Any, NamedTuple

from .. import kinds
from ..differences import Check
from ..guards import Guard
from ..items import TENSOR
from .sizes import Use
from .symbols import Affine, Count, Quotients, Ratio, Refused, Unlike, fitted, varies

_GEOMETRY = re.compile(r"  if type\((\w+)\) is not (\w+) or \((a\d+) := \w+\._array\)\.shape != (\(.*?\)) or "
                       r"a\d+\.strides != (\(.*?\)) or (.*)")
_ORDERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_WHOLE = ("floordiv", "mod")


class Geometry(NamedTuple):
    """A line of a guard about the geometry of a tensor."""

    tensor: str
    kind: str
    array: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    rest: str


class Sizing(NamedTuple):
    """What two traces show of the size: its values in them, the name in the guard that has it, and the conditions.

    `quotients` are the divisions by or of sizes, with their results in both traces.
    """

    sizes: tuple[int, int]
    array: str
    dim: int
    conditions: list[str]
    quotients: Quotients

    def holds(self, size: int) -> bool:
        """Whether the program does the same for a size."""
        return size > 1 and all([eval(condition, {"size": size}) for condition in self.conditions])


def _geometry(line: str) -> Geometry:
    found = _GEOMETRY.fullmatch(line)
    if found is None:
        raise Unlike("the guards of two traces differ in more than shapes")
    tensor, kind, array, shape, strides, rest = found.groups()
    return Geometry(tensor, kind, array, literal_eval(shape), literal_eval(strides), rest)


def _differing(one: Guard, other: Guard) -> dict[int, tuple[Geometry, Geometry]]:
    """The lines in which two guards differ, by their places."""
    lines, others = one.source.split("\n"), other.source.split("\n")
    if len(lines) != len(others) or one.inputs != other.inputs:
        raise Unlike("the traces have found other things in the program")
    _compare_scopes(one.check.__globals__, other.check.__globals__)
    found = {place: (_geometry(line), _geometry(others[place])) for place, line in enumerate(lines)
             if line != others[place]}
    for first, second in found.values():
        if first._replace(shape=(), strides=()) != second._replace(shape=(), strides=()) or (
                len(first.shape) != len(second.shape)):
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
    return kinds.is_constant(one) and not kinds.differ(one, other)


def sizing(one: Guard, other: Guard, uses: Sequence[Sequence[Use]]) -> Sizing:
    """What the guards of two traces and their uses of sizes say of the size. Raises Refused if it is not one size."""
    found = [*_differing(one, other).values()]
    sides = [(abs(m - n), first.array, dim, (n, m)) for first, second in found
             for dim, (n, m) in enumerate(zip(first.shape, second.shape)) if n != m]
    if not sides:
        raise Unlike("the arguments of the traces have the same shapes")
    _, array, dim, sizes = min(sides, key=lambda side: side[0])
    if min(sizes) < 2:
        raise Refused("the sizes 0 and 1 have traces of their own")
    conditions, quotients = _conditions(sizes, uses)
    for first, second in found:
        for n, m in zip(first.shape, second.shape):
            number = fitted(sizes, (n, m))
            if isinstance(number, Affine) and number != (1, 0):
                conditions.append(f"{number.text('size')} > 1")
    result = Sizing(sizes, array, dim, [*dict.fromkeys(conditions)], quotients)
    if not all(map(result.holds, sizes)):
        raise Refused("the program does something else for other sizes")
    return result


def _conditions(sizes: tuple[int, int], uses: Sequence[Sequence[Use]]) -> tuple[list[str], list[Any]]:
    """What must hold of the size, so that the program decides as in both traces. Also the quotients."""
    one, other = uses
    if len(one) != len(other):
        raise Refused("the program looks at sizes in another way for another size")
    conditions, quotients = [], []
    for first, second in zip(one, other):
        if first.what != second.what or len(first.operands) != len(second.operands):
            raise Refused("the program looks at sizes in another way for another size")
        operands = [_operand(sizes, *pair) for pair in zip(first.operands, second.operands)]
        if not any(map(varies, operands)):
            continue
        if first.what in _ORDERS:
            if operands[0] == operands[1]:
                continue
            if first.result is not second.result:
                raise Refused("the program decides otherwise for another size")
            left, right = [_text(operand) for operand in operands]
            conditions.append(f"({left} {_ORDERS[first.what]} {right}) is {first.result}")
        elif first.what == "bool":
            conditions.append(f"bool({_text(operands[0])}) is {first.result}")
        elif first.what == "truediv":
            quotients.append((Ratio(*operands), (first.result, second.result)))
        elif not _is_line(first.what, operands):
            raise Refused(f"the program does more with a size than compare, add and scale it ({first.what})")
    return conditions, quotients


def _operand(sizes: tuple[int, int], one: Any, other: Any) -> Any:
    if type(one) is int and type(other) is int:
        return fitted(sizes, (one, other))
    if type(one) is not type(other) or not kinds.is_constant(one) or kinds.differ(one, other):
        raise Refused("the program compares sizes with other things for another size")
    return one


def _is_line(what: str, operands: list[Any]) -> bool:
    """Whether the result is `by * size + start`, since the operands are."""
    if what not in ("mul", *_WHOLE):
        return False
    left, right = operands
    if what == "mul":
        return not (varies(left) and varies(right))
    if isinstance(right, Affine):                          # a multiple, which is the same for all sizes
        return isinstance(left, Affine) and left.by * right.start == right.by * left.start and left.by % right.by == 0
    return type(right) is int and right > 0 and left.by % right == 0 and (
        what == "mod" or left.start % right == 0)


def _text(operand: Any) -> str:
    if isinstance(operand, Affine):
        return operand.text("size")
    if type(operand) is not int and not (type(operand) is float and math.isfinite(operand)):
        raise Refused(f"the program compares a size with {operand!r}")
    return f"({operand!r})"


def sized_guard(one: Guard, other: Guard, sized: Sizing, conditions: Sequence[str]) -> Guard:
    """The guard for all sizes for which the conditions hold. After the tensors, its list has the size."""
    lines, checks = other.source.split("\n"), dict(other.checks)
    tests: list[str] = []
    for place, (first, second) in _differing(one, other).items():
        lines[place] = (f"  if type({first.tensor}) is not {first.kind} or ({first.array} := {first.tensor}._array)"
                        f".ndim != {len(first.shape)} or {first.rest}")
        for what in ("shape", "strides"):
            numbers = [fitted(sized.sizes, pair) for pair in zip(getattr(first, what), getattr(second, what))]
            tests.append(f"{first.array}.{what} != ({''.join([f'{_whole(number)}, ' for number in numbers])})")
    last = max([place for place, line in enumerate(lines) if line.startswith("  return [")])
    held = [f"not ({condition})" for condition in (*sized.conditions, *conditions)]
    lines[last:last] = [f"  size = {sized.array}.shape[{sized.dim}]",
                        f"  if size < 2 or {' or '.join([*tests, *held])}: return {last + 2}, None"]
    checks[last + 2] = Check("the sizes of the arguments", "sizes", TENSOR, None)
    lines[last + 2] = lines[last + 2].replace("[]", "[size]") if "[]" in lines[last + 2] else (
        lines[last + 2][:-1] + ", size]")
    return Guard("\n".join(lines), dict(other.check.__globals__), checks, other.inputs)


def _whole(number: Count) -> str:
    return number.text("size") if isinstance(number, Affine) else str(number)
