"""What a guard asks of numbers that the program counts in: their type, and how comparisons of them turn out."""

from __future__ import annotations

from collections import deque
from typing import Any, Protocol

from ..program.expressions import PLACE_BITS, Expression, Writer, words
from ..reach.items import CONSTANT, CONTAINER, GROWN, OBJECT, Item, State, is_constant
from .differences import Check
from .lines import Lines
from .owned import is_bare

_LIMIT = 2 ** (PLACE_BITS - 1)
_MUTABLE, _EQUAL = (list, dict, deque), (set, frozenset)


class Asked(Protocol):
    """The numbers of a trace, as far as a guard asks for them.

    `outcomes` are comparisons with their outcomes, and `changes_others` says whether the call changes things that may
    be others in each call.
    """

    outcomes: list[tuple[Expression, Any]]
    changes_others: bool

    def counted(self) -> list[Item]:
        """The items whose numbers a guard returns behind the tensors."""


def ask_for_type(writer: Lines, item: Item, source: str, check: Check) -> None:
    """Write the lines for a place whose value may be another one in each call, within limits."""
    if item.role == "rate":                                  # an option that plans read from memory
        option = writer.constant(f"h{item.number}", item.array)
        writer.line(f"v = {source}", check)
        writer.test(f"v is not {option}.value and {option}.refuses(v)", "v",
                    Check(item.words, "value", CONSTANT, item.value))
        return
    name, kind = f"v{item.number}", type(item.value).__name__
    if item.kind != GROWN:
        check = Check(item.words, "value", CONSTANT, item.value)
    writer.line(f"{name} = {source}", check)
    if kind == "deque":
        writer.constant(kind, deque)
    size = f" or not {-_LIMIT} < {name} < {_LIMIT}" if kind == "int" else ""
    writer.test(f"type({name}) is not {kind}{size}", name, check)


def ask_more(writer: Lines, state: State, numbers: Asked) -> list[str]:
    """Write the lines about all numbers of a trace. Returns the names of the numbers that a repetition reads."""
    if numbers.changes_others and not state.identity:
        ask_for_others(writer, state)
    return _ask_for_outcomes(writer, numbers)


def ask_for_others(writer: Lines, state: State) -> None:
    """Write a line that asks that no two of the things that may be others in each call are the same thing.

    Otherwise a change of one of them would be a change of another one, too, and code that asks which of several equal
    things a thing is would find another one.
    """
    kinds = (*_MUTABLE, *_EQUAL) if state.identity else _MUTABLE
    found = [item for item in state.items if (item.kind in (GROWN, OBJECT) or isinstance(item.value, kinds))
             and not (is_constant(item) or is_bare(item))]
    if len(found) > 1:
        ids = ", ".join([f"id(v{item.number})" for item in found])
        words = " and ".join([item.words for item in found])
        writer.test(f"len({{{ids}}}) != {len(found)}", "None", Check(words, "distinct", CONTAINER, None))


def _ask_for_outcomes(writer: Lines, numbers: Asked) -> list[str]:
    """Write the lines for the outcomes of comparisons. Returns the names of the numbers that a repetition reads."""
    def leaf(expression: Expression) -> str:
        assert expression.item is not None
        item = expression.item
        known = item.role == "number"
        return f"v{item.number}" if known else writer.constant(f"c{item.number}", item.value)

    of_numbers = Writer(writer.scope, leaf)
    for expression, outcome in numbers.outcomes:
        check = Check(words(expression), "value", CONSTANT, outcome)
        for line in of_numbers.lines(expression):
            writer.line(line, check)
        name = of_numbers.names[id(expression)]
        writer.test(f"{name} is not {outcome}", name, check)
    return [f"v{item.number}" for item in numbers.counted()]
