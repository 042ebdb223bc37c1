"""Products of matrices, and of stacks of matrices, as machine code: `kernels.linalg.served_products.product`.

A tile of the result stays in registers while the factors go by. So each number adds its terms one after the other, and
does not depend on the threads. The result is made in panels of columns, and each panel in blocks of rows. The last tile
of a panel, and the last panel, overlap those before them, where the same numbers are written again. A second factor
that lies by columns is brought in order panel by panel, in memory of the function.

The threads of OpenBLAS wait for each other at the end of each product. If another program has one of the cores, a short
product takes as long as the system lets that program run. Here the calling thread takes the parts of a thread that does
not come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...foundations.dtypes import Array, Shape
from ...kernels.layout import address
from ...kernels.native import threads
from ...kernels.native.heap import new_array
from ...kernels.thresholds import PRODUCT_DEPTH
from ..native.host import host
from ..native.modules import Module
from ..native.tiles import Tile, turning
from .places import Called, Places, tile

# The addresses and sizes in the table: out[i] = x[i] @ y[i], for (m, k) and (k, n) matrices. `row` and `step` are the
# gaps between the rows and columns of x, `gap` that between the rows of y, or between its columns if y is `turned`. The
# matrices of a stack are `x_next`, `y_next` and m * n numbers apart. The rows of a panel are made in `blocks`.
_ADDRESSES = ("x", "y", "out")
_SIZES = ("m", "n", "k", "row", "step", "gap", "turned", "x_next", "y_next", "panels", "blocks", "pieces", "parts")
# How many parts a product has at most, the least multiplications of a part, and the least rows of a block of which the
# second factor is brought in order.
_PARTS, _PART, _ROWS = 16, 1 << 17, 96


def text_of(dtype: Any) -> str:
    """The module for this dtype, with the functions `run(table, team)` and `help`."""
    writer = _Writer(Module(host()), dtype, _ADDRESSES, _SIZES)
    writer.module.functions["tile"] = writer.tile()
    writer.module.functions["part"] = writer.part()
    return writer.run()


class _Writer(Places):
    """The functions of the module."""

    def part(self) -> str:
        """`part(table, begin, end)` makes some of the parts of the result."""
        self.turn = turning(self.module, self.dtype)
        return self.parts(self._part)

    def _part(self, part: str) -> None:
        code, at, width = self.code, self.at, tile()[1] * self.lanes
        memory = code.stack(f"[{PRODUCT_DEPTH * width} x {self.element}], align 64")
        matrix, place = [code.put(f"{name} i64 {part}, {at['pieces']}") for name in ("udiv", "urem")]
        block, panel = [code.put(f"{name} i64 {place}, {at['panels']}") for name in ("udiv", "urem")]
        x = self.there("x", self.times(matrix, "x_next"))
        start = self.least(self.times(panel, width), code.put(f"sub i64 {at['n']}, {width}"))
        turned = code.put(f"icmp ne i64 {at['turned']}, 0")
        apart = code.put(f"select i1 {turned}, i64 {at['gap']}, i64 1")
        y = self.there(self.there("y", self.times(matrix, "y_next")), self.times(start, apart))
        code.only_if(turned, lambda: code.do(
            f"call void @{self.turn}(ptr {y}, ptr {memory}, i64 {width}, i64 {at['k']}, i64 {at['gap']}, "
            f"i64 {width})"))
        seen = code.put(f"select i1 {turned}, ptr {memory}, ptr {y}")
        gap = code.put(f"select i1 {turned}, i64 {width}, i64 {at['gap']}")
        out = self.there(self.there("out", self.times(matrix, self.times(at["m"], "n"))), start)
        self._rows(x, seen, gap, out, block)

    def _rows(self, x: str, y: str, gap: str, out: str, block: str) -> None:
        """A block of the tiles of a panel."""
        code, at, rows = self.code, self.at, tile()[0]
        tiles = code.put(f"udiv i64 {self.plus(at['m'], rows - 1)}, {rows}")
        begin, end = [code.put(f"udiv i64 {self.times(each, tiles)}, {at['blocks']}")
                      for each in (block, self.plus(block, 1))]
        last = code.put(f"sub i64 {at['m']}, {rows}")

        def one(number: str) -> None:
            first = self.least(self.times(number, rows), last)
            code.do(f"call void @tile(ptr {self.there(x, self.times(first, 'row'))}, ptr {y}, "
                    f"ptr {self.there(out, self.times(first, 'n'))}, i64 {at['k']}, i64 {at['row']}, "
                    f"i64 {at['step']}, i64 {gap}, i64 {at['n']})")

        code.loop(begin, end, 1, one)

    def tile(self) -> str:
        """`tile(x, y, out, k, row, step, gap, n)` makes a tile of the result."""
        code, (rows, vectors) = self.anew(), tile()
        sums = Tile(code, self.dtype, rows, vectors)
        starts = [self.there("%x", self.times("%row", i)) for i in range(rows)]

        def term(p: str) -> None:
            along = self.times("%step", p)
            sums.add([self.there(start, along) for start in starts], self.there("%y", self.times("%gap", p)))

        code.loop(0, "%k", 1, term)
        self.store_tile(sums, "%n", False)
        return code.function("internal void @tile(ptr %x, ptr %y, ptr %out, i64 %k, i64 %row, i64 %step, i64 %gap, "
                             "i64 %n)")


class Multiplying(Called):
    """The native function of products."""

    def __call__(self, arrays: Sequence[Array], sizes: Sequence[Any], shapes: Sequence[Shape]) -> list[Any]:
        """The product of two matrices, or of two stacks of matrices, of these gaps (`_SIZES` from `row` on)."""
        x, y = arrays
        (*stack, m, n), k = shapes[0], x.shape[-1]
        row, step, gap, turned, x_next, y_next = sizes
        count = stack[0] if stack else 1
        panels = -(-n // (tile()[1] * host().lanes(x.dtype)))
        wanted = min(_PARTS, count * m * n * k // _PART) if threads.available() > 1 else 1
        blocks = max(1, min(-(-wanted // (panels * count)), m // (_ROWS if turned else tile()[0])))
        out = new_array(shapes[0], x.dtype)
        pieces = panels * blocks
        self.call(address(x), address(y), address(out), m, n, k, row, step, gap, turned, x_next, y_next, panels, blocks,
                  pieces, parts=pieces * count)
        return [out]
