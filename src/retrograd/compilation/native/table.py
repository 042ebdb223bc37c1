"""The table that native functions are given: the addresses of arrays, and the sizes that are set at run time."""

from __future__ import annotations

from .lanes import Code


def place_of(code: Code, slot: int | str, table: str = "%table") -> str:
    """The place of a slot in a table."""
    return code.put(f"getelementptr ptr, ptr {table}, i64 {slot}")


def address_at(code: Code, slot: int | str, table: str = "%table") -> str:
    """The address that stands in a slot."""
    return code.put(f"load ptr, ptr {place_of(code, slot, table)}")


def size_at(code: Code, slot: int) -> str:
    """The size that stands in a slot."""
    return code.put(f"load i64, ptr {place_of(code, slot)}")
