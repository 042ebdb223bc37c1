"""Schedules that a traced call steps: the steps are put off to the end of the call, and each repetition makes them.

A step of a schedule is Python that counts and sets options of an optimizer. Nothing in the plan depends on the step if
the call does not look at the schedule or the options, and if the optimizer does not step later in the call.
"""

from __future__ import annotations

from functools import partial
from threading import get_ident
from typing import Any

from ...optim.schedules import LRScheduler
from ...tensors.state.base import TensorBase
from ..program.undoing import Undo
from ..reach.items import State
from ..reach.put_off import is_put_off
from .tracing import Tape


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
