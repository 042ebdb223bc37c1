"""Numbers that a traced run has left in the program's lists, dicts and objects: ints again in the place of sizes."""

from __future__ import annotations

from typing import Any

from ...foundations.names import reached
from ...tensors.arguments.size import Size
from ..program.sizes import SizeFloat, SizeInt, plain
from ..reach.appended import Grown
from ..reach.items import CONTAINER, SET, Item
from ..reach.state import walk
from .walked import WalkedCall

_WATCHED = (SizeInt, SizeFloat)


def without_sizes(result: Any, call: WalkedCall, grown: Grown) -> Any:
    """What a call has returned, with ints in the place of sizes; and so in all that the call can reach.

    `grown` are the lists that grow, with their former lengths.
    """
    pytree = reached("utils._pytree")
    if any([type(leaf) in (*_WATCHED, Size) for leaf in pytree.tree_leaves(result)]):
        result = pytree.tree_map(plain, result)
    state = walk(call.function, (call.args, result), call.kwargs, call.before.mentioned, grown)
    _make_plain(state.items)
    state.let_go()
    return result


def _make_plain(items: list[Item]) -> None:
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
            _replace(item)


def _has_size(value: Any) -> bool:
    return type(value) in _WATCHED or (isinstance(value, tuple) and any(map(_has_size, value)))


def _replace(item: Item) -> None:
    """Replace a number, or a tuple of numbers, where it stands. What stands in a tuple is replaced with the tuple."""
    parent = item.parent
    if parent is not None and parent.parent is not None and not isinstance(parent.value, tuple):
        key = item.step.key
        step = item.step._replace(key=plain(key)) if _has_size(key) else item.step
        step.write(parent.value, plain(item.value))
