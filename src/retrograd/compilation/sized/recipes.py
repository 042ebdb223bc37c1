"""A call of any sizes that can be repeated, from traced calls of other sizes.

All traced calls must have left the same behind: the same structure with tensors from the same places, and the same
effects. Then the recipe of one of them serves all sizes, with a plan that is bound to the sizes of each call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...foundations.dtypes import Array
from ..execution.again import Again, quiet
from ..execution.numpy_code import Ready
from ..guards.guard import Guard
from ..numbers.followed import Preparing
from ..passes.effects import may_start_again
from ..program.forms import Points, Refused as Refused, Sizes, Unlike as Unlike, at
from ..program.formulas import Formulas, Maker, merged as merged_formulas
from ..program.symbols import concrete, merged
from ..repeat.outside import Backward
from ..repeat.recipe import DECLINED, Recipe
from ..trace.backward_plans import TracedBackward
from .guards import Sizing, sized_guard, sizing
from .pairing import SizedProgram, TracedProgram
from .plans import KEPT, SizedCode, SizedPlan
from .traced_calls import TracedCall


class SizedRecipe(Recipe):
    """A recipe whose plan is bound to the sizes of each call, which the guard has found."""

    plan: Any

    def __init__(self, like: Recipe, given: list[int], plan: SizedPlan, passes: list[Backward | SizedBackward],
                 replays: Sequence[Any]) -> None:
        vars(self).update(vars(like))
        self.makers: list[Maker] = []                      # of Python's numbers, which depend on sizes
        self.sizes: Sizes = ()                             # of the last call
        first = len(like.finishing) - len(replays)
        self.marks, self.retaking = like.finishing[:first], [*zip(like.finishing[first:], replays, strict=True)]
        self.given, self.plan, self.ready = given, plan, None
        self.may_start_again = may_start_again(plan.program)
        self.lock, self.quiet = threading.Lock(), quiet()   # its own, since a traced call may be repeated meanwhile
        self.code: SizedCode | None = None
        self.passes, self.backward = passes, []
        self.plans = [plan, *[each.plan for each in passes if isinstance(each, SizedBackward)]]
        self.kept: dict[Sizes, tuple[list[Backward], list[Any]]] = {}

    def repeat(self, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do what the traced calls did, for the sizes that stand behind the tensors that the guard has found."""
        sizes = inputs.pop()                               # so that the numbers of this call come behind the others
        if sizes != self.sizes:
            if not all([plan.fits(sizes) for plan in self.plans]):
                return DECLINED
            for maker in self.makers:
                maker.begin(*sizes)
            self.sizes = sizes
        code = self.plan.bind(sizes)
        if code is not self.code:
            code.ready.leases.take_back()
            self._run_with(code.ready)
            self.code = code
        if self.passes or self.retaking:
            self.backward, self.finishing = self._for(sizes)
        return super().repeat(inputs, args, kwargs)

    def make_numbers(self, formulas: Formulas | None, prepare: Preparing | None, count: int) -> None:
        """Have each call make numbers of Python's own: after the run of the plan by `formulas`, and before the run by
        `prepare`. Both depend on `count` sizes.
        """
        self.numbers, self.prepare = None if formulas is None else Maker(formulas, count), prepare
        makers = (self.numbers, None if prepare is None else prepare.maker)
        self.makers = [maker for maker in makers if maker is not None]

    def _for(self, sizes: Sizes) -> tuple[list[Backward], list[Any]]:
        """The backward passes for sizes, and what finishes a call."""
        found = self.kept.get(sizes)
        if found is None:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            passes = [each.at(sizes) if isinstance(each, SizedBackward) else each for each in self.passes]
            views = [replace(take, replay=concrete(replay, sizes)) for take, replay in self.retaking]
            found = self.kept[sizes] = passes, [*self.marks, *views]
        return found


