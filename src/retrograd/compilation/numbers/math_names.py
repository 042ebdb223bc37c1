"""Functions of `math` in the variables of the program: while a call is traced, they follow numbers that are traced.

These functions are written in C, and ask a stand-in for a float: that is a look at the number. So the variables under
which the program knows the module `math`, or one of its functions, hold others for the time of the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..program.expressions import OF_MATH
from ..program.stand_in_numbers import KINDS, followed, looked
from ..program.undoing import Undo
from ..reach.counters import is_users
from ..reach.items import State
from ..reach.places import Step

_STAND_INS = frozenset(KINDS.values())


def _following(name: str) -> Callable[..., Any]:
    """A function of `math` that takes numbers that are traced. If it cannot follow them, it takes the numbers as they
    are: an int, which C would ask for a float, stays an int.
    """
    function: Callable[..., Any] = getattr(math, name)

    def call(*args: Any) -> Any:
        traced = [arg for arg in args if type(arg) in _STAND_INS]
        made = followed(traced[0], f"math.{name}", args) if traced and len(args) == OF_MATH[name] else NotImplemented
        return function(*map(looked, args)) if made is NotImplemented else made

    call.__name__ = call.__qualname__ = name
    return call


_FUNCTIONS = {name: _following(name) for name in OF_MATH}
_MODULE = ModuleType("math", math.__doc__)
vars(_MODULE).update({**vars(math), **_FUNCTIONS})
_INSTEAD: dict[int, Any] = {id(math): _MODULE, **{id(getattr(math, name)): call for name, call in _FUNCTIONS.items()}}


class MathNames:
    """The variables of one traced call that hold `math` or functions of it."""

    def __init__(self, state: State) -> None:
        self.places: list[tuple[Any, Step, Any]] = [
            (parent.value, step, item.value) for parent in state.items for step, item in parent.entries.items()
            if step.kind in ("global", "cell") and id(item.value) in _INSTEAD and is_users(parent)]

    def put(self, undo: Undo) -> None:
        """Have the variables hold functions that follow numbers, until the exit of `undo`."""
        undo.note(self._remove)
        for thing, step, value in self.places:
            step.write(thing, _INSTEAD[id(value)])

    def _remove(self) -> None:
        for thing, step, value in self.places:
            if step.read(thing) is _INSTEAD[id(value)]:    # and no other thing that the program has put there
                step.write(thing, value)
