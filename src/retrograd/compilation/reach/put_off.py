"""Schedules whose steps may come at the end of a call, since nothing in the call sees what they change."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from ...optim.schedules import LRScheduler
from ..program.constants import MISSING, is_constant
from ..program.origins import OWN, whose
from .reading import ANY_ATTRIBUTE, mentions

# Code that names one of these may read the options of an optimizer.
READING = ANY_ATTRIBUTE | {"param_groups", "defaults", "state_dict", "load_state_dict", "add_param_group", "get_lr",
                           "get_last_lr"}
# A program that names nothing else of them reads and writes learning rates in places that a trace can follow.
WHERE = frozenset({"param_groups"})
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF", "STORE_ATTR", "STORE_SUBSCR"}


def is_put_off(value: Any, mentioned: frozenset[str], stepped: frozenset[int]) -> bool:
    """Whether a value is a schedule whose steps may come later, as code with these names does not see their changes.

    `stepped` are the identities of the schedules on which code calls nothing but `step`.
    """
    if not isinstance(value, LRScheduler):
        return False
    reading = READING & mentioned
    if reading and not (reading == WHERE and id(value) in stepped):
        return False
    cls, own = type(value), vars(value)
    names = {*own, *[name for name in dir(cls) if not name.startswith("__")]} - {"optimizer", "step"}
    return (whose(cls.__module__) == OWN and "step" not in own
            and (id(value) in stepped or names.isdisjoint(mentioned)) and all(map(_is_simple, _functions(value))))


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
