"""What a traced call has done, as a recipe that repeats it, and a guard that says when."""

from __future__ import annotations

from typing import Any

from ...foundations.dtypes import Array
from ...foundations.errors import Site
from ...foundations.names import reached
from ...optim.elementwise import ElementsOptimizer
from ...tensors.recording.hooks import retain
from ...tensors.state.base import note_layout
from ..execution.again import again
from ..execution.plan import Plan, planned
from ..guards.guard import make as make_guard
from ..program.formulas import Formulas, Maker
from ..program.lines import Program
from ..reach.changes import Changes, changes
from ..reach.items import CONTAINER
from ..repeat.branches import way_back
from ..repeat.outside import Backward
from ..repeat.recipe import Recipe
from .backward_plans import Rehearsal, TracedBackward
from .known_tensors import KnownTensors
from .leaving import leaving
from .recording import Recording
from .results import Left, Unknown, form, new_tensors
from .traced import give_arrays
from .walked import WalkedCall


class Description:
    """What a repetition of a call needs. `recipe` is there after `make`, if nothing stands against it.

    `left` are the new tensors of the call. `plans` are the plan of the call and that of the backward pass of its
    results. `traced_call` is what other traces are compared with, if sizes change.
    """

    def __init__(self, call: WalkedCall, recording: Recording, site: Site | None) -> None:
        self.call, self.recording, self.site = call, recording, site
        self.guard: Any = None
        self.left: Left | None = None
        self.recipe: Recipe | None = None
        self.plans: list[Plan] = []
        self.traced_call: Any = None
        self._arrays: list[Array] = []                     # the results of this run, and what its backward pass needs
        self.program: Any = None                           # of the call
        self.backs: list[TracedBackward] = []              # the backward passes of its results
        self.formulas: Formulas | None = None              # of the numbers that it makes

    def make(self, result: Any) -> None:
        """Make the recipe. If something stands against it, the tape is given up."""
        tape, before, numbers = self.recording.tape, self.call.before, self.recording.numbers
        changed, placed, why = self._changed()
        if why is not None:
            return tape.give_up(why, True)
        there = [t for effect in changed.effects if effect.whole is not None for t in effect.whole.tensors()]
        try:
            returns = new_tensors(result)
            self.guard = make_guard(before, changed.replaced, *self._unread([*returns, *there]), numbers)
            left = Left(before, self.guard.inputs, numbers)
            for tensor in [*there, *returns]:
                left.add(tensor)
            returned = form(result, left, before, placed)
            applied = [leaving(effect, left) for effect in changed.effects]
            schedules, last = self.recording.schedules.repeated(left)
        except Unknown as reason:
            return tape.give_up(str(reason), True)
        self.left = left
        known = KnownTensors(before, tape, self.guard.inputs)
        recipe = self._recipe(left, known)
        if recipe is None:
            return None
        recipe.returned, recipe.finishing, recipe.effects = returned, left.finishing(), applied
        recipe.schedules, recipe.last = schedules, last
        recipe.prepare = self.recording.rates.preparing(numbers, len(self.guard.inputs))
        if recipe.way_back is None:                        # else the gradients must keep their numbers
            recipe.leaves = {left.place(effect.whole.value): effect.anchor               # type: ignore[union-attr]
                             for effect in changed.effects if effect.is_gradient}
        self.recipe = recipe
        if self.recording.uses is not None and not self.recording.below.used:
            self.traced_call = reached("compilation.sized.traced_calls").traced_call(
                self, known.given, changed.effects, result)
        return None

    def _changed(self) -> tuple[Changes, set[int], str | None]:
        """What the call has changed, the new containers that it has put somewhere, and why no recipe can repeat this.
        """
        call, numbers = self.call, self.recording.numbers
        after = call.again(numbers.grown(call.before))
        changed, lost = changes(call.before, after), numbers.lost(call.before, after)
        numbers.note(changed.effects, call.args, call.kwargs)
        placed = {number for number, item in after.known.items()
                  if item.kind == CONTAINER and number not in call.before.known and type(item.value) is not tuple}
        after.let_go()                                     # nothing needs the traced arrays longer than the trace
        why = lost or next(iter(changed.unrepeatable), None)
        if why is None and self.recording.tape.missed():
            why = "the program uses a tensor that the search did not find"
        return changed, placed, why

    def _unread(self, kept: list[Any]) -> tuple[set[int], set[int]]:
        """The numbers of gradients, and of captured tensors, that the call has neither read nor kept.

        Whoever holds such a gradient keeps its memory, and others may write over the memory of such a tensor.
        """
        tape = self.recording.tape
        read = {number for line in tape.lines for number in line.reads}
        held = {id(tensor) for tensor in kept}
        unread = [item for item in self.call.before.tensors() if item.role != "argument" and id(item.value) not in held
                  and tape.outside(item.array).number not in read]
        gradients = {item.number for item in unread if item.role == "grad"}
        return gradients, {item.number for item in unread if item.role == "captured"}

    def _recipe(self, left: Left, known: KnownTensors) -> Recipe | None:
        """The recipe with the plan for the new tensors, and for their gradients."""
        tape, made, native = self.recording.tape, left.made, self.recording.tape.native
        lines, outputs = [*tape.lines], [tensor._array.number for tensor in made]
        held = tape.alive(), self.recording.below.owners()           # the backward pass frees none of them
        rehearsal = Rehearsal(self.recording, known, outputs)
        self.backs = rehearsal.trace(made, left.views)
        if tape.reason is not None:
            return None
        saved = [number for back in self.backs for number in back.saved]
        numbers = [*outputs, *saved, *[array.number for array in self.recording.numbers.arrays()]]
        self._arrays = self.recording.below.arrays(numbers, held[0])
        self.program = Program(tape.values, lines, tape.inputs, numbers)
        plan = planned(self.program, [*known.given], native)
        others = [*self.recording.rates.arrays(), *self.recording.numbers.operands.memory]
        if not known.are_steady(plan, others):
            tape.give_up("the program uses the memory behind a view, which may be another in each call")
            return None
        self.plans = [plan]
        recipe = Recipe([known.given[number] for number in plan.given], plan, len(made))
        recipe.site, recipe.warnings = self.site, tape.warnings
        self.formulas = self.recording.numbers.formulas(len(outputs) + len(saved), len(self.guard.inputs))
        recipe.numbers = None if self.formulas is None else Maker(self.formulas)
        if not self._find_way_back(recipe, known):
            return None
        self.recording.counts.note(recipe, self.call.before, lines, known.given)
        self.recording.counts.note_results(recipe, made)
        if rehearsal.spent:
            recipe.backward.append(Backward(rehearsal.spent, leaves=rehearsal.spent_leaves))
        recipe.backward += map(self._outside, self.backs)
        return recipe

    def _find_way_back(self, recipe: Recipe, known: KnownTensors) -> bool:
        """Give the recipe its way back, if the call branches on numbers. Gives up if there is none."""
        tape = self.recording.tape
        if self.recording.numbers.branches:
            values = {item.number: tape.outside(item.array).number for item in self.call.before.tensors()}
            recipe.way_back = way_back(self.program, self.call.before, values, known.given)
            if recipe.way_back is None:
                tape.give_up("the program branches on a number, and writes memory whose tensor may be another one")
                return False
            if tape.warnings:
                tape.give_up("the program branches on a number, and an operation gives a warning")
                return False
        return True

    def _outside(self, traced: TracedBackward) -> Backward:
        """What a run needs so that its results can be differentiated."""
        native = self.recording.tape.native
        given, kept = traced.given, traced.kept()
        plan = planned(traced.program, given, native)
        self.plans.append(plan)
        return traced.planned(plan, again(plan, lambda: planned(kept(), given, native)), native, kept)

    def finish(self) -> None:
        """Give the results of this run the history that those of a repetition have."""
        recipe, left = self.recipe, self.left
        if recipe is None or left is None:
            return
        before = self.call.before
        made, inputs = left.made, [before.items[number].value for number in self.guard.inputs]
        give_arrays(left.every())
        for backward in recipe.backward:
            recipe.record(backward, made, self._arrays, inputs)
        for tensor in made:
            if tensor._grad_meta is not None and tensor._grad_meta.retained is not None:
                tensor._grad_meta.retained = None               # by its former history
                retain(tensor)
        for view, take in zip(left.views, left.retaking()):
            tensors: list[Any] = [*made]
            take(tensors, inputs)
            view._edge, view._grad_meta = tensors[-1]._edge, tensors[-1]._grad_meta
        for tensor in made:
            note_layout(tensor)
        for item in before.items:
            if isinstance(item.value, ElementsOptimizer):
                item.value.give_back()
