"""The kinds of expressions, as far as arrays go: PLAIN, ARRAY, a tuple of kinds, a list of elements of one kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PLAIN, ARRAY = "plain", "array"


def element(kind: Any) -> Any:
    """The kind of what comes of going through something."""
    if isinstance(kind, list):
        return kind[0]
    if isinstance(kind, tuple):
        return joined(kind)
    return kind


def joined(kinds: Iterable[Any]) -> Any:
    """The kind of what may be of any of these kinds."""
    kinds = [kind for kind in kinds if kind != PLAIN]
    if not kinds:
        return PLAIN
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    if all(isinstance(kind, tuple) and len(kind) == len(first) for kind in kinds):
        return tuple([joined(parts) for parts in zip(*kinds, strict=True)])
    if all(isinstance(kind, list | tuple) for kind in kinds):
        return [joined(map(element, kinds))]
    return ARRAY


def holds_arrays(kind: Any) -> bool:
    """Whether there is an array in it."""
    return kind == ARRAY or (isinstance(kind, list | tuple) and any(map(holds_arrays, kind)))