class SizedBackward:
    """The backward pass of results of any sizes."""

    def __init__(self, traced: TracedBackward, program: SizedProgram, native: bool) -> None:
        self.traced, self.program, self.layouts, self.native = traced, program, program.layouts, native
        self.plan = SizedPlan(program, program.conditions(), native)
        self.again = Again(_readying(self.plan), lambda: _readying(self.plan.apart()))

    def at(self, sizes: Sizes) -> Backward:
        """The backward pass for sizes."""
        def run(*arrays: Any) -> Any:
            return self.again.run(arrays, sizes)

        whole = partial(self.program.at, sizes)
        return self.traced.planned(self.plan, run, self.native, whole, True)._replace(layouts=[
            tuple([at(step, sizes) // each.dtype.itemsize for step in each.strides])
            for each in map(self.layouts.__getitem__, self.traced.asked)])


def _readying(plan: SizedPlan) -> Callable[[Sizes], Ready]:
    """What makes a plan ready for a run for sizes."""
    def ready(sizes: Sizes) -> Ready:
        found: Ready = plan.bind(sizes).ready
        found.leases.take_back()
        return found

    return ready


def paired(calls: Sequence[TracedCall], native: bool) -> tuple[Guard, Recipe]:
    """The guard and the recipe for all sizes. Raises Refused if the traced calls differ in more than sizes."""
    last, guards = calls[-1], [call.guard for call in calls]
    if any([_outcomes(call) != _outcomes(last) for call in calls]):
        raise Unlike("the branches on numbers have turned out otherwise")
    sized = sizing(guards, [call.uses for call in calls])
    if any([call.left != last.left or call.places != last.places or call.recipe.last != last.recipe.last
            for call in calls]):
        raise Refused("the traced calls have left other things behind")
    if any([call.recipe.schedules for call in calls]):
        raise Refused("the program sees what the step of a schedule does")
    if any([call.recipe.warnings for call in calls]):
        raise Refused("the program gives a warning, which may name sizes")
    calls, preparing = _prepared(calls)
    program = SizedProgram([call.program for call in calls], sized)
    conditions = program.conditions()
    passes = _passes(calls, sized, native)
    for each in passes:
        conditions += each.program.conditions() if isinstance(each, SizedBackward) else []
    replays = [merged(program.points, each) for each in zip(*[call.views for call in calls], strict=True)]
    plan = SizedPlan(program, conditions, native)
    recipe = SizedRecipe(last.recipe, [last.places[number] for number in plan.given], plan, passes, replays)
    recipe.make_numbers(_merged(program.points, [call.formulas for call in calls]),
                         preparing and preparing(program.points), len(sized.places))
    return sized_guard(guards, sized, conditions), recipe


def _merged(points: Points, traced: Sequence[Formulas | None]) -> Formulas | None:
    """The formulas of traced calls for all sizes, if the calls make numbers."""
    found = [each for each in traced if each is not None]
    if found and len(found) < len(traced):
        raise Unlike("the traced calls have made other numbers")
    return merged_formulas(points, found) if found else None


def _outcomes(call: TracedCall) -> list[bool]:
    """How the branches on numbers turned out in a traced call."""
    return [] if call.formulas is None else [outcome for _, outcome in call.formulas.branches]


def _prepared(calls: Sequence[TracedCall]) -> tuple[list[TracedCall], Callable[[Points], Preparing] | None]:
    """The traced calls with one memory for the numbers that their lines read, and what makes that which writes there.

    The memory is new, since the recipe of a traced call may run meanwhile.
    """
    found = [call.recipe.prepare for call in calls]
    if not any(found):
        return [*calls], None
    if not all(found) or any([call.operands != calls[0].operands for call in calls]) or any([
            [*map(id, each.options)] != [*map(id, found[0].options)] for each in found]):
        raise Unlike("the lines of the traced calls read other numbers")
    memory = [array.copy() for array in found[-1].operands]
    return [_with_operands(call, memory) for call in calls], lambda points: Preparing(
        found[-1].options, memory, merged_formulas(points, [each.formulas for each in found]), len(points.sizes[0]))


def _with_operands(call: TracedCall, memory: Sequence[Array]) -> TracedCall:
    """A traced call whose lines read numbers from this memory."""
    program = call.program.program
    values = [value.copied() for value in program.values]
    for number, array in zip(call.operands, memory, strict=True):
        values[number].like = array
    backs = [back._replace(program=back.program._replace(values=values)) for back in call.backs]
    return call._replace(program=call.program._replace(program=program._replace(values=values)), backs=backs)


def _passes(calls: Sequence[TracedCall], sized: Sizing, native: bool) -> list[Backward | SizedBackward]:
    """The backward passes of the results, for all sizes."""
    last = calls[-1]
    if any([[(*back[1:5], back.before) for back in call.backs] != [(*back[1:5], back.before) for back in last.backs]
            for call in calls]):
        raise Refused("the results of the traced calls have other backward passes")
    sizeds = [SizedBackward(last.backs[place], SizedProgram(
        [TracedProgram(call.backs[place].program, call.backs[place].given) for call in calls], sized), native)
        for place in range(len(last.backs))]
    return [*[each for each in last.recipe.backward if each.run is None], *sizeds]
