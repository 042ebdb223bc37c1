"""Elements that an index picks along a dim, as machine code: `kernels.indexing.picking.picked`, and adding to them.

Arrays are seen as (before, dim, after). Numbers are added in the order of the index, as NumPy adds them, so the bits
are those of NumPy. Threads share the first sizes, or the last ones, so no two threads write to one element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...foundations.dtypes import Array, Shape
from ...kernels.layout import address
from ...kernels.native import threads
from ...kernels.native.heap import new_array
from ..native.host import host
from ..native.modules import Module
from ..native.team import ENOUGH
from .places import Called, Places

# The table: of two arrays one has the size `all` along the dim, and the other one the size `some` of the index.
_ADDRESSES, _SIZES = ("whole", "index", "part"), ("before", "all", "some", "after", "by_last", "parts")
# The nanoseconds that an element takes, and the least elements after the dim that a thread has.
_ELEMENT, _BESIDE = 1.0, 32


def text_of(dtype: Any, adds: bool = False) -> str:
    """The module for this dtype, with `run(table, team)`, which picks elements or adds to them, and `help`."""
    writer = _Writer(Module(host()), dtype, _ADDRESSES, _SIZES)
    writer.module.functions["part"] = writer.part(adds)
    return writer.run()


class _Writer(Places):
    """The functions of the module."""

    def part(self, adds: bool) -> str:
        """`part(table, begin, end)` is for these parts of the first or of the last sizes."""
        code = self.anew()
        self.read()
        at, by_last = self.at, code.put(f"icmp ne i64 {self.at['by_last']}, 0")

        def bounds(size: str, shared: bool) -> list[str]:
            found = []
            for end, whole in (("%begin", "0"), ("%end", at[size])):
                own = code.put(f"udiv i64 {self.times(end, size)}, {at['parts']}")
                first, second = (own, whole) if shared else (whole, own)
                found.append(code.put(f"select i1 {by_last}, i64 {first}, i64 {second}"))
            return found

        first, last = bounds("before", False), bounds("after", True)

        def rows(b: str) -> None:
            start = self.times(b, "all")
            code.loop(0, at["some"], 1, lambda i: row(start, self.times(
                self.plus(self.times(b, "some"), i), "after")))

        def row(start: str, numbers: str) -> None:
            index = code.put(f"getelementptr i64, ptr {at['index']}, i64 {numbers}")
            code.loop(last[0], last[1], 1, partial(self._one, adds, start, index, self.there("part", numbers)))

        code.loop(first[0], first[1], 1, rows)
        return code.function("internal void @part(ptr %table, i64 %begin, i64 %end)")

    def _one(self, adds: bool, start: str, index: str, part: str, c: str) -> None:
        code, kind = self.code, self.element
        place = code.put(f"load i64, ptr {code.put(f'getelementptr i64, ptr {index}, i64 {c}')}, align 8")
        element = self.there("whole", self.plus(self.times(self.plus(start, place), "after"), c))
        one = self.there(part, c)
        value = code.put(f"load {kind}, ptr {element if not adds else one}")
        if adds:
            value = code.put(f"fadd {kind} {code.put(f'load {kind}, ptr {element}')}, {value}")
        code.do(f"store {kind} {value}, ptr {element if adds else one}")


class Picking(Called):
    """A native function that picks elements, or adds to them."""

    def __call__(self, arrays: Sequence[Array], sizes: tuple[int, ...], shapes: Sequence[Shape]) -> list[Any]:
        """Pick elements of a whole array by an index; or add a part to the whole array, if there are three arrays."""
        whole, index, *given = arrays
        results = [] if given else [new_array(shapes[0], whole.dtype)]
        before, _, some, after = sizes
        parts, by_last = threads.available(), before == 1
        together = after // _BESIDE if by_last else before
        if together < parts or before * some * after * _ELEMENT < ENOUGH:
            parts = 1
        self.call(*map(address, (whole, index, *given, *results)), *sizes, by_last, parts=parts)
        return results
