"""Sizes that a traced run has left in the program's lists, dicts and objects, and in its result: numbers again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..program.sizes import SizeFloat, SizeInt, plain, with_parts
from ..reach.appended import Grown
from ..reach.items import CONTAINER, SET, Item
from ..reach.state import walk
from .walked import WalkedCall

_WATCHED = (SizeInt, SizeFloat)


def without_sizes(result: Any, call: WalkedCall, grown: Grown, number: Callable[[int], Any]) -> Any:
    """What a call has returned, with numbers in place of sizes; and so in all that the call can reach.

    `grown` are the lists that grow, with their former lengths. `number` makes what stands for a size until the trace
    is over.
    """
    result = _numbered(result, number)
    state = walk(call.function, (call.args, result), call.kwargs, call.before.mentioned, grown)
    _make_plain(state.items, number)
    state.let_go()
    return result


def _numbered(value: Any, number: Callable[[int], Any]) -> Any:
    """A value with numbers in place of sizes, also inside of tuples and frozen sets. Anything else stays the same
    thing.
    """
    if type(value) is SizeInt:
        return number(value.value)
    if isinstance(value, frozenset):
        return type(value)(map(plain, value)) if _has_size(value) else value
    if not isinstance(value, tuple):
        return plain(value) if type(value) is SizeFloat else value
    return with_parts(value, [_numbered(part, number) for part in value])


def _make_plain(items: list[Item], number: Callable[[int], Any]) -> None:
    for item in items:
        value = item.value
        if item.kind == SET:
            if any([type(part) in _WATCHED for part in value]) and type(value) is set:
                parts = [*map(plain, value)]
                value.clear()
                value.update(parts)
        elif item.kind == CONTAINER and isinstance(value, dict) and any([_has_size(key) for key in value]):
            entries = [(plain(key), part) for key, part in value.items()]
            value.clear()
            value.update(entries)
        if _has_size(value):
            _replace(item, number)


def _has_size(value: Any) -> bool:
    return type(value) in _WATCHED or (isinstance(value, (tuple, frozenset)) and any(map(_has_size, value)))


def _replace(item: Item, number: Callable[[int], Any]) -> None:
    """Replace a number, or a tuple of numbers, where it stands. What stands in a tuple is replaced with the tuple."""
    parent = item.parent
    if parent is not None and parent.parent is not None and not isinstance(parent.value, tuple):
        key = item.step.key
        step = item.step._replace(key=plain(key)) if _has_size(key) else item.step
        step.write(parent.value, _numbered(item.value, number))
