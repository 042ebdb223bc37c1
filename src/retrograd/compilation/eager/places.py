"""What writes hand-written kernels: places in memory and numbers, from the slots of a table and from each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..native.lanes import TYPES, Code, Lanes, fused
from ..native.modules import Module
from ..native.sharing import help_module, shared
from ..native.table import address_at, size_at
from ..native.vector_math import shuffled


class Places:
    """The code of one function after the other. Its table has these addresses, and after them these sizes.

    `there`, `times` and `least` take the name of an address or of a size, or of any other value.
    """

    def __init__(self, module: Module, dtype: np.dtype[Any], addresses: Sequence[str], sizes: Sequence[str]) -> None:
        self.module, self.dtype, self.element, self.size = module, dtype, TYPES[dtype], dtype.itemsize
        self.lanes = module.host.bits // 8 // dtype.itemsize
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

    def vector(self, place: str) -> Lanes:
        """The vector of numbers from a place on."""
        kind = self.code.type(self.dtype)
        return self.code.vector(self.code.put(f"load {kind}, ptr {place}, align {self.size}"), self.dtype)

    def zeros(self, place: str, count: str) -> None:
        """Write zeros, whole vectors of them."""
        self.code.loop(0, count, self.lanes, lambda i: self.code.do(
            f"store {self.code.type(self.dtype)} zeroinitializer, ptr {self.there(place, i)}, align {self.size}"))

    def samples(self, part: str) -> tuple[str, str]:
        """The first sample of a part, and that of the part after it."""
        begin, end = [self.code.put(f"udiv i64 {self.times(each, 'samples')}, {self.at['parts']}")
                      for each in (part, self.plus(part, 1))]
        return begin, end


class Tile:
    """A tile of sums in registers: rows of vectors."""

    def __init__(self, places: Places, rows: int, vectors: int) -> None:
        self.places, code = places, places.code
        kind = code.type(places.dtype)
        self.sums = [[code.stack(kind) for _ in range(vectors)] for _ in range(rows)]
        for place in [place for row in self.sums for place in row]:
            code.do(f"store {kind} zeroinitializer, ptr {place}")

    def add(self, numbers: str, vectors: str) -> None:
        """Add the product of numbers, one for each row, and vectors. Both follow each other from a place on."""
        places, code = self.places, self.places.code
        kind = code.type(places.dtype)
        seen = [places.vector(places.there(vectors, v * places.lanes)) for v in range(len(self.sums[0]))]
        for i, row in enumerate(self.sums):
            number = code.put(f"load {places.element}, ptr {places.there(numbers, i)}")
            one = code.put(f"insertelement {kind} poison, {places.element} {number}, i32 0")
            factor = code.vector(shuffled(code, kind, one, one, [0] * places.lanes), places.dtype)
            for place, vector in zip(row, seen):
                total = fused(factor, vector, code.vector(code.put(f"load {kind}, ptr {place}"), places.dtype))
                code.do(f"store {kind} {total.name}, ptr {place}")

    def store(self, row: int, vector: int, place: str, more: bool) -> None:
        """Write a vector of the tile, or add the vector to what there is, if there is `more`."""
        places, code = self.places, self.places.code
        kind = code.type(places.dtype)
        value = code.put(f"load {kind}, ptr {self.sums[row][vector]}")
        if more:
            value = code.put(f"fadd {kind} {places.vector(place).name}, {value}")
        code.do(f"store {kind} {value}, ptr {place}, align {places.size}")
