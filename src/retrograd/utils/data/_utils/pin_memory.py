"""Pinned memory, which only devices use: data goes through `pin_memory()` of its items."""

from __future__ import annotations

from typing import Any

from ....foundations.devices import DeviceLike
from .collate import like_sequence, mapped


def pin_memory(data: Any, device: DeviceLike | None = None) -> Any:
    """The data with `item.pin_memory()` in place of each tensor, and of each object that has this method."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return like_sequence(data, [pin_memory(item) for item in data])
    return mapped(data, pin_memory)
