"""Schedules that a traced call steps: the steps are put off to the end of the call, and each repetition makes them.

A step of a schedule is Python that counts and sets options of an optimizer. Nothing in the plan depends on the step if
the call does not look at the schedule or the options, and if the optimizer does not step later in the call.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import partial
from threading import get_ident
from types import FunctionType, ModuleType
from typing import Any

from ..optim.schedules import LRScheduler
from ..tensors.state.base import TensorBase
from .items import State
from .kinds import is_constant
from .places import MISSING
from .reading import ANY_ATTRIBUTE, OWN, mentions, whose
from .tracing import Tape
from .undoing import Undo

# Code that names one of these may read the options of an optimizer.
READING = ANY_ATTRIBUTE | {"param_groups", "defaults", "state_dict", "load_state_dict", "add_param_group", "get_lr",
                           "get_last_lr"}
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF", "STORE_ATTR", "STORE_SUBSCR"}


def is_put_off(value: Any, mentioned: frozenset[str]) -> bool:
    """Whether a value is a schedule whose steps may come later, as code with these names does not see their changes."""
    if not isinstance(value, LRScheduler) or not READING.isdisjoint(mentioned):
        return False
    cls, own = type(value), vars(value)
    names = {*own, *[name for name in dir(cls) if not name.startswith("__")]} - {"optimizer", "step"}
    return (whose(cls.__module__) == OWN and "step" not in own and names.isdisjoint(mentioned)
            and all(map(_is_simple, _functions(value))))


def _functions(schedule: LRScheduler) -> Iterator[Any]:
    """What a schedule may call, in the schedules that it holds too."""
    waiting = [part for name, part in vars(schedule).items() if name != "optimizer"]
    while waiting:
        part = waiting.pop()
        if isinstance(part, LRScheduler):
            waiting += [inner for name, inner in vars(part).items() if name != "optimizer"]
        elif isinstance(part, (list, tuple)):
            waiting += part
        elif callable(part):
            yield part


def _is_simple(function: Any) -> bool:
    """Whether a function computes with nothing but its arguments, constants and modules, and changes nothing."""
    if type(function) is not FunctionType:
        return False
    code = function.__code__
    read = [function.__globals__.get(name, MISSING) for name in mentions(code).globals]
    read += [cell.cell_contents for cell in function.__closure__ or ()]
    return not any([line.opname in _WRITES for line in dis.get_instructions(code)]) and all([
        isinstance(value, ModuleType) or is_constant(value) for value in read])


class Schedules:
    """The schedules of one traced call. From `put` on, their steps are noted in `steps`, and not made."""

    def __init__(self, state: State, tape: Tape) -> None:
        self.found = [item.value for item in state.items if is_put_off(item.value, state.mentioned)]
        self.tape = tape
        self.steps: list[LRScheduler] = []
        rates = {id(group["lr"]): group["lr"] for schedule in self.found
                 for group in schedule.optimizer.param_groups if isinstance(group["lr"], TensorBase)}
        own = {id(options) for schedule in self.found
               for options in (schedule.optimizer.defaults, *schedule.optimizer.param_groups)}
        # Whether the program itself may look at a tensor that a step of a schedule writes.
        self.may_be_seen = any([id(part.value) in rates and id(item.value) not in own
                                for item in (state.items if rates else ()) for part in item.entries.values()])

    def put(self, undo: Undo) -> None:
        """Put off the steps until the exit of `undo`."""
        undo.note(self._remove)
        for schedule in self.found:
            vars(schedule)["step"] = partial(self._note, schedule)

    def _remove(self) -> None:
        for schedule in self.found:
            vars(schedule).pop("step", None)
            hooks = schedule.optimizer._optimizer_step_pre_hooks
            for key in [key for key, hook in hooks.items() if hook == self._refuse]:
                del hooks[key]

    def make(self) -> None:
        """Make the steps that were put off. A step that is interrupted is not made again."""
        while self.steps:
            schedule = self.steps.pop(0)
            type(schedule).step(schedule)

    def _note(self, schedule: LRScheduler, *args: Any, **kwargs: Any) -> None:
        """Put off a step, unless other code may see what the step does."""
        if get_ident() == self.tape.thread:
            if args or kwargs:
                self.tape.give_up(f"the program gives {type(schedule).__name__} an argument")
            elif self.may_be_seen:
                self.tape.give_up(f"{type(schedule).__name__} writes a tensor that the program holds")
            elif self.tape.reason is None:
                self.steps.append(schedule)
                schedule.optimizer.register_step_pre_hook(self._refuse)
                return
            self.make()
        type(schedule).step(schedule, *args, **kwargs)

    def _refuse(self, *step: Any) -> None:
        """Give up before the step of an optimizer that comes after the step of its schedule."""
        if get_ident() == self.tape.thread:
            self.tape.give_up("an optimizer steps after its schedule in the same call")
            self.make()
