"""The levels of transforms, and the function that stands on the seam while a level is in effect.

A *level* is one application of a transform: one `jvp`, one `vmap`, one `forward_ad.dual_level`. Levels nest. Each level
has its own number, so the tangents of two levels never mix. `ThreadState.levels` holds the levels in effect, outermost
first. A call of an operator is interpreted by the innermost level that it concerns. That level computes with the
levels below it in effect, so it never meets itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.modes import local
from ...graph.versions import next_number
from .batched import Batched
from .views import viewed

if TYPE_CHECKING:
    from ...ops.framework import Op


class Level:
    """One application of a transform. `number` orders the levels: an inner level has a higher number.

    It comes from the count of nodes, so nodes that are made in the level have higher numbers.
    """

    __slots__ = ("__weakref__", "number")
    has_tangents = False                                   # whether arrays may have tangents at this level
    has_samples = False                                    # whether arrays may be those of samples at this level

    def __init__(self) -> None:
        self.number = next_number()

    def __lt__(self, other: Level) -> bool:
        return self.number < other.number

    def left(self) -> None:
        """The program has left the level. Backward passes may come back."""

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

    def pieces(self, array: Any) -> tuple[list[Any], Callable[[list[Any]], Any]] | None:
        """The NumPy arrays that an array of the levels in effect is made of, and how to make it of them (`pieces`)."""
        raise NotImplementedError

    def facts(self, tensor: Any) -> list[str]:
        """What the text of a tensor tells about it at this level."""
        return []

    def before_write(self, physical: Any, now: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The levels of the tangent of memory before the last write at this level, whose levels are `now`."""
        return now

    def concerned(self, op: Op, args: tuple[Any, ...]) -> Any:
        """What the level knows of the arguments; None if they do not concern the level."""
        raise NotImplementedError

    def interpret(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool, known: Any) -> Any:
        """The results of a call that concerns the level. The levels below are in effect; `known` is of `concerned`."""
        raise NotImplementedError


def interpret(op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The transform on the seam: hand a call to the innermost level that it concerns."""
    below_all = local.thread.below
    if below_all is not None and not below_all.inside:
        return below_all.enter(interpret, op, call, args, write)
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
                thread.levels, thread.transform = levels[:i], interpret if i else lowest()
                return level.interpret(op, call, args, write, known)
        thread.levels, thread.transform = (), lowest()
        return call(*args) if below_all is None else below_all.record(op, call, args, write)
    finally:
        thread.levels, thread.transform = levels, transform


def moving(*arrays: Any) -> bool:
    """Whether one of the arrays has a tangent at a level that is in effect."""
    levels = [level for level in local.thread.levels if level.has_tangents]
    return bool(levels) and any([level.moves(array) for level in levels for array in arrays])


def lowest() -> Any:
    """The transform below all levels: that of a compiler, if it traces a call of this thread."""
    below_all = local.thread.below
    return None if below_all is None else below_all.record


def inner(array: Any) -> Any:
    """The array that levels compute with: a NumPy array in place of one that a compiler traces."""
    below_all = local.thread.below
    return array if below_all is None else below_all.inner(array)


def outer(array: Any) -> Any:
    """The array that the program gets from levels: one that a compiler traces in place of a NumPy array."""
    below_all = local.thread.below
    return array if below_all is None else below_all.outer(array)


def constant(array: Any) -> Any:
    """An array that a level has made, and that has the same numbers whatever the program computes with."""
    below_all = local.thread.below
    return array if below_all is None else below_all.constant(array)


class inside:
    """The context in which levels compute, and not the program; or, with `False`, functions of tensors. `by_rule` says
    that they are rules.
    """

    __slots__ = ("before", "below", "by_rule", "value")

    def __init__(self, value: bool = True, by_rule: bool = False) -> None:
        self.value, self.by_rule = value, by_rule

    def __enter__(self) -> None:
        self.below = below = local.thread.below
        if below is not None:
            self.before = below.inside, below.by_rule
            below.inside, below.by_rule = self.value, self.by_rule

    def __exit__(self, *error: object) -> None:
        if self.below is not None:
            self.below.inside, self.below.by_rule = self.before


def put(levels: Sequence[Level]) -> None:
    """Have exactly these levels be in effect."""
    transform = interpret if levels else lowest()
    local.thread.levels, local.thread.transform = tuple(levels), transform


def below(op: Op, call: Callable[..., Any], args: Sequence[Any], write: bool = False) -> Any:
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
