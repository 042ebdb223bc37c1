"""What a guard asks of numbers that the program counts in: their type, and how comparisons of them turn out."""

from __future__ import annotations

from typing import Any

from ..differences import Check
from ..items import CONSTANT, Item
from .expressions import PLACE_BITS, Expression, Writer, words
from .watching import Numbers

_LIMIT = 2 ** (PLACE_BITS - 1)


def ask_for_type(writer: Any, item: Item, source: str) -> None:
    """Write the lines for a place that holds a number of the same type, and not always the same number."""
    name, kind = f"v{item.number}", type(item.value).__name__
    check = Check(item.words, "value", CONSTANT, item.value)
    writer.line(f"{name} = {source}", check)
    size = f" or not {-_LIMIT} < {name} < {_LIMIT}" if kind == "int" else ""
    writer.test(f"type({name}) is not {kind}{size}", name, check)


def ask_for_outcomes(writer: Any, numbers: Numbers | None) -> list[str]:
    """Write the lines for the outcomes of comparisons. Returns the names of the numbers that a repetition reads."""
    if numbers is None:
        return []

    def leaf(expression: Expression) -> str:
        assert expression.item is not None
        item = expression.item
        known = item.role == "number"
        return f"v{item.number}" if known else str(writer.constant(f"c{item.number}", item.value))

    of_numbers = Writer(writer.scope, leaf)
    for expression, outcome in numbers.outcomes:
        check = Check(words(expression), "value", CONSTANT, outcome)
        for line in of_numbers.lines(expression):
            writer.line(line, check)
        name = of_numbers.names[id(expression)]
        writer.test(f"{name} is not {outcome}", name, check)
    return [f"v{item.number}" for item in numbers.counted()]
