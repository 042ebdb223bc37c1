"""A call of any sizes that can be repeated, from traced calls of other sizes.

All traced calls must have left the same behind: the same structure with tensors from the same places, and the same
effects. Then the recipe of one of them serves all sizes, with a plan that is bound to the sizes of each call.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ...foundations.names import reached
from ...tensors.state.base import TensorBase
from ..execution.plan import quiet
from ..passes.effects import all_memory_written, may_start_again
from ..program import constants
from ..program.forms import Refused as Refused, Sizes, Unlike as Unlike, at
from ..program.lines import Program, Value
from ..program.sizes import Use, Uses
from ..program.stand_ins import let_go
from ..program.symbols import merged, settled
from ..reach import kinds
from ..reach.changes import Effect, Whole
from ..reach.guards import Guard
from ..repeat.recipe import Backward, Recipe
from ..trace.backward_plans import TracedBackward
from ..trace.results import Left
from .guards import Sizing, sized_guard, sizing
from .pairing import SizedProgram, TracedProgram
from .plans import KEPT, SizedCode, SizedPlan


class TracedCall(NamedTuple):
    """What is needed of a traced call to find out how the call depends on sizes.

    `places` says where the guard has the tensors of those values that are given to the plan. `left` is what the call
    has left behind, in a form that can be compared.
    """

    guard: Guard
    recipe: Recipe
    program: TracedProgram
    backs: list[TracedBackward]
    places: dict[int, int]
    left: Any
    views: list[Any]
    uses: list[Use]


class SizedRecipe(Recipe):
    """A recipe whose plan is bound to the sizes of each call, which the guard has found."""

    plan: Any

    def __init__(self, like: Recipe, given: list[int], plan: SizedPlan, passes: list[Backward | SizedBackward],
                 replays: Sequence[Any]) -> None:
        vars(self).update(vars(like))
        first = len(like.finishing) - len(replays)
        self.marks, self.retaking = like.finishing[:first], [*zip(like.finishing[first:], replays, strict=True)]
        self.given, self.plan, self.ready = given, plan, None
        self.may_start_again = may_start_again(plan.program)
        self.lock, self.quiet = threading.Lock(), quiet()   # its own, since a traced call may be repeated meanwhile
        self.code: SizedCode | None = None
        self.passes, self.backward = passes, []
        self.kept: dict[Sizes, tuple[list[Backward], list[Any]]] = {}

    def repeat(self, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do what the traced calls did, for the sizes that stand behind the tensors that the guard has found."""
        sizes = inputs[-1]
        code = self.plan.bind(sizes)
        if code is not self.code:
            code.ready.leases.take_back()
            self._run_with(code.ready)
            self.code = code
        if self.passes or self.retaking:
            self.backward, self.finishing = self._for(sizes)
        return super().repeat(inputs, args, kwargs)

    def _for(self, sizes: Sizes) -> tuple[list[Backward], list[Any]]:
        """The backward passes for sizes, and what finishes a call."""
        found = self.kept.get(sizes)
        if found is None:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            passes = [each.at(sizes) if isinstance(each, SizedBackward) else each for each in self.passes]
            views = [replace(take, replay=settled(replay, sizes)) for take, replay in self.retaking]
            found = self.kept[sizes] = passes, [*self.marks, *views]
        return found


