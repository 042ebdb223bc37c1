"""Tangents of tangents: what changes at a level in a tangent of a level within.

With two levels of forward mode in effect, a number has a tangent at each of them, and a third one, mixed. It is kept as
the tangent, at the outer level, of the tangent at the inner one. Whoever takes the outer tangent off, or gives one, has
to move the mixed tangent to where the levels expect it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import Array
from ...foundations.modes import local
from .forward import ForwardLevel, fresh_copy, or_zeros
from .levels import in_effect

if TYPE_CHECKING:
    from ...ops.values import Value


def tangent_of(level: ForwardLevel, array: Array) -> Any:
    """The tangent of an array at the level, as new memory, with its tangents at the levels within; None if it is zero.

    The other levels are in effect.
    """
    found, levels = level.shadows.tangent(array), _within(level)
    if found is not None:
        if not levels:
            return fresh_copy(found)
        with in_effect(_not_within(level)):
            found = fresh_copy(found)
    for within in levels:
        change = within.shadows.tangent(array)
        mixed = None if change is None else tangent_of(level, change)
        if mixed is not None:
            found = or_zeros(array, found)
            with in_effect(_not_within(within)):
                within.shadows.give(found, mixed)
    return found


def give_tangent(level: ForwardLevel, array: Array, tangent: Value) -> None:
    """Make a copy of `tangent`, and of its tangents at the levels within, the tangent of an array at the level.

    The other levels are in effect.
    """
    levels = _within(level)
    if not levels:
        level.shadows.give(array, fresh_copy(tangent))
        return
    with in_effect(_not_within(level)):
        level.shadows.give(array, fresh_copy(tangent))
    for within in levels:
        change = within.shadows.tangent(tangent)
        if change is not None:
            with in_effect(_not_within(within)):
                if within.shadows.tangent(array) is None:
                    within.shadows.give(array, or_zeros(array, None))
            give_tangent(level, within.shadows.tangent(array), change)


def _within(level: ForwardLevel) -> list[Any]:
    """The levels of forward mode in effect that began within the level."""
    return [each for each in local.thread.levels if each.has_tangents and level < each]


def _not_within(level: ForwardLevel) -> list[Any]:
    """The levels in effect below a level of forward mode, and all those of batches."""
    return [each for each in local.thread.levels if not each.has_tangents or each < level]
