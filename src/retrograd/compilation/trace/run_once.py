"""The first run of a call: for real, on traced arrays, and noting everything that is needed to repeat the call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...autograd.backward import grad
from ...errors import user_site
from ...names import reached
from ...optim.stepping import SteppingOptimizer
from ...tensors.arguments.generator import get_rng_state, set_rng_state
from ...tensors.state.base import note_layout, plain
from ..execution.numpy_code import Ready
from ..execution.plan import Plan, planned
from ..program.lines import Program
from ..program.sizes import Uses
from ..program.undoing import Undo
from ..reach import guards
from ..reach.changes import changes
from ..reach.changing_sizes import Sizes
from ..reach.items import ARRAY, CONTAINER, Item
from ..reach.state import State, walk
from ..reach.twins import Twins
from ..repeat.branches import way_back
from ..repeat.recipe import Backward, Recipe
from .backward_plans import TracedBackward
from .behind import give_back, put_in_place
from .below_levels import BelowLevels, stand
from .borders import Borders
from .counts import Counts
from .leaving import leaving
from .left_sizes import without_sizes
from .numbers import Numbers
from .rates import Rates
from .restoring import restore
from .results import SPECIAL, Left, Unknown, form, leaves_reached, new_tensors
from .schedules import Schedules
from .tracing import GivenUp, Reason, Tape, Traced, give_arrays, take_away
from .watching import Watching, clock

Array = np.ndarray[Any, Any]
_SPENT: Any = object()                                     # the backward pass of a graph that is freed


class FirstRun:
    """One traced run. After `run`, `recipe` repeats it, or `reason` says why nothing can."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                 whole: bool, native: bool, sizes: Sizes | None = None) -> None:
        self.native = native
        self.function, self.args, self.kwargs = function, args, kwargs
        self.before: State = walk(function, args, kwargs)
        self.twins = Twins(self.before, args, kwargs)
        if self.twins.tensors:
            self.args, self.kwargs = self.twins.args, self.twins.kwargs
            self.before = walk(function, self.args, self.kwargs)
        self.rates = Rates(self.before)
        self.guard: Any = None
        self.left: Left | None = None
        self.arrays: list[Array] = []                      # the results of this run, and what its backward pass needs
        changing = sizes is not None and sizes.changed(self.before)
        self.uses = Uses() if changing else None           # of sizes that may be others in later calls
        self.call: Any = None                              # what other traces are compared with, if so
        self.back: TracedBackward | None = None
        self.tape, self.plans = Tape(whole, native, self.uses), list[Plan]()
        self.below = BelowLevels(self.tape)
        self.recipe: Recipe | None = None
        self.found_by_itself = changing and sizes is not None and not sizes.expected   # so nobody has said it
        self.is_undone = False                             # whether a run with an error has left nothing
        self.tape.keeps_numbers = whole or self.found_by_itself
        self.tape.deferred.allowed = all([item.kind != ARRAY for item in self.before.items])    # which may be written
        self.schedules, self.borders = Schedules(self.before, self.tape), Borders()
        self.numbers = Numbers(self.before, self.tape)
        self.result: Any = None                            # of the function, until the end of the run
        self.reason: Reason | None = None
        self.watching, self.site = Watching(self.tape, self.uses, self.before), user_site()
        refusals = self.before.refusals
        why = refusals[0] if refusals else clock(self.before)
        if why is not None:
            self._give_up(why, whole)

    def _give_up(self, words: str, whole: bool) -> None:
        self.reason = Reason(words, None)
        if whole:
            raise GivenUp(self.reason)

    @property
    def was_disturbed(self) -> bool:
        """Whether nothing but another thread stood against a recipe."""
        return self.reason is not None and self.reason.passing

    def run(self) -> Any:
        """Run the function, and return what it returns."""
        tape, tensors = self.tape, self.before.tensors_and_bases()
        drawn = get_rng_state() if self.found_by_itself else None
        tape.captured = {id(item.array) for item in self.before.tensors() if item.role != "argument"}
        held, undo = list[tuple[Any, Array]](), Undo()
        with undo, undo:
            self._note_end(undo, held)
            put_in_place(tape, tensors, held)
            self.borders.put(tape, tensors)
            try:
                self.counts = Counts(tape, [array for _, array in held])
                self.numbers.put_in_place()
                self.result = self._function_run()
                self.counts.check()
                self.borders.check()
                if tape.reason is None:
                    self._describe(self.result)
                tape.check()
            except GivenUp:
                self._put_back()
                raise
            except TypeError:
                if drawn is not None and self._is_unseen():
                    self._put_back()
                    set_rng_state(drawn)
                    self.is_undone = True
                raise
        self.reason = tape.reason
        result, self.result = self.twins.originals(self.result), None
        self.before.let_go()
        return result

    def _function_run(self) -> Any:
        """What the function returns. No size of the trace stays in the result or in the program, not after an error."""
        result = None
        try:
            result = self._watched_run()
        finally:
            if self.uses is not None:
                result = without_sizes(result, self.function, self.args, self.kwargs, self.before)
        return result

    def _watched_run(self) -> Any:
        """Call the function, with everything in place that shows what it does."""
        undo = Undo()
        with undo, undo:
            self.rates.put(undo)
            self.schedules.put(undo)
            stand(self.below, undo)
            self.watching.put(undo)
            result = self.function(*self.args, **self.kwargs)
        self.numbers.end()
        self.watching.check()
        return result

    def _note_end(self, undo: Undo, held: list[tuple[Any, Array]]) -> None:
        """Note what ends the run, the last step first: put NumPy arrays back, and make what was put off."""
        undo.note(self.schedules.make)
        undo.note(partial(self.tape.deferred.make, last=True))
        undo.note(self.twins.give_back)
        undo.note(self._settle)
        undo.note(self._let_go)
        undo.note(partial(give_back, held))
        undo.note(self.borders.remove)
        undo.note(partial(setattr, self.tape, "whole", False))

    def _let_go(self) -> None:
        """Let go of the traced arrays. Those in the graph of results go with the graph."""
        if self.recipe is not None and self.left is not None:
            self._finish(self.recipe, self.left)
        new = [] if self.left is None else self.left.every()
        take_away(self.tape, [*self.before.tensors_and_bases(), *new])

    def _settle(self) -> None:
        """Put plain numbers in the places of those that stand in for them."""
        self.result = self.numbers.give_back(self.result)

    def _is_unseen(self) -> bool:
        """Put back what the run, which an error has ended, has changed. Returns whether nothing is left of it but
        numbers, so that it can be made again.
        """
        if self.tape.communicates or self.tape.reason is not None or self.watching.calls.found is not None:
            return False
        self.numbers.put_back()
        restore(self.before)
        after = walk(self.function, self.args, self.kwargs, self.before.mentioned, self.before.grown)
        changed = changes(self.before, after)
        after.let_go()
        return not (changed.effects or changed.unrepeatable)

    def _put_back(self) -> None:
        """Give memory its former numbers, and make no steps of schedules."""
        self.tape.deferred.make()
        self.tape.put_back()
        self.schedules.steps.clear()

    def _finish(self, recipe: Recipe, left: Left) -> None:
        """Give the results of this run the history that those of a repetition have."""
        made, inputs = left.made, self._inputs()
        give_arrays(left.every())
        for backward in recipe.backward:
            recipe.record(backward, made, self.arrays, inputs)
        for view, take in zip(left.views, left.retaking()):
            again: list[Any] = [*made]
            take(again, inputs)
            view._edge, view._meta = again[-1]._edge, again[-1]._meta
        for tensor in made:
            note_layout(tensor)
        for item in self.before.items:
            if isinstance(item.value, SteppingOptimizer):
                item.value.give_back()

    def _inputs(self) -> list[Any]:
        """The tensors of this call that the guard returns for later calls."""
        return [self.before.items[number].value for number in self.guard.inputs]

    def _describe(self, result: Any) -> None:
        """Make the recipe, unless something stands against it."""
        tape = self.tape
        after = walk(self.function, self.args, self.kwargs, self.before.mentioned, self.before.grown)
        changed, lost = changes(self.before, after), self.numbers.lost(self.before, after)
        self.numbers.note(changed.effects, self.args, self.kwargs)
        placed = {number for number, item in after.known.items()
                  if item.kind == CONTAINER and number not in self.before.known and type(item.value) is not tuple}
        after.let_go()                                     # nothing needs the traced arrays longer than the trace
        if changed.unrepeatable or lost is not None:
            return tape.give_up(lost or changed.unrepeatable[0], True)
        if tape.missed():
            return tape.give_up("the program uses a tensor that the search did not find", True)
        left_there = [t for effect in changed.effects if effect.whole is not None for t in effect.whole.tensors()]
        returns = new_tensors(result)
        unread = self._unread([*returns, *left_there])
        self.guard = guards.make(self.before, changed.replaced, *unread, self.numbers)
        left = Left(self.before, self.guard.inputs, self.numbers)
        try:
            for tensor in [*left_there, *returns]:
                left.add(tensor)
            returned = form(result, left, self.before, placed)
            applied = [leaving(effect, left) for effect in changed.effects]
        except Unknown as reason:
            return tape.give_up(str(reason), True)
        self.left = left
        recipe = self._recipe(left)
        if recipe is not None:
            recipe.returned, recipe.finishing = returned, left.finishing()
            recipe.effects, recipe.schedules = applied, [*self.schedules.steps]
            if recipe.way_back is None:                    # else the gradients must keep their numbers
                recipe.leaves = {left.place(effect.whole.value): effect.anchor           # type: ignore[union-attr]
                                 for effect in changed.effects if effect.is_gradient}
            self.recipe = recipe
            if self.uses is not None and not self.numbers.used and not self.below.used:
                self.call = reached("compilation.sized.recipes").traced_call(
                    self.guard, recipe, self.traced, self.back, self._given(), left, changed.effects, result, self.uses)
        return None

    def _unread(self, kept: list[Any]) -> tuple[set[int], set[int]]:
        """The numbers of gradients, and of captured tensors, that the call has neither read nor kept.

        Whoever holds such a gradient keeps its memory, and others may write over the memory of such a tensor.
        """
        read = {number for line in self.tape.lines for number in line.reads}
        held = {id(tensor) for tensor in kept}
        unread = [item for item in self.before.tensors() if item.role != "argument" and id(item.value) not in held
                  and self.tape.outside(item.array).number not in read]
        gradients = {item.number for item in unread if item.role == "grad"}
        return gradients, {item.number for item in unread if item.role == "captured"}

    def _recipe(self, left: Left) -> Recipe | None:
        """The plan for the new tensors, and for their gradients."""
        tape, forward, made = self.tape, len(self.tape.lines), left.made
        outputs = [tensor._array.number for tensor in made]
        recorded = [place for place, tensor in enumerate(made)
                    if tensor._edge is not None and tensor._edge.node is not None]
        given = self._given()
        held = tape.alive(), self.below.owners()           # the backward pass frees none of them
        back, spent = self._backward(made, recorded) if recorded else (None, [])
        if tape.reason is not None:
            return None
        lines = tape.lines[:forward]
        saved = [] if back is None else back[1]
        numbers = [*outputs, *saved, *[array.number for array in self.numbers.arrays()]]
        self.arrays = self.below.arrays(numbers, held[0])
        program = Program(tape.values, lines, tape.inputs, numbers)
        self.traced = program, tuple(given)
        plan = planned(program, [*given], self.native)
        if self._is_unsteady(plan):
            tape.give_up("the program uses the memory behind a view, which may be another in each call")
            return None
        self.plans = [plan]
        recipe = Recipe([given[number] for number in plan.given], plan, len(made))
        recipe.site = self.site
        recipe.numbers = self.numbers.maker(len(outputs) + len(saved), len(self.guard.inputs))
        if self.numbers.branches:
            values = {item.number: tape.outside(item.array).number for item in self.before.tensors()}
            recipe.way_back = way_back(program, self.before, values, given)
            if recipe.way_back is None:
                tape.give_up("the program branches on a number, and writes memory whose tensor may be another one")
                return None
        self.counts.note(recipe, self.before, lines, given)
        self.counts.note_results(recipe, made)
        if back is not None:
            recipe.backward.append(self._outside([place for place in recorded if place not in spent], outputs, back))
        if spent:
            recipe.backward.append(Backward(None, spent, [], [], [], [], [], []))
        return recipe

    def _is_unsteady(self, plan: Plan) -> bool:
        """Whether a plan reads an array that is neither given nor always the same."""
        values = plan.program.values
        steady = {id(item.array) for item in self.before.tensors() if item.fixed}
        steady |= set(map(id, self.rates.arrays()))
        steady |= {id(item.value._meta.base._array) for item in self.before.tensors()
                   if item.fixed and item.value._meta is not None and item.value._meta.base is not None}
        used = {number for line in plan.program.lines for number in line.reads} | {*plan.program.outputs}
        return any([number in used and number not in plan.given and id(values[number].like) not in steady
                    for number in plan.program.inputs])

    def _given(self) -> dict[int, int]:
        """The values whose arrays differ from call to call, with their places in what the guard returns."""
        items = self.before.items
        return {self.tape.outside(items[number].array).number: place for place, number in enumerate(self.guard.inputs)}

    def _reach(self, item: Any) -> Callable[[list[Any]], Any]:
        """How a repetition finds a tensor: among those that the guard returns, or it is always the same."""
        if item.number in self.guard.inputs:
            place = self.guard.inputs.index(item.number)
            return lambda inputs: inputs[place]
        tensor = item.value
        return lambda inputs: tensor

    def _backward(self, made: list[Any], recorded: list[int]) -> tuple[Any, list[int]]:
        """Trace the backward pass of new tensors. Also says of which the graph is freed already."""
        sources = [item for item in self.before.tensors() if item.facts.requires_grad and item.role != "grad"]
        leaves, special = leaves_reached([made[place]._edge for place in recorded])
        known = {id(item.value) for item in sources}
        if special or any([id(leaf) not in known for leaf in leaves]):
            self.tape.give_up(special or SPECIAL)
            return None, []
        spent: list[int] = []
        undo = Undo()
        with undo, undo:
            undo.note(partial(set_rng_state, get_rng_state()))           # a custom Function may draw
            self.borders.close(leaves, undo)
            found = self._gradients([made[place] for place in recorded], sources)
            if found is _SPENT:
                spent = [place for place in recorded if self._gradients([made[place]], sources) is _SPENT]
                left = [made[place] for place in recorded if place not in spent]
                found = self._gradients(left, sources) if left else None
        return found, spent

    def _gradients(self, tensors: list[Any], sources: list[Item]) -> Any:
        """Trace one backward pass: the cotangents, the saved values, the gradients and their tensors.

        The result is `_SPENT` if the graph is freed already.
        """
        tape, forward = self.tape, len(self.tape.lines)
        zeros: list[Any] = [tape.outside(np.zeros_like(tensor._array.like)) for tensor in tensors]
        cotangents = [plain(array) for array in zeros]
        undo = Undo()
        try:
            with undo, undo:
                stand(self.below, undo)
                undo.put(Uses, "current", self.uses)
                undo.put(tape, "rehearses", True)
                found = grad(tensors, [item.value for item in sources], cotangents, allow_unused=True,
                             retain_graph=True)
        except GivenUp:
            raise
        except Exception as error:                         # which the program raises where it runs the pass
            return _SPENT if "second time" in str(error) else tape.give_up(
                "the backward pass of the results raises an error")
        if tape.reason is not None:
            return None
        reached = [(item, g) for item, g in zip(sources, found) if g is not None]
        if not all([type(g._array) is Traced for _, g in reached]):
            return tape.give_up("a gradient of the results belongs to a transform that is over")
        made = {number for line in tape.lines[forward:] for number in line.results}
        lines = tape.lines[forward:]
        asked = [c._array.number for c in cotangents]
        given = self._given()
        wanted = [g._array.number for _, g in reached]
        saved = [*dict.fromkeys(number for number in [*[n for line in lines for n in line.reads], *wanted]
                                if number not in made and number not in asked
                                and (tape.values[number].source == "line" or number in given))]
        program = Program(tape.values, lines, tape.inputs, wanted)
        return (program, asked), saved, [item for item, _ in reached]

    def _outside(self, recorded: list[int], outputs: list[int], back: Any) -> Backward:
        """What a run needs so that its results can be differentiated."""
        (program, asked), saved, items = back
        traced = TracedBackward(program, asked, saved, recorded, outputs, [self._reach(item) for item in items])
        plan = planned(program, traced.given, self.native)
        self.plans.append(plan)
        self.back, begun = traced, list[Ready]()

        def run(*arrays: Array) -> tuple[Array, ...]:
            if begun:
                begun[0].leases.take_back()
            else:
                begun.append(plan.begin())
            found: tuple[Array, ...] = begun[0].run(*arrays)
            return found

        return traced.planned(plan, run)
