"""What writes hand-written kernels: places in memory and numbers, from the slots of a table and from each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...kernels.native.door import ctypes
from ..native.host import host
from ..native.lanes import TYPES, Code
from ..native.modules import Module
from ..native.sharing import help_module, shared
from ..native.table import address_at, size_at
from ..native.team import with_team
from ..native.tiles import Tile

# The rows and the vectors of a tile, for 32 and for 16 registers of vectors.
_TILES = {32: (8, 2), 16: (4, 2)}


def tile() -> tuple[int, int]:
    """The rows and the vectors of a tile of sums on this machine."""
    return _TILES[host().registers]


class Places:
    """The code of one function after the other. Its table has these addresses, and after them these sizes.

    `there`, `times` and `least` take the name of an address or of a size, or of any other value.
    """

    def __init__(self, module: Module, dtype: np.dtype[Any], addresses: Sequence[str], sizes: Sequence[str]) -> None:
        self.module, self.dtype, self.element, self.size = module, dtype, TYPES[dtype], dtype.itemsize
        self.lanes = module.host.lanes(dtype)
        self.addresses, self.slots = addresses, {name: slot for slot, name in enumerate((*addresses, *sizes))}
        self.at: dict[str, str] = {}
        self.code = Code(module, self.lanes)

    def anew(self) -> Code:
        """Begin another function."""
        self.code, self.at = Code(self.module, self.lanes), {}
        return self.code

    def read(self) -> None:
        """Read the whole table."""
        for name, slot in self.slots.items():
            self.at[name] = (address_at if name in self.addresses else size_at)(self.code, slot)

    def parts(self, one: Callable[[str], None]) -> str:
        """`part(table, begin, end)`, which does something for each of these parts."""
        code = self.anew()
        self.read()
        code.loop("%begin", "%end", 1, one)
        return code.function("internal void @part(ptr %table, i64 %begin, i64 %end)")

    def run(self) -> str:
        """The module, with `run(table, team)`, which shares the parts of `part(table, begin, end)`, and `help`."""
        code = self.anew()
        parts = size_at(code, self.slots["parts"])
        code.lines.append(shared(self.module, "part", parts, parts))
        help_module(self.module)
        self.module.functions["run"] = code.function("void @run(ptr %table, ptr %team)")
        return self.module.text()

    def there(self, pointer: str, numbers: int | str) -> str:
        """The place so many numbers after a pointer."""
        return self.code.put(f"getelementptr {self.element}, ptr {self.at.get(pointer, pointer)}, i64 {numbers}")

    def times(self, number: str, size: int | str) -> str:
        """A product."""
        return self.code.put(f"mul i64 {number}, {self.at.get(str(size), size)}")

    def plus(self, number: str, more: int | str) -> str:
        """A sum."""
        return self.code.put(f"add i64 {number}, {more}")

    def least(self, number: str, size: int | str) -> str:
        """The smaller one of two numbers."""
        self.module.declare("llvm.umin.i64", "i64", "i64", "i64")
        return self.code.put(f"call i64 @llvm.umin.i64(i64 {number}, i64 {self.at.get(str(size), size)})")

    def store(self, value: str, place: str, more: bool) -> None:
        """Write a vector, or add the vector to what there is, if there is `more`."""
        kind = self.code.type(self.dtype)
        if more:
            value = self.code.put(
                f"fadd {kind} {self.code.put(f'load {kind}, ptr {place}, align {self.size}')}, {value}")
        self.code.do(f"store {kind} {value}, ptr {place}, align {self.size}")

    def store_tile(self, sums: Tile, gap: str, more: bool) -> None:
        """Write a tile from `%out` on, with such a gap between its rows, or add the tile to what there is."""
        for i in range(sums.rows):
            for v in range(sums.vectors):
                self.store(sums.value(i, v), self.there("%out", self.plus(self.times(gap, i), v * self.lanes)), more)

    def zeros(self, place: str, count: str) -> None:
        """Write zeros, whole vectors of them."""
        self.code.loop(0, count, self.lanes, lambda i: self.code.do(
            f"store {self.code.type(self.dtype)} zeroinitializer, ptr {self.there(place, i)}, align {self.size}"))

    def samples(self, part: str) -> tuple[str, str]:
        """The first sample of a part, and that of the part after it."""
        begin, end = [self.code.put(f"udiv i64 {self.times(each, 'samples')}, {self.at['parts']}")
                      for each in (part, self.plus(part, 1))]
        return begin, end


class Called:
    """A native function `run`, which is called with tables. `code` keeps its memory."""

    def __init__(self, place: int, code: Any) -> None:
        self._code = code
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(place)

    def call(self, *slots: int, parts: int) -> None:
        """Call the function with what stands in the table, and at last the number of parts; alone if there is one."""
        table = (ctypes.c_size_t * (len(slots) + 1))(*slots, parts)
        if parts > 1:
            with_team(self._run, ctypes.addressof(table))
        else:
            self._run(ctypes.addressof(table), None)
