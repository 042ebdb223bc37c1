"""What a rule says of an operator of distributed arrays: the cases in which each process can compute by itself.

A rule looks at one dim of the mesh. It says how the operands must lie along that dim, and how the results lie then.
`calls` takes the case that moves the fewest bytes. Every operator has one more case: all processes have all operands,
and all compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ...ops.framework import Op
from .placement_types import Partial, Placement, Replicate, Shard

Shape = tuple[int, ...]
R, SUM, AVG = Replicate(), Partial(), Partial("avg")


class Case(NamedTuple):
    """How the operands lie along a dim of the mesh, and how the results lie then. A result that is cut has a size: the
    number of elements of the dim that is cut, in the whole.
    """

    ins: tuple[Placement, ...]
    outs: tuple[tuple[Placement, int], ...]


class Asked(NamedTuple):
    """A call as a rule sees it: the shapes of the operands, how they lie along the dim of the mesh, all arguments, and
    whether a dim of some size is cut into equal parts.
    """

    shapes: Sequence[Shape]
    now: Sequence[Placement]
    args: tuple[Any, ...]
    equal: Callable[[int], bool]


Rule = Callable[[Asked], Iterator[Case]]


def whole(*placements: Placement) -> tuple[tuple[Placement, int], ...]:
    """The results are not cut."""
    return tuple([(placement, 0) for placement in placements])


def cut(dim: int, n: int) -> tuple[tuple[Placement, int], ...]:
    """The one result is cut along a dim."""
    return ((Shard(dim), n),)


class Rules(dict[Op, Rule]):
    """The rules of a family of operators."""

    def of(self, *ops: Op) -> Callable[[Rule], Rule]:
        """The decorator that gives operators a rule."""
        def register(rule: Rule) -> Rule:
            self.update(dict.fromkeys(ops, rule))
            return rule

        return register


def parts(asked: Asked, i: int = 0) -> Iterator[Partial]:
    """The placement of an operand, if it is a reduction of parts: for operators that only move elements."""
    placement = asked.now[i]
    if isinstance(placement, Partial):
        yield placement


def sums(asked: Asked, i: int = 0) -> Iterator[Partial]:
    """The placement of an operand, if it is a sum or an average of parts."""
    placement = asked.now[i]
    if placement in (SUM, AVG):
        assert isinstance(placement, Partial)
        yield placement
