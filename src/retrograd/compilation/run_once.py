"""The first run of a call: for real, on traced arrays, and noting everything that is needed to repeat the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.backward import grad
from ..errors import user_site
from ..modes import standing
from ..tensors.state.base import TensorBase, plain
from ..utils import _pytree as pytree
from . import effects, guards
from .changes import changes
from .plan import Plan, planned
from .program import Program
from .recipe import Backward, Recipe
from .state import State, walk
from .surroundings import outside_random
from .tracing import GivenUp, Reason, Tape, Traced, put_in_place, take_away

Array = np.ndarray[Any, Any]


class FirstRun:
    """One traced run. After `run`, `recipe` repeats it, or `reason` says why nothing can."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
                 whole: bool, native: bool) -> None:
        self.native = native
        self.function, self.args, self.kwargs = function, args, kwargs
        self.before: State = walk(function, args, kwargs)
        self.guard: Any = None
        self.made: list[Any] = []
        self.tape, self.recipe, self.plans = Tape(whole), None, []
        self.reason: Reason | None = None
        self.site = user_site()
        refusals = self.before.refusals
        if refusals:
            self._give_up(refusals[0], whole)

    def _give_up(self, words: str, whole: bool) -> None:
        self.reason = Reason(words, None)
        if whole:
            raise GivenUp(self.reason)

    def run(self) -> Any:
        """Run the function, and return what it returns."""
        tape, random = self.tape, outside_random()
        held = put_in_place(tape, self._tensors())
        try:
            with standing(tape.record):
                result = self.function(*self.args, **self.kwargs)
            if tape.reason is None and random != outside_random():
                tape.give_up("the program draws numbers from Python's or NumPy's random generators")
            if tape.reason is None:
                self._describe(result)
        except GivenUp:
            tape.put_back()
            raise
        finally:
            for tensor, array in held:
                if type(tensor._array) is Traced and tensor._array.like is array:
                    tensor._array = array
            take_away(tape, self.made)
        self.reason = tape.reason
        if self.recipe is not None and self.recipe.backward is not None:
            arrays = [tape.values[number].like for number in self.plans[0].program.outputs]
            self.recipe.record(self.recipe.backward, self.made, arrays, self._inputs())
        return result

    def _inputs(self) -> list[Any]:
        """The tensors of this call that the guard returns for later calls."""
        return [self.before.items[number].value for number in self.guard.inputs]

    def _tensors(self) -> list[Any]:
        """All tensors that the call can reach, and the tensors that they are views of."""
        found = {id(item.value): item.value for item in self.before.tensors()}
        for tensor in [*found.values()]:
            base = tensor._meta.base if tensor._meta is not None else None
            if base is not None:
                found.setdefault(id(base), base)
        return [*found.values()]

    def _describe(self, result: Any) -> None:
        """Make the recipe, unless something stands against it."""
        tape = self.tape
        changed = changes(self.before, walk(self.function, self.args, self.kwargs))
        if changed.unrepeatable:
            return tape.give_up(changed.unrepeatable[0])
        if tape.missed():
            return tape.give_up("the program uses a tensor that the search did not find")
        leaves, tree = pytree.tree_flatten(result)
        known = {id(item.value): item for item in self.before.tensors()}
        left = [tensor for effect in changed.effects if effect.whole is not None for tensor in effect.whole.tensors()]
        new = {id(t): t for t in [*leaves, *left] if isinstance(t, TensorBase) and id(t) not in known}
        self.made = made = [*new.values()]
        if any(type(tensor._array) is not Traced for tensor in made):
            return tape.give_up("the program returns a tensor that was not computed by operators")
        self.guard = guards.make(self.before, changed.replaced, self._unread([*leaves, *left]))
        recipe = self._recipe(made)
        if recipe is None:
            return None
        places = {key: place for place, key in enumerate(new)}
        recipe.leaves = [self._leaf(leaf, places, known) for leaf in leaves]
        recipe.tree = None if len(leaves) == 1 and leaves[0] is result else tree
        recipe.effects = [self._effect(effect, places, known) for effect in changed.effects]
        self.recipe = recipe
        return None

    def _unread(self, kept: list[Any]) -> set[int]:
        """The numbers of gradients that the call has neither read nor kept. Whoever holds one keeps its memory."""
        read = {number for line in self.tape.lines for number in line.reads}
        held = {id(tensor) for tensor in kept}
        return {item.number for item in self.before.tensors() if item.role == "grad" and id(item.value) not in held
                and self.tape.outside(item.array).number not in read}

    def _recipe(self, made: list[Any]) -> Recipe | None:
        """The plan for the new tensors, and for their gradients."""
        tape, forward = self.tape, len(self.tape.lines)
        outputs = [tensor._array.number for tensor in made]
        recorded = [place for place, tensor in enumerate(made) if tensor._edge is not None]
        given = self._given()
        back = self._backward([made[place] for place in recorded]) if recorded else None
        if tape.reason is not None:
            return None
        lines = tape.lines[:forward]
        saved = [] if back is None else back[1]
        program = Program(tape.values, lines, tape.inputs, [*outputs, *saved])
        plan = planned(program, [*given], self.native)
        self.plans = [plan]
        recipe = Recipe([given[number] for number in plan.given], plan)
        recipe.site = self.site
        self._note_writes(recipe, plan)
        if recorded:
            recipe.backward = self._outside(recorded, len(outputs), back)
        return recipe

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

    def _leaf(self, leaf: Any, places: dict[int, int], known: dict[int, Any]) -> Callable[..., Any]:
        """How a repetition makes a part of the result, from the new tensors and from those that the guard returns."""
        if id(leaf) in places:
            place = places[id(leaf)]
            return lambda tensors, inputs: tensors[place]
        if id(leaf) in known:
            reach = self._reach(known[id(leaf)])
            return lambda tensors, inputs: reach(inputs)
        return lambda tensors, inputs: leaf

    def _effect(self, effect: Any, places: dict[int, int], known: dict[int, Any]) -> Callable[..., Any]:
        """How a repetition leaves a new value in a place."""
        if effect.anchor is not None and not effect.steps and effect.step.kind == "meta" and (
                effect.whole is not None and effect.whole.fresh and id(effect.whole.value) in places):
            place, leaf, name = places[id(effect.whole.value)], effect.anchor, effect.step.key
            return lambda tensors, inputs, args, kwargs: setattr(leaf._meta, name, tensors[place])     # a gradient
        parts = {} if effect.whole is None else {
            id(tensor): self._leaf(tensor, places, known) for tensor in effect.whole.tensors()}

        def apply(tensors: list[Any], inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            effect.apply(lambda tensor: parts[id(tensor)](tensors, inputs), args, kwargs)

        return apply

    def _note_writes(self, recipe: Recipe, plan: Plan) -> None:
        """Note which memory from outside a run writes, since writes are counted."""
        values = plan.program.values
        written = set[int]().union(*[effects.memory_written(line, values) for line in plan.program.lines])
        for number in plan.program.inputs:
            if values[number].memory in written and values[number].source == "outside":
                if number in plan.given:
                    recipe.written_given.append(plan.given.index(number))
                else:
                    recipe.written.append(values[number].like)

    def _backward(self, tensors: list[Any]) -> Any:
        """Trace the backward pass of new tensors: the cotangents, the saved values, the gradients and their tensors."""
        tape, forward = self.tape, len(self.tape.lines)
        sources = [item for item in self.before.tensors() if item.facts.requires_grad and item.role != "grad"]
        with standing(tape.record):
            cotangents = [plain(tape.outside(np.zeros_like(tensor._array.like))) for tensor in tensors]
            try:
                found = grad(tensors, [item.value for item in sources], cotangents, allow_unused=True, retain_graph=True)
            except RuntimeError as error:
                if "second time" not in str(error):
                    raise
                return None, [], sources
        if tape.reason is not None:
            return None
        reached = [(item, g) for item, g in zip(sources, found) if g is not None]
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

    def _outside(self, recorded: list[int], count: int, back: Any) -> Backward:
        """What a run needs so that its results can be differentiated."""
        traced, saved, items = back
        leaves = [self._reach(item) for item in items]
        if traced is None:
            return Backward(None, recorded, [], leaves, [])
        program, asked = traced
        values = [value for value in program.values]
        plan = planned(program._replace(values=values), [*saved, *asked], self.native)
        self.plans.append(plan)
        keep = [saved.index(number) for number in plan.given if number in saved]
        cotangents = [(asked.index(number), values[number].like) for number in plan.given if number in asked]

        def run(*arrays: Array) -> tuple[Array, ...]:
            parts, given = arrays[:len(keep)], arrays[len(keep):]
            found: tuple[Array, ...] = plan.code.run(*parts, *[_laid_as(like, given[i]) for i, like in cotangents])
            return found

        watched = [value.like for value in values if value.source == "outside" and value.number not in plan.given
                   and any(value.number in line.reads for line in plan.program.lines)]
        return Backward(run, recorded, [count + i for i in keep], leaves, watched)


def _laid_as(like: Array, array: Array) -> Array:
    """The array with the strides of `like`, on which a plan relies. A cotangent may have others."""
    if array.strides == like.strides:
        return array
    out = np.empty_like(like)
    out[...] = array
    return out