class SizedBackward:
    """The backward pass of results of any sizes."""

    def __init__(self, traced: TracedBackward, program: SizedProgram, native: bool) -> None:
        self.traced, self.program, self.layouts = traced, program, program.layouts
        self.plan = SizedPlan(program, program.conditions(), native)
        self.lock, self.quiet = threading.Lock(), quiet()

    def at(self, sizes: Sizes) -> Backward:
        """The backward pass for sizes."""
        def run(*arrays: Any) -> Any:
            with self.lock:
                ready = self.plan.bind(sizes).ready
                ready.leases.take_back()
                return self.quiet.run(ready.run, *arrays)

        found = self.traced.planned(self.plan, run)
        found.layouts = [tuple([at(step, sizes) // each.dtype.itemsize for step in each.strides])
                         for each in map(self.layouts.__getitem__, self.traced.asked)]
        return found


def paired(calls: Sequence[TracedCall], native: bool) -> tuple[Guard, Recipe]:
    """The guard and the recipe for all sizes. Raises Refused if the traced calls differ in more than sizes."""
    last, guards = calls[-1], [call.guard for call in calls]
    sized = sizing(guards, [call.uses for call in calls])
    if any([call.left != last.left or call.places != last.places or call.recipe.last != last.recipe.last
            for call in calls]):
        raise Refused("the traced calls have left other things behind")
    program = SizedProgram([call.program for call in calls], sized)
    conditions = program.conditions()
    passes = _passes(calls, sized, native)
    for each in passes:
        conditions += each.program.conditions() if isinstance(each, SizedBackward) else []
    replays = [merged(program.points, each) for each in zip(*[call.views for call in calls], strict=True)]
    plan = SizedPlan(program, conditions, native)
    recipe = SizedRecipe(last.recipe, [last.places[number] for number in plan.given], plan, passes, replays)
    return sized_guard(guards, sized, conditions), recipe


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


def traced_call(guard: Guard, recipe: Recipe, traced: tuple[Any, tuple[int, ...]], backs: list[TracedBackward],
                places: dict[int, int], left: Left, effects: list[Effect], result: Any, uses: Uses) -> TracedCall:
    """What is needed of a traced call that has returned `result`. It holds no memory of the arguments."""
    views = [view._meta.replay for view in left.views]
    program, given = traced
    values = [value.copied() for value in program.values]
    others = {*given, *[number for back in backs for number in back.given]}
    let_go(values, {value.number for value in values if value.source != "line"} - others)
    _keep_numbers(values, [program, *[back.program for back in backs]])
    # Gradients of gradients are for the sizes of one traced call.
    backs = [back._replace(program=back.program._replace(values=values), second=None) for back in backs]
    return TracedCall(guard, recipe, TracedProgram(program._replace(values=values), given), backs, places,
                      left_behind(left, effects, result), views, uses.noted)


def _keep_numbers(values: list[Value], programs: list[Program]) -> None:
    """Copy constants that are only read. The program may write to them before the call is compared with others."""
    written: set[int] = set()
    for program in programs:
        written |= all_memory_written(program._replace(values=values))
        written |= {values[number].memory for number in program.outputs}
    for value in values:
        if value.source == "constant" and value.memory not in written and value.like.nbytes <= kinds.CONTENT_LIMIT:
            value.like = value.like.copy(order="K")


def left_behind(left: Left, effects: list[Effect], result: Any) -> Any:
    """What a traced call has left behind, to be compared with what another one has."""
    shown = _Shown(left)
    made = [(tensor._edge is None, tensor._edge is not None and tensor._edge.node is None, type(tensor),
             tensor._meta is not None and (tensor._meta.leaf, shown.part(tensor._meta.grad)))
            for tensor in left.made]
    return (shown.part(result), made, [(shown.part(view._meta.base), view._meta.creation, view._edge is None,
                                        view._meta.leaf) for view in left.views],
            [(effect.words, id(effect.anchor), effect.steps, effect.step, shown.whole(effect.whole))
             for effect in effects])


class _Shown:
    """The parts of what a call has left, in a form that can be compared."""

    def __init__(self, left: Left) -> None:
        self.left, self.things = left, left.before.known

    def part(self, value: Any) -> Any:
        """A part of a result."""
        if isinstance(value, TensorBase):
            return self._tensor(value)
        if constants.is_constant(value):
            return type(value), repr(value)
        item = self.things.get(id(value))
        if item is not None:
            return "known", id(value) if item.fixed else item.words
        pytree = reached("utils._pytree")
        children, context = pytree.SUPPORTED_NODES[pytree._get_node_type(value)].flatten_fn(value)
        return type(value), repr(context), [self.part(child) for child in children]

    def _tensor(self, tensor: Any) -> Any:
        item = self.left.known.get(id(tensor))
        if item is not None:
            return ("input", item.words) if item.number in self.left.inputs else ("captured", id(tensor))
        if id(tensor) in self.left.bases:
            return "base", self._tensor(self.left.bases[id(tensor)].value)
        return "made", self.left.places[id(tensor)]

    def whole(self, whole: Whole | None) -> Any:
        """The new value of an effect."""
        if whole is None:
            return None
        if whole.fresh:
            return self._tensor(whole.value)
        if whole.parts is None:
            return (type(whole.value), repr(whole.value)) if constants.is_constant(whole.value) else id(whole.value)
        return type(whole.value), [(repr(key), self.whole(part)) for key, part in whole.parts.items()]

