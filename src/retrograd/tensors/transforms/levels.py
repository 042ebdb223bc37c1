"""The levels of transforms, and the function that stands on the seam while a level is in effect.

A *level* is one application of a transform: one `jvp`, one `vmap`, one `forward_ad.dual_level`. Levels nest. Each level
has its own number, so the tangents of two levels never mix. `ThreadState.levels` holds the levels in effect, outermost
first. A call of an operator is interpreted by the innermost level that it concerns. That level computes with the
levels below it in effect, so it never meets itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...graph.versions import next_number
from ...modes import local
from .batched import Batched
from .views import viewed


class Level:
    """One application of a transform. `number` orders the levels: an inner level has a higher number.

    It comes from the count of nodes, so nodes that are made in the level have higher numbers.
    """

    __slots__ = ("__weakref__", "number")
    has_tangents = False                                   # whether arrays may have tangents at this level

    def __init__(self) -> None:
        self.number = next_number()

    def __lt__(self, other: Level) -> bool:
        return self.number < other.number

    def moves(self, array: Any) -> bool:
        """Whether an array has a tangent at this level."""
        return False

    def constant(self, array: Any) -> Any:
        """The same memory without a tangent at this level."""
        return array

    def holds(self, array: Any) -> bool:
        """Whether an array has an axis of this level."""
        return False

    def carry(self, array: Any, former: Any) -> None:
        """Give an array that takes the place of `former` the tangent of `former` at this level."""

    def facts(self, tensor: Any) -> list[str]:
        """What the text of a tensor tells about it at this level."""
        return []

    def gave_a_tangent(self, array: Any) -> bool:
        """Whether the last write at this level made the memory of the array one with a tangent."""
        return False

    def concerned(self, op: Any, args: tuple[Any, ...]) -> Any:
        """What the level knows of the arguments; None if they do not concern the level."""
        raise NotImplementedError

    def interpret(self, op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool, known: Any) -> Any:
        """The results of a call that concerns the level. The levels below are in effect; `known` is of `concerned`."""
        raise NotImplementedError


def interpret(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The transform on the seam: hand a call to the innermost level that it concerns."""
    if op.view and not write:                              # the view of the memory is the view of all tangents
        if type(args[0]) is np.ndarray:
            return call(*args)
        if type(args[0]) is Batched:
            return viewed(op, call, args)
    thread = local.thread
    levels, transform = thread.levels, thread.transform
    try:
        for i in range(len(levels) - 1, -1, -1):
            level = levels[i]
            known = level.concerned(op, args)
            if known is not None:
                thread.levels, thread.transform = levels[:i], interpret if i else None
                return level.interpret(op, call, args, write, known)
        thread.levels, thread.transform = (), None
        return call(*args)
    finally:
        thread.levels, thread.transform = levels, transform


def moving(*arrays: Any) -> bool:
    """Whether one of the arrays has a tangent at a level that is in effect."""
    levels = [level for level in local.thread.levels if level.has_tangents]
    return bool(levels) and any([level.moves(array) for level in levels for array in arrays])


def end_tape() -> None:
    """End the tape that writes down the calls of this thread, if there is one: it knows nothing of levels."""
    thread = local.thread
    leave = getattr(getattr(thread.transform, "__self__", None), "leave", None)
    if leave is not None:
        leave("the program uses vmap or forward mode")
        thread.transform = None


def put(levels: Sequence[Level]) -> None:
    """Have exactly these levels be in effect."""
    thread = local.thread
    if levels and not thread.levels and thread.transform is not None:
        end_tape()
    thread.levels = tuple(levels)
    thread.transform = interpret if levels else None


def below(op: Any, call: Callable[..., Any], args: Sequence[Any], write: bool = False) -> Any:
    """Make a call with the levels that are in effect."""
    transform = local.thread.transform
    return call(*args) if transform is None else transform(op, call, tuple(args), write)


class in_effect:
    """The context in which exactly these levels are in effect."""

    __slots__ = ("before", "levels")

    def __init__(self, levels: Sequence[Level]) -> None:
        self.levels = levels

    def __enter__(self) -> None:
        self.before = local.thread.levels, local.thread.transform
        put(self.levels)

    def __exit__(self, *error: object) -> None:
        local.thread.levels, local.thread.transform = self.before


class transforming:
    """The context in which a function runs under a transform, so `backward()` would leave gradients where nobody finds
    them.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        local.thread.functions += 1

    def __exit__(self, *error: object) -> None:
        local.thread.functions -= 1


def with_level(level: Level) -> tuple[Level, ...]:
    """The levels in effect, and this level among them."""
    levels: tuple[Level, ...] = local.thread.levels
    return levels if level in levels else tuple(sorted((*levels, level)))


def others(level: Level) -> Sequence[Any]:
    """The levels in effect without this level."""
    return [each for each in local.thread.levels if each is not level]
