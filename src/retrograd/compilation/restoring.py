"""What a run has changed in the program's lists, dicts and attributes, put back: the run will be made again.

Numbers in tensors are put back by the tape. Here the places of things get the values that the walk before the run has
found there. Whoever calls this walks again afterwards: what cannot be put back shows as a change.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from .items import CONTAINER, OBJECT, TENSOR, Item, State
from .places import MISSING

_IN_PLACES = frozenset({"attribute", "variable", "slot", "cell", "global", "meta"})


def restore(before: State) -> None:
    """Put the values back that stood in all places before a run."""
    for item in before.items:
        value = item.value
        if item.kind == CONTAINER and isinstance(value, (list, deque)):
            _restore_sequence(item, value)
        elif item.kind == CONTAINER and isinstance(value, dict):
            _restore_dict(item, value)
        elif item.kind in (OBJECT, TENSOR):
            for step, part in item.entries.items():
                if step.kind in _IN_PLACES and step.read(value) is not part.value and not (
                        step.kind == "meta" and part.value in (None, MISSING)):
                    step.write(value, part.value)


def _restore_sequence(item: Item, value: Any) -> None:
    parts = {step.key: part.value for step, part in item.entries.items() if step.kind == "item"}
    former = [parts[place] for place in range(len(parts)) if place in parts]
    if len(former) == len(parts) and (len(former) != len(value) or any(
            [one is not other for one, other in zip(former, value)])):
        value.clear()
        value.extend(former)


def _restore_dict(item: Item, value: dict[Any, Any]) -> None:
    parts = {step.key: part.value for step, part in item.entries.items() if step.kind == "item"}
    for key in [key for key in value if key not in parts]:
        del value[key]
    for key, part in parts.items():
        if key not in value or value[key] is not part:
            value[key] = part
