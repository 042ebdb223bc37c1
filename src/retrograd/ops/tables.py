"""Tables of facts about operators, and the index of all such tables.

What is said of an operator outside of its statement stands in a table: how `vmap` calls it, what its tangent is, what a
profile calls it. The rows of a table are keyed by the operators themselves. So a row about an operator that does not
exist is an error of the import, and two operators of one name have a row each. A row also holds for the operator's form
in place, unless that form has another name or a row of its own.

This module does not know what an operator is, so that the statement of an operator may use a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .framework import Op

Key = TypeVar("Key")
Row = TypeVar("Row")


class Table(dict[Key, Row]):
    """The rows of a table. `says` is a sentence about an operator without its dot, with {} for the row.

    `because` is empty, or says why the rows are keyed by the names of operators. Then a row is about all operators of
    its name.
    """

    __slots__ = ("because", "says")

    def __init__(self, says: str, rows: Mapping[Key, Row], because: str) -> None:
        super().__init__(rows)
        self.says, self.because = says, because


# All tables of the modules that have been imported.
INDEX: list[Table[Any, Any]] = []


def table(says: str, *parts: Mapping[Key, Row], because: str = "") -> Table[Key, Row]:
    """A table of the rows of all parts, in the index. `says` and `because` are as for `Table`.

    Raises TypeError if two parts have a row for one operator, or if rows are keyed by names and `because` is empty, or
    the other way round.
    """
    rows: dict[Any, Row] = {}
    for part in parts:
        twice = rows.keys() & part.keys()
        if twice:
            raise TypeError(f"two rows say of {', '.join(map(str, twice))}: {says}")
        rows.update(part)
    if {isinstance(key, str) for key in rows} != {bool(because)}:
        raise TypeError(f"rows are keyed by names if and only if something says why: {says}")
    for key, row in [] if because else [*rows.items()]:
        if key.written.name == key.name:
            rows.setdefault(key.written, row)
    made: Table[Key, Row] = Table(says, rows, because)
    INDEX.append(made)
    return made


def about(op: Op) -> list[tuple[str, Any]]:
    """What the tables of the index say of an operator: the sentence of each table, and its row."""
    keys = [(each, op.name if each.because else op) for each in INDEX]
    return [(each.says, each[key]) for each, key in keys if key in each]
