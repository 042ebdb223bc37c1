"""Rows added to the rows of a table, as machine code: `kernels.networks.adding_rows.add_rows`.

No statement says what this kernel computes, since only the index says which rows meet. So its loops are written here.
They add the values of a row in their order, as NumPy does, so the bits are those of NumPy. Each thread has some rows of
the table, and passes by the values of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...foundations.dtypes import Array, Shape
from ...kernels.layout import address
from ...kernels.native import threads
from ..native.host import host
from ..native.lanes import TYPES, Code
from ..native.modules import Module
from ..native.table import address_at, size_at
from ..native.team import ENOUGH
from .places import Called, Places

# The addresses and sizes in the table, and their slots.
_ADDRESSES, _SIZES = ("table", "rows", "values"), ("count", "width", "parts")
_TABLE, _ROWS, _VALUES, _COUNT, _WIDTH, _PARTS = range(6)
# The rows of the table take turns in groups of 1 << _GROUP, so that threads seldom write to one line of the cache.
_GROUP = 3
# The nanoseconds that a row and a number of it take.
_ROW, _NUMBER = 2.0, 0.3


def text_of(dtype: Any) -> str:
    """The module for tables of this dtype, with the functions `run(table, team)` and `help`."""
    writer = Places(Module(host()), dtype, _ADDRESSES, _SIZES)
    writer.module.functions["part"] = _part(writer.module, dtype)
    return writer.run()


def _part(module: Module, dtype: Any) -> str:
    """`part(table, begin, end)` adds to the groups of rows whose numbers are `begin` to `end`, modulo the parts."""
    code, type = Code(module, 1), TYPES[dtype]
    table, rows, values = [address_at(code, slot) for slot in (_TABLE, _ROWS, _VALUES)]
    count, width, parts = [size_at(code, slot) for slot in (_COUNT, _WIDTH, _PARTS)]
    mask, lanes = code.put(f"sub i64 {parts}, 1"), module.host.bits // 8 // dtype.itemsize
    whole = code.put(f"and i64 {width}, {-lanes}")

    def add(row: str, i: str) -> None:
        to, of = [code.put(f"getelementptr {type}, ptr {start}, i64 {code.put(f'mul i64 {place}, {width}')}")
                  for start, place in ((table, row), (values, i))]

        def numbers(kind: str, place: str) -> None:
            target, source = [code.put(f"getelementptr {type}, ptr {start}, i64 {place}") for start in (to, of)]
            old, more = [code.put(f"load {kind}, ptr {start}, align {dtype.itemsize}") for start in (target, source)]
            code.do(f"store {kind} {code.put(f'fadd {kind} {old}, {more}')}, ptr {target}, align {dtype.itemsize}")

        code.loop(0, whole, lanes, lambda place: numbers(f"<{lanes} x {type}>", place))
        code.loop(whole, width, 1, lambda place: numbers(type, place))

    def one(i: str) -> None:
        row = code.put(f"load i64, ptr {code.put(f'getelementptr i64, ptr {rows}, i64 {i}')}, align 8")
        group = code.put(f"and i64 {code.put(f'lshr i64 {row}, {_GROUP}')}, {mask}")
        after, before = code.put(f"icmp uge i64 {group}, %begin"), code.put(f"icmp ult i64 {group}, %end")
        code.only_if(code.put(f"and i1 {after}, {before}"), lambda: add(row, i))

    code.loop(0, count, 1, one)
    return code.function("internal void @part(ptr %table, i64 %begin, i64 %end)")


class AddingRows(Called):
    """A native function that adds rows."""

    def __call__(self, arrays: Sequence[Array], sizes: tuple[int, ...], shapes: Sequence[Shape]) -> list[Any]:
        """Add to the first of the arrays: table, rows and values."""
        count, width = sizes
        team = count * (_ROW + _NUMBER * width) >= ENOUGH
        parts = 1 << (threads.available().bit_length() - 1) if team else 1
        self.call(*map(address, arrays), count, width, parts=parts)
        return []
