"""How a native function of rows is called: the layout class of its arguments, and what stands in its table.

The plan is kept beside the object code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# The symbols of the rows of a block, and of the most rows of a block. The others are the letters, in order.
LOCAL, STEP = 0, 1


class Given(NamedTuple):
    """An array among the arguments of a call: for each dim the letter of its size, `1`, or the letters of its factors.
    """

    letters: str | tuple[str, ...]
    dtype: str


class Size(NamedTuple):
    """The size of a letter among the arguments of a call."""

    letter: str


class Number(NamedTuple):
    """A number in the table: a factor times sizes, or so many blocks of that length.

    For the rows of a block it is that of one row."""

    slot: int
    blocks: bool
    factor: int
    symbols: list[int]


class Constant(NamedTuple):
    """A number in memory, made of sizes."""

    slot: int
    dtype: str
    factor: int
    letters: list[int]


class Temporary(NamedTuple):
    """Memory of a block: so many bytes for each row."""

    slot: int
    factor: int
    letters: list[int]


class Across(NamedTuple):
    """A sum over rows: each part has so many numbers."""

    slot: int
    dtype: str
    factor: int
    letters: list[int]


class Output(NamedTuple):
    """A result. Those of reductions over rows are brought together by the caller."""

    slot: int
    dtype: str
    across: bool


class RowsPlan(NamedTuple):
    """The table of a native function. `cost` is in nanoseconds for each element, `rows` the place of the letter R.

    `beside` says whether rows lie beside each other, element by element, so that vectors go over many rows.

    `named`, `offsets` and `lengths` are slots: of numbers by their names, of where temporaries begin, and of the bytes
    of the reductions over rows.
    """

    slots: int
    inputs: list[int]
    outputs: list[Output]
    numbers: list[Number]
    temporaries: list[Temporary]
    across: list[Across]
    constants: list[Constant]
    rows: int
    named: dict[str, int]
    offsets: dict[int, int]
    lengths: dict[int, int]
    cost: float
    beside: bool

    def packed(self) -> Any:
        """The plan in lists, numbers and texts."""
        return [*self]


def unpacked(lists: Any) -> RowsPlan:
    """The plan that was packed, perhaps as JSON."""
    plan = RowsPlan(*lists)
    return plan._replace(
        outputs=[Output(*each) for each in plan.outputs], numbers=[Number(*each) for each in plan.numbers],
        temporaries=[Temporary(*each) for each in plan.temporaries], across=[Across(*each) for each in plan.across],
        constants=[Constant(*each) for each in plan.constants],
        offsets={int(slot): other for slot, other in plan.offsets.items()},
        lengths={int(slot): other for slot, other in plan.lengths.items()})
