"""Learning rates that a schedule changes between calls: each run of a plan reads the number again.

While a call is traced, a tensor stands in the place of the number `lr` in the options of an optimizer. So the lines
read the number from memory, and the guard writes it there before each run. This is only done if nothing but the step of
the optimizer reads the number.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..optim.schedules import LRScheduler
from ..optim.stepping import SteppingOptimizer
from ..tensors.state.base import plain
from .items import CONSTANT, Item, State
from .reading import ANY_ATTRIBUTE

Array = np.ndarray[Any, Any]
# Code that names one of these may read the options of an optimizer.
_READING = ANY_ATTRIBUTE | {"param_groups", "state_dict", "load_state_dict", "add_param_group", "get_lr", "get_last_lr"}
# The dtypes of parameters whose step is a line of the plan.
_STEPPED = "fd"
# The memory of the learning rates of each optimizer, by the identity of their options. All plans read this memory.
_MEMORY: WeakKeyDictionary[SteppingOptimizer, dict[int, Array]] = WeakKeyDictionary()


class Rates:
    """The learning rates of one traced call. In this context, tensors stand in the options of the optimizers."""

    def __init__(self, state: State) -> None:
        found = [] if _may_be_read(state) else _found(state)
        for optimizer, item in found:
            item.role, item.array = "rate", _memory(optimizer, item)
        self.items = [item for _, item in found]
        self.tensors = [plain(item.array) for item in self.items]

    def __enter__(self) -> None:
        for item, tensor in zip(self.items, self.tensors, strict=True):
            _options(item)["lr"] = tensor

    def __exit__(self, *error: object) -> None:
        for item, tensor in zip(self.items, self.tensors, strict=True):
            if _options(item)["lr"] is tensor:
                _options(item)["lr"] = item.value


def _memory(optimizer: SteppingOptimizer, item: Item) -> Array:
    """The memory of a learning rate, with the number in it."""
    found = _MEMORY.setdefault(optimizer, {}).setdefault(id(_options(item)), np.empty(()))
    found[()] = item.value
    return found


def _options(item: Item) -> dict[str, Any]:
    assert item.parent is not None
    options: dict[str, Any] = item.parent.value
    return options


def _may_be_read(state: State) -> bool:
    """Whether the program may read or change a learning rate in the call."""
    named = not _READING.isdisjoint(state.mentioned)
    return named or any([isinstance(item.value, LRScheduler) for item in state.items])


def _found(state: State) -> list[tuple[SteppingOptimizer, Item]]:
    """The learning rates that optimizers alone hold, and whose steps are lines."""
    held = Counter([id(part) for item in state.items for part in item.entries.values()])
    return [(optimizer.value, lr) for optimizer in state.items if isinstance(optimizer.value, SteppingOptimizer)
            for groups in _parts(optimizer, "param_groups") if held[id(groups)] == 1
            for group in groups.entries.values() if held[id(group)] == 1 and _is_stepped(group.value)
            for lr in _parts(group, "lr") if lr.kind == CONSTANT and type(lr.value) is float]


def _parts(item: Item, key: str) -> list[Item]:
    return [part for step, part in item.entries.items() if step.key == key]


def _is_stepped(options: dict[str, Any]) -> bool:
    return not options.get("differentiable") and all([
        type(p._array) is np.ndarray and p._array.dtype.char in _STEPPED for p in options["params"]])
