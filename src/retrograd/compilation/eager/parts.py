"""The function that takes parts of the rows through all loops, block after block.

A part copies the table. In its own table the addresses are those of the rows of a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..native.lanes import Code
from ..native.modules import Module
from ..native.nest import BLOCK, Blocks
from ..native.table import address_at, place_of, size_at
from .plans import LOCAL, RowsPlan


class LoopCall(NamedTuple):
    """The loop `loop<name>` runs as far as `extent`. `fill<name>` begins its reductions first, if there is any."""

    name: str
    extent: Any
    begins: bool


class PartWriter:
    """Writes `part(table, begin, end)`.

    `moving` says how far the rows of arrays from outside are apart, by slot: in bytes, or the key of the slot that has
    the bytes. `slots` are the slots of numbers by their keys.
    """

    def __init__(self, module: Module, plan: RowsPlan, slots: dict[Any, int], moving: dict[int, Any],
                 calls: Sequence[LoopCall]) -> None:
        self.module, self.plan, self.slots, self.moving, self.calls = module, plan, slots, moving, calls
        self.local = [key for key in slots if isinstance(key, Blocks) or hasattr(key, "terms")]
        self.local = [key for key in self.local if LOCAL in _form(key).symbols]
        self.code = Code(module, 1)
        self.own = self.code.stack(f"[{plan.slots} x ptr]")

    def write(self) -> None:
        """Add the function to the module."""
        code, plan = self.code, self.plan
        scratch = code.put(f"alloca i8, i64 {size_at(code, plan.named['scratch'])}, align 64")
        code.loop(0, plan.slots, 1, lambda i: self._set(i, address_at(code, i)))
        for temporary in plan.temporaries:
            offset = size_at(code, plan.offsets[temporary.slot])
            self._set(temporary.slot, code.put(f"getelementptr i8, ptr {scratch}, i64 {offset}"))
        rows, step, parts = [size_at(code, plan.named[name]) for name in ("rows", "step", "parts")]
        code.loop("%begin", "%end", 1, lambda part: self._part(part, rows, step, parts))
        self.module.functions["part"] = code.function("internal void @part(ptr %table, i64 %begin, i64 %end)")

    def _set(self, slot: int | str, value: str, type: str = "ptr") -> None:
        """Put something into the part's own table."""
        self.code.do(f"store {type} {value}, ptr {place_of(self.code, slot, self.own)}")

    def _move(self, slot: int, bytes: str) -> None:
        self._set(slot, self.code.put(f"getelementptr i8, ptr {address_at(self.code, slot)}, i64 {bytes}"))

    def _part(self, part: str, rows: str, step: str, parts: str) -> None:
        code = self.code
        after = code.put(f"add i64 {part}, 1")
        first, last = [code.put(f"udiv i64 {code.put(f'mul i64 {rows}, {number}')}, {parts}")
                       for number in (part, after)]
        for each in self.plan.across:
            size = size_at(code, self.plan.lengths[each.slot])
            self._move(each.slot, code.put(f"mul i64 {part}, {size}"))
        code.loop(first, last, step, lambda i: self._block(i, last, step))

    def _block(self, i: str, last: str, step: str) -> None:
        """The rows from i on, as many as a block has, or as are left."""
        code = self.code
        left = code.put(f"sub i64 {last}, {i}")
        count = code.put(f"select i1 {code.put(f'icmp slt i64 {left}, {step}')}, i64 {left}, i64 {step}")
        for slot, apart in self.moving.items():
            if apart:
                gap = apart if type(apart) is int else size_at(code, self.slots[apart])
                self._move(slot, code.put(f"mul i64 {i}, {gap}"))
        for key in self.local:
            number = code.put(f"mul i64 {count}, {size_at(code, self.slots[_form(key)])}")
            if isinstance(key, Blocks):
                number = code.put(f"udiv i64 {code.put(f'add i64 {number}, {BLOCK - 1}')}, {BLOCK}")
            self._set(self.slots[key], number, "i64")
        for call in self.calls:
            if call.begins:
                code.do(f"call void @fill{call.name}(ptr {self.own})")
            code.do(f"call void @loop{call.name}(ptr {self.own}, i64 0, i64 {self._extent(call.extent)})")

    def _extent(self, extent: Any) -> str:
        if type(extent) is int:
            return str(extent)
        return self.code.put(f"load i64, ptr {place_of(self.code, self.slots[extent.expression], self.own)}")


def _form(key: Any) -> Any:
    return key.length if isinstance(key, Blocks) else key
