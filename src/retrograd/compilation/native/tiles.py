"""Matrix products in tiles: a tile of the result stays in registers while the factors go by.

Each element adds along k one term after the other, and blocks of 256 terms one after the other. So a number does not
depend on the tile that it lies in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .lanes import TYPES, Code, Lanes, fused
from .modules import Module
from .vector_math import shuffled

# The terms of a block: so many rows of a panel of the second factor lie on the stack.
_DEPTH = 256
# The lanes of the squares in which columns are made of rows. Larger squares take LLVM longer.
_SQUARE = 8
# The least rows of a block, if the second factor lies as it is needed, and if it must be brought in order.
_LONG, _LONGER = 16, 96
# The rows of a tile, by the vectors of a row, for 32 and for 16 registers of vectors.
_TALLEST = {32: (12, 12, 8, 6), 16: (8, 6)}


class Sizes(NamedTuple):
    """The sizes of out = a @ b, and how far apart numbers lie in memory: `row` and `step` are the gaps between the
    rows and the columns of a. b has rows without gaps inside, or columns if it is `turned`, which are `gap` apart. The
    result lies row by row.
    """

    m: int
    n: int
    k: int
    row: int
    step: int
    gap: int
    turned: bool


def by_rows(m: int, n: int, k: int, transposes: tuple[bool, bool]) -> Sizes:
    """The sizes of factors whose memory holds them row by row, or, if they are turned, their transposes."""
    row, step = (1, m) if transposes[0] else (k, 1)
    return Sizes(m, n, k, row, step, k if transposes[1] else n, transposes[1])


class Tiled(NamedTuple):
    """The function `name(ptr a, ptr b, ptr out, i64 begin, i64 end)`, which makes a range of `pieces` of the result."""

    name: str
    pieces: int


def write_tiled(module: Module, sizes: Sizes, dtype: np.dtype[Any], pieces: int = 1, more: bool = False) -> Tiled:
    """The function for factors of these sizes. It has about as many `pieces` as are asked for: each panel of columns is
    cut into blocks of rows, if they are not too short. The product is added to the result if there is `more` in it.
    """
    writer = _Tiled(module, sizes, dtype, pieces, more)
    name = f"tiled.{'.'.join([str(int(size)) for size in sizes])}.{writer.blocks}.{int(more)}.{dtype.char}"
    if name not in module.functions:
        module.functions[name] = ""                         # its place is before the functions that call it
        module.functions[name] = writer.write(name)
    return Tiled(name, writer.pieces)


class _Tiled:
    """One function. The result is made in panels of columns, and each panel in tiles of rows."""

    def __init__(self, module: Module, sizes: Sizes, dtype: np.dtype[Any], pieces: int, more: bool) -> None:
        self.module, self.sizes, self.dtype, self.more = module, sizes, dtype, more
        self.size, self.lanes = dtype.itemsize, module.host.lanes(dtype)
        self.tallest = _TALLEST[module.host.registers]
        self.code, self.scratch = Code(module, self.lanes), ""
        columns = self.lanes * len(self.tallest)
        self.panels = [(start, min(columns, sizes.n - start)) for start in range(0, sizes.n, columns)]
        packed = sizes.turned or sizes.n % self.lanes       # for each block again
        wanted = -(-pieces // len(self.panels))
        self.blocks = max(1, min(wanted, sizes.m // (_LONGER if packed else _LONG)))
        self.pieces = len(self.panels) * self.blocks

    def write(self, name: str) -> str:
        """The text of the function."""
        code = self.code
        if self.pieces == 1:
            self._panel(*self.panels[0], "0")
        else:
            code.loop("%begin", "%end", 1, self._piece)
        return code.function(f"internal void @{name}(ptr %a, ptr %b, ptr %out, i64 %begin, i64 %end)")

    def _piece(self, piece: str) -> None:
        """A block of a panel. Pieces that follow each other have the same rows."""
        code, count = self.code, len(self.panels)
        block, panel = [code.put(f"{name} i64 {piece}, {count}") for name in ("udiv", "urem")]
        for number, (start, width) in enumerate(self.panels):
            code.only_if(code.put(f"icmp eq i64 {panel}, {number}"), partial(self._panel, start, width, block))

    def _panel(self, start: int, count: int, block: str) -> None:
        """A block of the columns from `start` on."""
        k = self.sizes.k
        rest = k % _DEPTH
        self._terms(start, count, block, "0", min(k, _DEPTH), self.more)
        self.code.loop(_DEPTH, k - rest, _DEPTH, lambda p: self._terms(start, count, block, p, _DEPTH, True))
        if rest and k > _DEPTH:
            self._terms(start, count, block, str(k - rest), rest, True)

    def _terms(self, start: int, count: int, block: str, p: str, depth: int, more: bool) -> None:
        """The terms from p on. They are added to the result if there are `more`."""
        code, element, vectors = self.code, TYPES[self.dtype], -(-count // self.lanes)
        m, n, _, row, step, gap, turned = self.sizes
        first = _moved(code, element, "%a", p, step)
        second = _moved(code, element, self._moved("%b", start * (gap if turned else 1)), p, 1 if turned else gap)
        width = gap
        if turned or count % self.lanes:
            second, width = self._packed(second, count, depth), vectors * self.lanes
        tall = _tall(m, self.tallest[vectors - 1])
        whole, out = m // tall * tall, self._moved("%out", start)

        def tile(rows: int, i: str) -> None:
            numbers = [row, step, width, depth, n]
            code.do(f"call void @{_tile(self.module, rows, count, more, self.dtype)}"
                    f"(ptr {_moved(code, element, first, i, row)}, ptr {second}, "
                    f"ptr {_moved(code, element, out, i, n)}, {', '.join([f'i64 {number}' for number in numbers])})")

        begin, end = [self._row(block, after, m // tall, tall) for after in (0, 1)]
        code.loop(begin, end, tall, lambda i: tile(tall, i))
        if m > whole:
            last = None if self.blocks == 1 else code.put(f"icmp eq i64 {block}, {self.blocks - 1}")
            code.only_if(last, lambda: tile(m - whole, str(whole)))

    def _row(self, block: str, after: int, tiles: int, tall: int) -> int | str:
        """Where the tiles of a block begin, or those of the block after it."""
        if self.blocks == 1:
            return after * tiles * tall
        code = self.code
        number = code.put(f"mul i64 {code.put(f'add i64 {block}, {after}')}, {tiles}")
        return code.put(f"mul i64 {code.put(f'udiv i64 {number}, {self.blocks}')}, {tall}")

    # Rows of the second factor, in memory of the function

    def _packed(self, second: str, count: int, depth: int) -> str:
        """Memory of the function with columns of the second factor, in rows of whole vectors."""
        code, lanes = self.code, self.lanes
        width, most = -(-count // lanes) * lanes, min(self.sizes.k, _DEPTH)
        self.scratch = self.scratch or code.stack(f"[{most * width // lanes} x {code.type(self.dtype)}]")
        if self.sizes.turned:
            numbers = f"i64 {count}, i64 {depth}, i64 {self.sizes.gap}, i64 {width}"
            code.do(f"call void @{turning(self.module, self.dtype)}(ptr {second}, ptr {self.scratch}, {numbers})")
            return self.scratch
        for first in range(0, count, lanes):
            self._copy(self._moved(second, first), self._moved(self.scratch, first), min(lanes, count - first), depth,
                       width)
        return self.scratch

    def _copy(self, source: str, place: str, valid: int, depth: int, width: int) -> None:
        """Copy a vector of each row. Lanes beyond the valid ones repeat the first."""
        code, type, element = self.code, self.code.type(self.dtype), TYPES[self.dtype]

        def body(p: str) -> None:
            part, repeated = f"<{valid} x {element}>", [i if i < valid else 0 for i in range(self.lanes)]
            row = code.put(f"load {part}, ptr {_moved(code, element, source, p, self.sizes.gap)}, align {self.size}")
            row = row if valid == self.lanes else shuffled(code, part, row, row, repeated)
            code.do(f"store {type} {row}, ptr {_moved(code, element, place, p, width)}, align {self.size}")

        code.loop(0, depth, 1, body)

    def _moved(self, pointer: str, numbers: int) -> str:
        return _moved(self.code, TYPES[self.dtype], pointer, numbers) if numbers else pointer


def _tall(rows: int, most: int) -> int:
    """The rows of the tiles: if possible so many that all tiles have as many."""
    even = [count for count in range(most, most // 2, -1) if rows % count == 0]
    return even[0] if even else min(rows, most)


def _moved(code: Code, element: str, pointer: str, index: int | str, step: int | str = 1) -> str:
    """The place `index * step` numbers after a pointer."""
    numbers = index if step == 1 else code.put(f"mul nsw i64 {index}, {step}")
    return code.put(f"getelementptr {element}, ptr {pointer}, i64 {numbers}")


def turning(module: Module, dtype: np.dtype[Any]) -> str:
    """The name of a function that makes columns of rows: squares of numbers, and then what is left one by one.

    Its numbers are how many rows there are, how many numbers of each are taken, and the gaps between the rows and
    between those of the result, which are whole squares. Lanes beyond the rows repeat the last one.
    """
    name = f"turn.{dtype.char}"
    if name not in module.functions:
        code = Code(module, min(_SQUARE, module.host.lanes(dtype)))
        last = code.put("sub nsw i64 %count, 1")
        code.loop(0, "%width", code.width, lambda start: _turn_some(code, dtype, start, last))
        module.functions[name] = code.function(
            f"internal void @{name}(ptr %rows, ptr %out, i64 %count, i64 %k, i64 %gap, i64 %width)")
    return name


def _turn_some(code: Code, dtype: np.dtype[Any], start: str, last: str) -> None:
    """As many rows from `start` on as a square has."""
    side, element, size = code.width, TYPES[dtype], dtype.itemsize
    rows = [code.put(f"add nsw i64 {start}, {i}") for i in range(side)]
    rows = [code.put(f"select i1 {code.put(f'icmp slt i64 {row}, %count')}, i64 {row}, i64 {last}") for row in rows]
    pointers = [_moved(code, element, "%rows", row, "%gap") for row in rows]
    out = _moved(code, element, "%out", start)

    def square(p: str) -> None:
        vectors = [code.put(f"load {code.type(dtype)}, ptr {_moved(code, element, pointer, p)}, align {size}")
                   for pointer in pointers]
        place = _moved(code, element, out, p, "%width")
        for i, vector in enumerate(_transposed(code, vectors, dtype)):
            code.do(f"store {code.type(dtype)} {vector}, ptr {_moved(code, element, place, i, '%width')}, align {size}")

    def single(p: str) -> None:
        place = _moved(code, element, out, p, "%width")
        for i, pointer in enumerate(pointers):
            number = code.put(f"load {element}, ptr {_moved(code, element, pointer, p)}")
            code.do(f"store {element} {number}, ptr {_moved(code, element, place, i)}")

    whole = code.put(f"and i64 %k, {-side}")
    code.loop(0, whole, side, square)
    code.loop(whole, "%k", 1, single)


def _transposed(code: Code, rows: Sequence[str], dtype: np.dtype[Any]) -> list[str]:
    """The columns of a square of vectors."""
    rows, half = [*rows], 1
    while half < len(rows):
        for i in [i for i in range(len(rows)) if not i & half]:
            pair = rows[i], rows[i + half]
            low = [lane - half + len(rows) if lane & half else lane for lane in range(len(rows))]
            high = [lane + len(rows) if lane & half else lane + half for lane in range(len(rows))]
            rows[i], rows[i + half] = [shuffled(code, code.type(dtype), *pair, places) for places in (low, high)]
        half *= 2
    return rows


def _tile(module: Module, rows: int, columns: int, more: bool, dtype: np.dtype[Any]) -> str:
    """The name of the function of a tile of so many rows and columns.

    Its numbers are the gaps between the rows and the columns of the first factor, the gap between the rows of the
    second, the number of terms, and the gap between the rows of the result. The tile is added to the result if there is
    `more` in it.
    """
    name = f"tile.{rows}.{columns}.{int(more)}.{dtype.char}"
    if name not in module.functions:
        module.functions[name] = ""
        module.functions[name] = _write_tile(module, name, rows, columns, more, dtype)
    return name


class Tile:
    """A tile of sums, which stays in registers: rows of vectors."""

    def __init__(self, code: Code, dtype: np.dtype[Any], rows: int, vectors: int) -> None:
        self.code, self.dtype, self.type, self.rows, self.vectors = code, dtype, code.type(dtype), rows, vectors
        self._sums = [[code.stack(self.type) for _ in range(vectors)] for _ in range(rows)]
        for place in [place for row in self._sums for place in row]:
            code.do(f"store {self.type} zeroinitializer, ptr {place}")

    def add(self, numbers: Sequence[str], vectors: str) -> None:
        """Add the product of numbers, at a place for each row, and of vectors, which follow each other from a place on.
        """
        code, type, element = self.code, self.type, TYPES[self.dtype]
        seen = [self._lanes(f"load {type}, ptr {_moved(code, element, vectors, v * code.width)}, "
                            f"align {self.dtype.itemsize}") for v in range(self.vectors)]
        for number, row in zip(numbers, self._sums, strict=True):
            one = code.put(f"insertelement {type} poison, {element} {code.put(f'load {element}, ptr {number}')}, i32 0")
            factor = Lanes(code, shuffled(code, type, one, one, [0] * code.width), self.dtype)
            for place, vector in zip(row, seen):
                total = fused(factor, vector, self._lanes(f"load {type}, ptr {place}"))
                code.do(f"store {type} {total.name}, ptr {place}")

    def value(self, row: int, vector: int) -> str:
        """A vector of the tile."""
        return self.code.put(f"load {self.type}, ptr {self._sums[row][vector]}")

    def _lanes(self, load: str) -> Lanes:
        return Lanes(self.code, self.code.put(load), self.dtype)


def _write_tile(module: Module, name: str, rows: int, columns: int, more: bool, dtype: np.dtype[Any]) -> str:
    lanes, element, size = module.host.lanes(dtype), TYPES[dtype], dtype.itemsize
    code, vectors = Code(module, lanes), -(-columns // lanes)
    type, sums = code.type(dtype), Tile(code, dtype, rows, vectors)
    starts = [code.put(f"mul nsw i64 {i}, %row") for i in range(rows)]

    def body(p: str) -> None:
        first = _moved(code, element, "%a", p, "%step")
        sums.add([_moved(code, element, first, start) for start in starts],
                 _moved(code, element, "%b", p, "%width"))

    code.loop(0, "%k", 1, body)
    for i in range(rows):
        out = _moved(code, element, "%out", i, "%gap")
        for v in range(vectors):
            count, value = min(lanes, columns - v * lanes), sums.value(i, v)
            part, target = f"<{count} x {element}>", _moved(code, element, out, v * lanes)
            if count < lanes:
                value = shuffled(code, type, value, value, range(count))
            if more:
                value = code.put(f"fadd {part} {code.put(f'load {part}, ptr {target}, align {size}')}, {value}")
            code.do(f"store {part} {value}, ptr {target}, align {size}")
    return code.function(f"internal void @{name}(ptr %a, ptr %b, ptr %out, i64 %row, i64 %step, i64 %width, i64 %k, "
                         "i64 %gap)")
