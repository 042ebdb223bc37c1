"""Backward passes of several results of which only some have cotangents, if zeros for the others have made a NaN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...foundations.dtypes import Array
from ..execution.again import again
from ..execution.plan import planned
from ..passes.absent import without
from ..program.lines import Program


class PartialPasses:
    """The passes for some of the cotangents alone, by the places of these. Each has a plan, made when it first runs.

    `whole` gives the program of the whole pass. `given` are the numbers of the arrays that a run takes before the
    cotangents, which have the numbers `asked`. `sized` says whether the program was made for all sizes.
    """

    def __init__(self, whole: Callable[[], Program], given: Sequence[int], asked: Sequence[int], native: bool,
                 sized: bool) -> None:
        self.whole, self.given, self.asked, self.native, self.sized = whole, [*given], [*asked], native, sized
        self.known: dict[frozenset[int], tuple[Callable[..., tuple[Array, ...]], list[int], list[int]]] = {}

    def gradients(self, there: frozenset[int], arrays: Sequence[Array], count: int) -> list[Array | None]:
        """The `count` gradients for the cotangents at the places `there`; None for those that need others. `arrays` are
        what a run takes.
        """
        run, taken, made = self.known.get(there) or self.known.setdefault(there, self._planned(there))
        found = dict(zip(made, run(*[arrays[place] for place in taken]), strict=True))
        return [found.get(place) for place in range(count)]

    def _planned(self, there: frozenset[int]) -> tuple[Callable[..., tuple[Array, ...]], list[int], list[int]]:
        """What runs a pass, the places of the arrays that it takes, and the places of the gradients that it makes."""
        absent = [number for place, number in enumerate(self.asked) if place not in there]
        program, made = without(self.whole(), self.asked, absent)
        numbers = [*self.given, *self.asked]
        make = partial(planned, program, numbers, self.native, self.sized)
        plan = make()
        return again(plan, make), [numbers.index(number) for number in plan.given], made
