"""Rows added to the rows of a table, as machine code: `kernels.networks.adding_rows`.

No statement says what these kernels compute, since only the index says which rows meet. So their loops are written
here. They add the values of a row in their order, as NumPy does, so the bits are those of NumPy. Each thread has some
rows of the table, and passes by the values of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...foundations.dtypes import Array, Shape
from ...kernels.layout import address
from ...kernels.native import threads
from ..native.host import host
from ..native.modules import Module
from ..native.team import ENOUGH
from .places import Called, Places

# The addresses and sizes in the table. `chosen` are the rows of the values, if not each row is added once and in order.
_ADDRESSES, _SIZES = ("table", "rows", "values"), ("count", "width", "parts")
_CHOSEN = (*_ADDRESSES, "chosen")
# The rows of the table take turns in groups of 1 << _GROUP, so that threads seldom write to one line of the cache.
_GROUP = 3
# The nanoseconds that a row and a number of it take.
_ROW, _NUMBER = 2.0, 0.3


def text_of(dtype: Any, chooses: bool = False) -> str:
    """The module for tables of this dtype, with the functions `run(table, team)` and `help`."""
    writer = _Writer(Module(host()), dtype, _CHOSEN if chooses else _ADDRESSES, _SIZES)
    writer.module.functions["part"] = writer.part()
    return writer.run()


class _Writer(Places):
    """The functions of the module."""

    def part(self) -> str:
        """`part(table, begin, end)` adds to the groups of rows whose numbers are `begin` to `end`, modulo the parts."""
        code = self.anew()
        self.read()
        at = self.at
        mask, whole = code.put(f"sub i64 {at['parts']}, 1"), code.put(f"and i64 {at['width']}, {-self.lanes}")

        def one(i: str) -> None:
            row = self._number("rows", i)
            group = code.put(f"and i64 {code.put(f'lshr i64 {row}, {_GROUP}')}, {mask}")
            after, before = code.put(f"icmp uge i64 {group}, %begin"), code.put(f"icmp ult i64 {group}, %end")
            code.only_if(code.put(f"and i1 {after}, {before}"), lambda: self._add(row, i, whole))

        code.loop(0, at["count"], 1, one)
        return code.function("internal void @part(ptr %table, i64 %begin, i64 %end)")

    def _number(self, array: str, i: str) -> str:
        """A number of an array of row numbers."""
        return self.code.put(f"load i64, ptr {self.code.put(f'getelementptr i64, ptr {self.at[array]}, i64 {i}')}")

    def _add(self, row: str, i: str, whole: str) -> None:
        """Add row i of the values, or the row that is chosen for it, to a row of the table."""
        code = self.code
        taken = self._number("chosen", i) if "chosen" in self.at else i
        to, of = self.there("table", self.times(row, "width")), self.there("values", self.times(taken, "width"))

        def numbers(kind: str, place: str) -> None:
            target, source = self.there(to, place), self.there(of, place)
            old, more = [code.put(f"load {kind}, ptr {start}, align {self.size}") for start in (target, source)]
            code.do(f"store {kind} {code.put(f'fadd {kind} {old}, {more}')}, ptr {target}, align {self.size}")

        code.loop(0, whole, self.lanes, lambda place: numbers(f"<{self.lanes} x {self.element}>", place))
        code.loop(whole, self.at["width"], 1, lambda place: numbers(self.element, place))


class AddingRows(Called):
    """A native function that adds rows."""

    def __call__(self, arrays: Sequence[Array], sizes: tuple[int, ...], shapes: Sequence[Shape]) -> list[Any]:
        """Add to the first of the arrays: table, rows, values, and the chosen rows of the values if there are any."""
        count, width = sizes
        team = count * (_ROW + _NUMBER * width) >= ENOUGH
        parts = 1 << (threads.available().bit_length() - 1) if team else 1
        self.call(*map(address, arrays), count, width, parts=parts)
        return []
