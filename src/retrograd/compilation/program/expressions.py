"""What a number of a traced call is computed from, and how Python computes it again.

An expression begins with elements of values of the tape, with numbers that stand in places of the program's state, and
with constants. Only operations are followed that raise no error, whatever the numbers are, or that the guard has tried
before. So a repetition can compute an expression when everything else is done.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# An int of at most so many bits becomes a float without an error, and so does a sum or product of two of them.
MOST_BITS = 500
# So many bits may an int in a place have: the guard sees to it.
PLACE_BITS = 63
# How Python computes each operation.
SOURCES = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "truediv": "{} / {}", "floordiv": "{} // {}",
    "mod": "{} % {}", "neg": "-{}", "pos": "+{}", "abs": "abs({})", "round": "round({}, {})", "bool": "bool({})",
    "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}", "eq": "{} == {}", "ne": "{} != {}",
    "pow": "{} ** {}", "is_float": "type({}) is float", "is_int": "type({}) is int"}
# Functions of `math` that are followed, with the number of their arguments.
OF_MATH = {"cos": 1, "exp": 1, "expm1": 1, "log": 1, "log10": 1, "log1p": 1, "log2": 1, "pow": 2, "sin": 1, "sqrt": 1,
           "tan": 1, "tanh": 1}
SOURCES |= {f"math.{name}": f"math.{name}({', '.join(['{}'] * count)})" for name, count in OF_MATH.items()}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in SOURCES if hasattr(operator, name)}, "abs": abs, "round": round,
    "bool": bool, "is_float": lambda value: type(value) is float, "is_int": lambda value: type(value) is int,
    **{f"math.{name}": getattr(math, name) for name in OF_MATH}}
# Operations that may raise an error, or give a number of another type. The guard computes them before a repetition.
RISKY = frozenset({"pow", *[f"math.{name}" for name in OF_MATH]})
# What is the same number in each repetition, or for the same sizes.
FIXED = frozenset({"constant", "size"})
# Operations that raise an error if the second operand is zero.
DIVISIONS = frozenset({"truediv", "floordiv", "mod"})


class Expression:
    """A number of a traced call: `what(*parts)`, which was `value`.

    `what` is an operation, or "read": an element of a value of the tape, of which `array` is the traced array and
    `parts` is the index. Or it is "place": a number in the state of the program, found by the `item` of the walk. Or it
    is "constant", or "size": a number that is the same for the same sizes, or "array": an array of NumPy over a value
    of the tape, or "late": a learning rate after the step of its schedule. `of_tape` says whether anything in the
    expression was read from the tape. `bits` is how many bits an int has at most.
    """

    __slots__ = ("array", "bits", "is_late", "item", "of_tape", "parts", "value", "what")

    def __init__(self, what: str, parts: tuple[Any, ...], value: Any, bits: int = 0, *, array: Any = None,
                 item: Any = None) -> None:
        self.what, self.parts, self.value, self.bits = what, parts, value, bits
        self.array, self.item = array, item
        self.of_tape: bool = what in ("read", "array") or any([part.of_tape for part in self.operands()])
        self.is_late: bool = what == "late" or any([part.is_late for part in self.operands()])

    def operands(self) -> Iterator[Expression]:
        """The expressions that this one is computed from."""
        return (part for part in self.parts if type(part) is Expression)


def constant(value: Any) -> Expression:
    """The expression of a number that is always the same."""
    return Expression("constant", (value,), value, value.bit_length() if isinstance(value, int) else 0)


def of_size(value: int) -> Expression:
    """The expression of a number that is the same for the same sizes."""
    return Expression("size", (), value, PLACE_BITS)


def combined(what: str, parts: tuple[Expression, ...], value: Any) -> Expression | None:
    """The expression of an operation; None if its number may be too large in another call, or is known too late."""
    if any([part.is_late for part in parts]) or (
            what == "pow" and parts[1].what != "constant" and all([isinstance(part.value, int) for part in parts])):
        return None                                        # an int to any power may be as large as the memory
    bits = 0
    if isinstance(value, int):
        sizes = [part.bits for part in parts]
        bits = sizes[0] * abs(parts[1].value) if what == "pow" else sum(sizes) if what == "mul" else max(sizes) + 1
    if max([bits, *[part.bits for part in parts]]) > MOST_BITS:
        return None
    return Expression(what, parts, value, bits)


def in_order(wanted: Iterable[Expression]) -> list[Expression]:
    """Expressions and all that they are computed from, each after its operands."""
    found: dict[int, Expression] = {}
    waiting = [(each, False) for each in reversed([*wanted])]
    while waiting:
        each, ready = waiting.pop()
        if ready:
            found.setdefault(id(each), each)
        elif id(each) not in found:
            waiting.append((each, True))
            waiting += [(part, False) for part in each.operands()]
    return [*found.values()]


class Writer:
    """Writes Python that computes expressions, each once. `leaf` says how to read an expression without operands."""

    def __init__(self, scope: dict[str, Any], leaf: Callable[[Expression], str]) -> None:
        self.scope, self.leaf = scope, leaf
        scope["math"] = math
        self.names: dict[int, str] = {}
        self.kept: list[Expression] = []                   # whose identities are in `names`

    def lines(self, wanted: Expression) -> list[str]:
        """The lines that are still needed for an expression. `names` then has its name."""
        found = []
        for each in in_order([wanted]):
            if id(each) in self.names:
                continue
            name = self.names[id(each)] = f"made{len(self.names)}"
            self.kept.append(each)
            if each.what in FIXED:
                self.scope[name] = each.value
            elif each.what in ("read", "place", "late"):
                found.append(f"{name} = {self.leaf(each)}")
            else:
                operands = [self.names[id(part)] for part in each.operands()]
                found.append(f"{name} = " + SOURCES[each.what].format(*operands))
        return found


def words(expression: Expression) -> str:
    """An expression over places as a user writes it."""
    if expression.what in FIXED:
        return repr(expression.value)
    if expression.what == "place":
        return str(expression.item.words)
    if expression.what == "read":
        return "a number of a tensor"
    parts = [f"({words(part)})" if part.parts and part.what not in (*FIXED, "place") else words(part)
             for part in expression.operands()]
    return SOURCES[expression.what].format(*parts)
