"""Schedules that a traced call steps: the steps are put off to the end of the call, and each repetition makes them.

A step of a schedule is Python that counts and sets options of an optimizer. Nothing in the plan depends on the step if
the call does not look at the schedule or the options, and if the optimizer does not step later in the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...optim.combined_schedules import ReduceLROnPlateau
from ...optim.schedules import LRScheduler
from ...tensors.state.base import TensorBase
from ...tensors.state.dispatch import DISPATCH
from ..program.expressions import Expression, constant
from ..program.stand_in_numbers import KINDS
from ..program.undoing import Undo
from ..reach.items import State
from ..reach.put_off import READING, is_put_off

if TYPE_CHECKING:
    from .followed import Followed


class Finds(Protocol):
    """What finds the numbers of a repetition."""

    def number(self, expression: Expression) -> Any:
        """A function that finds a number among those of a repetition."""

    def number_place(self, expression: Expression) -> int:
        """The place of a number among those of a repetition."""


class Moved(NamedTuple):
    """What a step does to a learning rate that the program may see: the rates before and after the step. In a recipe,
    `before` is a function that finds the rate, and `after` is the place of the other one among the numbers.
    """

    group: dict[str, Any]
    before: Any
    after: Any


class Stepped(NamedTuple):
    """A step of a schedule in a repetition. `measure` is the number that the step takes, if it takes one; in a recipe,
    it is a function that finds the number. `moved` are the rates that the program may see.
    """

    schedule: LRScheduler
    measure: Any = None
    moved: tuple[Moved, ...] = ()

    def __call__(self, inputs: list[Any]) -> None:
        for each in self.moved:
            each.group["lr"] = each.before(inputs)
        self.schedule.step(*() if self.measure is None else (self.measure(inputs),))
        for each in self.moved:
            inputs[each.after] = each.group["lr"]

    def make(self) -> None:
        """Make the step of the traced call."""
        type(self.schedule).step(self.schedule, *() if self.measure is None else (self.measure.value,))

    def repeated(self, left: Finds) -> Stepped:
        """What makes the step of a repetition. `left` finds numbers."""
        moved = [each._replace(before=left.number(each.before), after=left.number_place(each.after))
                 for each in self.moved]
        return self._replace(measure=None if self.measure is None else left.number(self.measure), moved=tuple(moved))


def _with_parts(schedule: LRScheduler) -> Iterator[LRScheduler]:
    """A schedule, and the schedules that it is made of."""
    yield schedule
    for part in vars(schedule).get("_schedulers", ()):
        yield from _with_parts(part)


def _measure(schedule: LRScheduler, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Expression | None:
    """The number that a step of `ReduceLROnPlateau` takes; None if a repetition cannot make the arguments."""
    given = [*args, *kwargs.values()]
    if type(schedule) is not ReduceLROnPlateau or len(given) != 1 or not {*kwargs} <= {"metrics"}:
        return None
    value = given[0]
    if type(value) is DISPATCH.tensor and value._array.size == 1 and value._array.dtype.kind in "fiu":
        value = value.item()
    if type(value) in KINDS.values():
        found: Expression = value.expression
        return found
    return constant(value) if type(value) in (int, float, bool) else None


def _holds(state: State, things: list[Any], owners: list[Any]) -> bool:
    """Whether anything that a call can reach holds one of these things, besides their owners."""
    wanted, own = {*map(id, things)}, {*map(id, owners)}
    return bool(wanted) and any([id(part.value) in wanted and id(item.value) not in own
                                 for item in state.items for part in item.entries.values()])


class Schedules:
    """The schedules of one traced call. From `put` on, their steps are noted in `steps`, and not made."""

    def __init__(self, state: State, tape: Any, followed: dict[int, Followed] | None) -> None:
        self.found = [item.value for item in state.items
                      if is_put_off(item.value, state.mentioned, state.grown.stepped)]
        self.tape, self.followed = tape, followed
        self.steps: list[Stepped] = []                     # that were put off
        self.made: list[Stepped] = []                      # that were made at once, since the program may see the rates
        self.former: list[tuple[LRScheduler, dict[str, Any]]] = []
        self.seen = self._seen(state)                      # what the program may see of a step; "" if nothing

    def _seen(self, state: State) -> str:
        if self.followed is None and READING & state.mentioned:
            return "changes a learning rate that the program may see"
        optimizers = [schedule.optimizer for schedule in self.found]
        lists = [optimizer.param_groups for optimizer in optimizers]
        groups = [group for groups in lists for group in groups]
        rates = [group["lr"] for group in groups if isinstance(group["lr"], TensorBase)]
        if _holds(state, rates, [*groups, *[optimizer.defaults for optimizer in optimizers]]):
            return "writes a tensor that the program holds"
        if _holds(state, [*groups, *lists], [*lists, *optimizers]):
            return "changes options that the program holds"
        return ""

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
            self.steps.pop(0).make()

    def repeated(self, left: Finds) -> tuple[list[Stepped], list[Any]]:
        """What makes the steps of a repetition: the steps before the results, and the last steps."""
        made, last = ([step.repeated(left) for step in steps] for steps in (self.made, self.steps))
        return made, last

    def put_back(self) -> None:
        """Make no steps, and take back the steps that were made."""
        self.steps.clear()
        while self.former:
            schedule, former = self.former.pop()
            own = vars(schedule)
            for name in {*own} - {"step"}:
                del own[name]
            own.update(former)

    def _note(self, schedule: LRScheduler, *args: Any, **kwargs: Any) -> None:
        """Put off a step, unless other code may see what the step does."""
        if get_ident() == self.tape.thread:
            measure = _measure(schedule, args, kwargs)
            if measure is None and (args or kwargs):
                self.tape.give_up(f"the program gives {type(schedule).__name__} an argument")
            elif self.seen:
                self.tape.give_up(f"{type(schedule).__name__} {self.seen}")
            elif self.followed is not None and self.tape.reason is None:
                if self._follow(self.followed, schedule, measure):
                    return
                self.tape.give_up(f"{type(schedule).__name__} changes a learning rate that the program may see")
            elif self.tape.reason is None:
                self.steps.append(Stepped(schedule, measure))
                schedule.optimizer.register_step_pre_hook(self._refuse)
                return
            self.make()
        type(schedule).step(schedule, *args, **kwargs)

    def _follow(self, followed: dict[int, Followed], schedule: LRScheduler, measure: Expression | None) -> bool:
        """Make a step at once. From then on, the rates are the rates that a repetition finds after the step.

        Returns whether this is possible.
        """
        rates = [followed.get(id(group)) for group in schedule.optimizer.param_groups]
        known = [(each, before) for each in rates if each is not None and (before := each.present()) is not None]
        numbers = self.tape.numbers
        if len(known) < len(rates) or numbers is None or not numbers.follows:
            return False
        for part in _with_parts(schedule):
            own = vars(part)
            self.former.append((part, {name: value for name, value in own.items() if name != "step"}))
        for each, before in known:
            each.group["lr"] = before.value
        Stepped(schedule, measure).make()
        moved = []
        for each, before in known:
            after = Expression("late", (), each.group["lr"])
            each.group["lr"] = numbers.stand_in(after)
            moved.append(Moved(each.group, before, after))
        self.made.append(Stepped(schedule, measure, tuple(moved)))
        return True

    def _refuse(self, *step: Any) -> None:
        """Give up before the step of an optimizer that comes after the step of its schedule."""
        if get_ident() == self.tape.thread:
            self.tape.give_up("an optimizer steps after its schedule in the same call")
            self.make()
