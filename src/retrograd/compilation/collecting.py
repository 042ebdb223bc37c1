"""Reading the parts of a call that may be others in each call: the tensors in its arguments, and gradients.

The paths that the search found become one Python function without loops and look-ups by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .items import Item
from .places import SOURCES
from .python_source import Source


def expression(item: Item, source: Source) -> str:
    """Python's way to the value of an item, from `function`, `args` and `kwargs`."""
    if item.fixed:
        return source.name(item.value, "o")
    if item.parent is None:
        return item.step.kind
    outer = expression(item.parent, source)
    key = source.argument(item.step.key, str) if item.step.kind in ("attribute", "variable", "item", "cell",
                                                                  "global") else item.step.key
    if item.step.kind == "fixed":
        return source.name(item.value, "o")
    return SOURCES[item.step.kind].format(o=outer, key=key, d=f"{outer}.__dict__")


def reader(items: Sequence[Item], change: Callable[[Any], Any] | None = None) -> Callable[..., tuple[Any, ...]]:
    """A function `read(function, args, kwargs)` that returns the values of the items, each after `change`."""
    source = Source()
    parts = [expression(item, source) for item in items]
    if change is not None:
        parts = [f"{source.name(change, 'f')}({part})" for part in parts]
    source.lines.append(f"return ({''.join([f'{part}, ' for part in parts])})")
    return source.function("read", ["function", "args", "kwargs"])


def collector(items: Sequence[Item]) -> Callable[..., tuple[Any, ...]]:
    """A function that returns the arrays behind the tensors of the items."""
    source = Source()
    source.lines.append(f"return ({''.join([f'{expression(item, source)}._array, ' for item in items])})")
    return source.function("collect", ["function", "args", "kwargs"])
