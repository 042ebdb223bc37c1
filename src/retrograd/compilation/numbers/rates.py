"""Options of optimizers that a schedule changes between calls: each run of a plan reads them again.

While a call is traced, the optimizers find an `OptionMemory` for their groups. So the lines read the numbers from
memory, and the guard writes them there when they have changed. This is only done if nothing but the step of the
optimizer reads the options.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ...foundations.dtypes import Array
from ...optim.elementwise import ElementsOptimizer
from ...optim.option_memory import Option, OptionMemory, sides
from ...optim.schedules import LRScheduler
from ..program.constants import is_constant
from ..program.undoing import Undo
from ..reach.items import CONSTANT, Item, State
from ..reach.put_off import READING, is_put_off
from .followed import Followed, Preparing, may_follow
from .traced_numbers import Numbers

if TYPE_CHECKING:
    from ...optim.optimizer import Optimizer

# The dtypes of parameters whose step is a line of the plan.
_STEPPED = "fd"
# The memory of each optimizer, by the group and by what its options decide. All plans read this memory.
_MEMORY: WeakKeyDictionary[Any, dict[Any, tuple[OptionMemory, dict[str, Option]]]] = WeakKeyDictionary()


class Rates:
    """The options of one traced call. From `put` on, the optimizers find memory for their groups."""

    def __init__(self, state: State, tape: Any) -> None:
        self.items: list[Item] = []
        self.memories: dict[int, OptionMemory] = {}
        # The rates that the program may read and write, by the identity of the group; None if it reads none.
        self.followed: dict[int, Followed] | None = {} if may_follow(state) else None
        for optimizer, group in [] if _may_be_read(state) and self.followed is None else _found(state):
            memory, options = _memory(optimizer, group.value, None if self.followed is None else "lr")
            self.memories[id(group.value)] = memory
            for step, item in group.entries.items():
                if item.kind == CONSTANT and step.key in options and self.followed is None:
                    item.role, item.array = "rate", options[step.key]
                    self.items.append(item)
                elif item.kind == CONSTANT and step.key in options and self.followed is not None:
                    self.followed[id(group.value)] = Followed(group.value, item, memory, options[step.key], tape)

    def put(self, undo: Undo) -> None:
        """Put the memory in place until the exit of `undo`."""
        for memory in self.memories.values():
            memory.baked.clear()
        for followed in (self.followed or {}).values():
            followed.memory.read = followed.read
        undo.note(self._remove)
        OptionMemory.of_groups = self.memories

    def _remove(self) -> None:
        OptionMemory.of_groups = {}
        for item in self.items:
            if item.array.name in item.array.memory.baked:
                item.role = ""                             # the guard compares the value
        for followed in (self.followed or {}).values():
            followed.memory.read = None
            if "lr" in followed.memory.baked:
                followed.kept()

    def places(self) -> list[Item]:
        """The rates in whose places stand-ins shall be."""
        return [followed.item for followed in (self.followed or {}).values()]

    def preparing(self, numbers: Numbers, given: int) -> Preparing | None:
        """What writes the rates of a repetition, and its other numbers, to memory; None if all of them are there.
        `given` is the place of the first counted number among the values that the guard returns.
        """
        read = [(each.option, each.rate) for each in (self.followed or {}).values() if each.rate is not None]
        expressions = [*[rate for _, rate in read], *numbers.operands.expressions]
        if not expressions:
            return None
        return Preparing([option for option, _ in read], numbers.operands.memory, numbers.early(expressions, given))

    def arrays(self) -> list[Array]:
        """The memory that plans read."""
        return [array for memory in self.memories.values() for derived in memory.known.values()
                for array in derived.arrays]


def _memory(optimizer: Optimizer, group: dict[str, Any], only: str | None) -> tuple[OptionMemory, dict[str, Option]]:
    """The memory of a group, with the present values in it, and those options that it can take other values of: all of
    them, or the option `only`.
    """
    options = {name: value for name, value in group.items() if name != "params"}
    free = [name for name, value in options.items() if sides(name, value) is not None and only in (None, name)]
    decided = [(name, sides(name, value) if name in free else (type(value), _shown(value)))
               for name, value in options.items()]
    held, key = _MEMORY.setdefault(optimizer, {}), (id(group), only, *decided)
    if key not in held:
        memory = OptionMemory(options)
        held[key] = memory, {name: Option(memory, name, options[name]) for name in free}
    for name, option in held[key][1].items():
        option.refuses(options[name])
    return held[key]


def _shown(value: Any) -> Any:
    """What tells an option from others that decide otherwise, or that are other tensors."""
    return repr(value) if is_constant(value) else id(value)


def _may_be_read(state: State) -> bool:
    """Whether the program may read or change an option in the call."""
    named = not READING.isdisjoint(state.mentioned)
    return named or any([
        isinstance(item.value, LRScheduler) and not is_put_off(item.value, state.mentioned, state.grown.stepped)
        for item in state.items])


def _found(state: State) -> list[tuple[Any, Item]]:
    """The groups that optimizers alone hold, and whose steps are lines."""
    held = Counter([id(part) for item in state.items for part in item.entries.values()])
    return [(optimizer.value, group) for optimizer in state.items if isinstance(optimizer.value, ElementsOptimizer)
            for groups in _parts(optimizer, "param_groups") if held[id(groups)] == 1
            for group in groups.entries.values() if held[id(group)] == 1 and _is_stepped(group.value)]


def _parts(item: Item, key: str) -> list[Item]:
    return [part for step, part in item.entries.items() if step.key == key]


def _is_stepped(options: dict[str, Any]) -> bool:
    return not options.get("differentiable") and all([
        type(p._array) is np.ndarray and p._array.dtype.char in _STEPPED for p in options["params"]])
