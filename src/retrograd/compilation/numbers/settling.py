"""Puts numbers of Python's own wherever a traced call has left stand-ins.

What the call returned is settled first. If something still holds a stand-in, Python's garbage collector says what.
"""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Iterable
from itertools import repeat
from operator import is_
from types import CellType, FrameType
from typing import Any

from ..program.sizes import with_parts
from ..program.stand_in_numbers import STAND_INS, Number
from ..reach import kinds
from ..reach.places import Step

_DEPTH = 50                                                  # of tuples in tuples that are made again


def settle(places: Iterable[tuple[Any, Step]], made: Iterable[weakref.ref[Number]]) -> None:
    """Replace stand-ins by plain numbers in the places of things, and everywhere else."""
    settling, present, new = _Settling(), None, None
    for thing, step in places:
        present = step.read(thing)
        new = settling.settled(present)
        if new is not present:
            step.write(thing, new)
    del settling, present, new                               # which hold stand-ins
    for _ in range(_DEPTH):                                  # a set in a list in a tuple, and so on
        left = [number for number in [each() for each in made] if number is not None]
        if not left or not _replace_in_holders(left):
            break
        del left


def _is_number(value: Any) -> bool:
    return type(value) in STAND_INS


class _Settling:
    """Replaces stand-ins in containers: in place, or, if a container cannot change, in a copy that is made once."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Any]] = {}

    def settled(self, value: Any) -> Any:
        """The value that should replace this one."""
        if type(value) in STAND_INS:
            return value.value
        if not isinstance(value, (list, tuple, dict, set, frozenset, deque)):
            return value
        found = self.known.get(id(value))
        if found is None:
            self.known[id(value)] = value, value             # which holds itself, perhaps
            found = self.known[id(value)] = value, self._container(value)
        return found[1]

    def _container(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return with_parts(value, [self.settled(part) for part in value])
        if isinstance(value, frozenset):
            return value if not any(map(_is_number, value)) else type(value)(map(self.settled, value))
        if isinstance(value, (list, deque)):
            for place, part in enumerate(value):
                new = self.settled(part)
                if new is not part:
                    value[place] = new
        elif isinstance(value, set):
            for part in [part for part in value if _is_number(part)]:
                value.remove(part)
                value.add(part.value)
        else:
            self._dict(value)
        return value

    def _dict(self, value: Any) -> None:
        if any([_is_number(key) or type(key) is tuple for key in value]):
            pairs = [(self.settled(key), self.settled(part)) for key, part in value.items()]
            value.clear()
            value.update(pairs)
            return
        for key, part in [*value.items()]:
            new = self.settled(part)
            if new is not part:
                value[key] = new


def _replace_in_holders(left: list[Number]) -> bool:
    """Replace stand-ins in what holds them. Returns whether another look may find more."""
    found, holders = False, gc.get_referrers(*left)
    for holder in holders:
        if isinstance(holder, (tuple, frozenset)):
            again = _Settling().settled(holder)
            found = _exchange_everywhere(holder, again, [holders]) or found
        elif holder is not left and not isinstance(holder, FrameType):
            found = _settle_holder(holder, _Settling()) or found
    return found


def _exchange_everywhere(old: Any, new: Any, own: list[Any]) -> bool:
    """Replace a tuple by another one in everything that holds it, also in tuples, which are made again.

    `own` are lists of this search, which hold the tuples, too. No function here may have `old` in a cell.
    """
    found, holders = False, gc.get_referrers(old) if len(own) < _DEPTH else []
    inner = [*own, holders]
    for outer in holders:
        if isinstance(outer, FrameType) or outer is new or outer is inner or any(map(is_, own, repeat(outer))):
            continue
        if type(outer) is tuple:
            found = _exchange_everywhere(outer, _with(outer, old, new), inner) or found
        else:
            found = _exchange(outer, old, new) or found
    return found


def _with(outer: tuple[Any, ...], old: Any, new: Any) -> tuple[Any, ...]:
    """A tuple in which another part replaces one of its parts."""
    parts = []
    for part in outer:
        parts.append(new if part is old else part)           # no comprehension, which might have a cell for `old`
    return tuple(parts)


def _settle_holder(holder: Any, settling: _Settling) -> bool:
    """Replace stand-ins in one thing."""
    if isinstance(holder, (list, dict, set, deque)):
        settling.settled(holder)
        return True
    if isinstance(holder, CellType):
        holder.cell_contents = settling.settled(holder.cell_contents)
        return True
    found = False
    own = kinds.attributes_of(holder)
    for name, part in [*own.items()]:
        if _is_number(part):
            own[name], found = part.value, True
    for name in kinds.slots_of(type(holder)):
        part = getattr(holder, name, None)
        if _is_number(part) and not isinstance(holder, Number):
            setattr(holder, name, part.value)                # type: ignore[union-attr]
            found = True
    return found


def _exchange(outer: Any, old: Any, new: Any) -> bool:
    """Replace a value by another one in what holds it."""
    if isinstance(outer, (list, deque)):
        for place, part in enumerate(outer):
            if part is old:
                outer[place] = new
        return True
    if isinstance(outer, dict):
        for key, part in [*outer.items()]:
            if part is old:
                outer[key] = new
        return True
    if isinstance(outer, CellType):
        outer.cell_contents = new
        return True
    if isinstance(outer, BaseException) and outer.args is old:
        outer.args = new
        return True
    own = kinds.attributes_of(outer)
    for name, part in [*own.items()]:
        if part is old:
            own[name] = new
    return bool(own)
