"""What a run has changed in the program's lists, dicts and attributes, put back: the run will be made again.

Numbers in tensors are put back by the tape. Here the places of things get the values that the walk before the run has
found there. Whoever calls this walks again afterwards: what cannot be put back shows as a change.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ..program.constants import MISSING
from ..reach.items import CONTAINER, OBJECT, TENSOR, State
from ..reach.places import Step

_IN_PLACES = frozenset({"attribute", "variable", "slot", "cell", "global", "meta"})


def restore(before: State) -> None:
    """Put the values back that stood in all places before a run."""
    for item in before.items:
        value = item.value
        parts = {step.key: part.value for step, part in item.entries.items() if step.kind == "item"}
        if item.kind == CONTAINER and isinstance(value, (list, deque)):
            _restore_sequence(value, parts)
        elif item.kind == CONTAINER and isinstance(value, dict):
            _restore_dict(value, parts)
        elif item.kind in (OBJECT, TENSOR):
            for step, part in item.entries.items():
                if step.kind in _IN_PLACES and not _is_same(step, step.read(value), part.value):
                    step.write(value, part.value)


def _is_same(step: Step, present: Any, former: Any) -> bool:
    """Whether a place holds what it held. In a part of a tensor, such as its gradient, None stands for nothing."""
    if step.kind == "meta":
        present, former = (None if each is MISSING else each for each in (present, former))
    return present is former


def _restore_sequence(value: Any, parts: dict[Any, Any]) -> None:
    former = [parts[place] for place in range(len(parts)) if place in parts]
    if len(former) == len(parts) and (len(former) != len(value) or any(
            [one is not other for one, other in zip(former, value)])):
        value.clear()
        value.extend(former)


def _restore_dict(value: dict[Any, Any], parts: dict[Any, Any]) -> None:
    for key in [key for key in value if key not in parts]:
        del value[key]
    for key, part in parts.items():
        if key not in value or value[key] is not part:
            value[key] = part
