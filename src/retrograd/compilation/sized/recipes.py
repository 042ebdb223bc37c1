"""A call of any size that can be repeated, from two traced calls of other sizes.

Both traced calls must have left the same behind: the same structure with tensors from the same places, and the same
effects. Then the recipe of one of them serves all sizes, with a plan that is bound to the size of each call.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from ...names import reached
from ...tensors.state.base import TensorBase
from .. import kinds
from ..backward_plans import TracedBackward
from ..changes import Effect, Whole
from ..guards import Guard
from ..passes.effects import may_start_again
from ..recipe import Backward, Recipe
from ..results import Left
from ..stand_ins import let_go
from .guards import Sizing, sized_guard, sizing
from .pairing import SizedProgram, TracedProgram
from .plans import SizedCode, SizedPlan
from .sizes import Use, Uses
from .symbols import Refused as Refused, Unlike as Unlike, at, has_extents, merged


class TracedCall(NamedTuple):
    """What is needed of a traced call to find out how the call depends on sizes.

    `places` says where the guard has the tensors of those values that are given to the plan. `left` is what the call
    has left behind, in a form that can be compared.
    """

    guard: Guard
    recipe: Recipe
    program: TracedProgram
    back: TracedBackward | None
    places: dict[int, int]
    left: Any
    views: list[Any]
    uses: list[Use]


class SizedRecipe(Recipe):
    """A recipe whose plan is bound to the size of each call, which the guard has found."""

    plan: Any

    def __init__(self, like: Recipe, given: list[int], plan: SizedPlan, passes: list[Backward | SizedBackward]) -> None:
        vars(self).update(vars(like))
        self.given, self.plan, self.ready = given, plan, None
        self.may_start_again = may_start_again(plan.program)
        self.lock = threading.Lock()
        self.code: SizedCode | None = None
        self.passes, self.backward = passes, []
        self.kept: dict[int, list[Backward]] = {}

    def repeat(self, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do what the traced calls did, for the size that stands behind the tensors that the guard has found."""
        size = inputs[-1]
        code = self.plan.bind(size)
        if code is not self.code:
            self.code = code
            code.ready.leases.take_back()
            self._run_with(code.ready)
        if self.passes:
            self.backward = self._passes(size)
        return super().repeat(inputs, args, kwargs)

    def _passes(self, size: int) -> list[Backward]:
        """The backward passes for a size."""
        found = self.kept.get(size)
        if found is None:
            found = [each.at(size) if isinstance(each, SizedBackward) else each for each in self.passes]
            self.kept[size] = found
        return found


class SizedBackward:
    """The backward pass of results of any size."""

    def __init__(self, traced: TracedBackward, program: SizedProgram, native: bool) -> None:
        self.traced, self.program, self.layouts = traced, program, program.layouts
        self.plan = SizedPlan(program, program.conditions(), native)
        self.lock = threading.Lock()

    def at(self, size: int) -> Backward:
        """The backward pass for a size."""
        def run(*arrays: Any) -> Any:
            with self.lock:
                ready = self.plan.bind(size).ready
                ready.leases.take_back()
                return ready.run(*arrays)

        found = self.traced.planned(self.plan, run)
        found.layouts = [tuple([at(step, size) // each.dtype.itemsize for step in each.strides])
                         for each in map(self.layouts.__getitem__, self.traced.asked)]
        return found


def paired(one: TracedCall, other: TracedCall, native: bool) -> tuple[Guard, Recipe]:
    """The guard and the recipe for all sizes. Raises Refused if the traced calls differ in more than a size."""
    if one.left != other.left or one.places != other.places:
        raise Refused("the traced calls have left other things behind")
    for replays in zip(one.views, other.views, strict=True):
        if has_extents(merged((2, 3), [[replay] for replay in replays])):
            raise Refused("the program leaves a view that depends on the size")
    sized = sizing(one.guard, other.guard, (one.uses, other.uses))
    program = SizedProgram((one.program, other.program), sized)
    conditions = program.conditions()
    passes = _passes(one, other, sized, native)
    for each in passes:
        conditions += each.program.conditions() if isinstance(each, SizedBackward) else []
    plan = SizedPlan(program, conditions, native)
    recipe = SizedRecipe(other.recipe, [one.places[number] for number in plan.given], plan, passes)
    return sized_guard(one.guard, other.guard, sized, [*dict.fromkeys(conditions)]), recipe


def _passes(one: TracedCall, other: TracedCall, sized: Sizing, native: bool) -> list[Backward | SizedBackward]:
    """The backward passes of the results, for all sizes."""
    if one.back is None or other.back is None:
        if one.back is not other.back or any([each.run is not None for each in other.recipe.backward]):
            raise Refused("the results of the traced calls have other backward passes")
        return [*other.recipe.backward]
    first, second = one.back, other.back
    if first[1:5] != second[1:5]:
        raise Refused("the results of the traced calls have other backward passes")
    program = SizedProgram((TracedProgram(first.program, first.given), TracedProgram(second.program, second.given)),
                           sized)
    return [SizedBackward(second, program, native) if each.run is not None else each for each in other.recipe.backward]


def traced_call(guard: Guard, recipe: Recipe, traced: tuple[Any, tuple[int, ...]], back: TracedBackward | None,
                places: dict[int, int], left: Left, effects: list[Effect], result: Any, uses: Uses) -> TracedCall:
    """What is needed of a traced call that has returned `result`. It holds no memory of the arguments."""
    views = [view._meta.replay for view in left.views]
    program, given = traced
    values = [value.copied() for value in program.values]
    others = {*given, *(back.given if back is not None else ())}
    let_go(values, {value.number for value in values if value.source != "line"} - others)
    if back is not None:
        back = back._replace(program=back.program._replace(values=values))
    return TracedCall(guard, recipe, TracedProgram(program._replace(values=values), given), back, places,
                      left_behind(left, effects, result), views, uses.noted)


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
        if kinds.is_constant(value):
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
            return (type(whole.value), repr(whole.value)) if kinds.is_constant(whole.value) else id(whole.value)
        return type(whole.value), [(repr(key), self.whole(part)) for key, part in whole.parts.items()]

