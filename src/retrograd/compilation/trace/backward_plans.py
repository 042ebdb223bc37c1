"""The backward pass of the results of a traced call: its trace, and the plan that a program runs outside of the call.

The program runs this pass later, if at all, so the compiler runs it once to trace it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...autograd.backward import grad
from ...foundations.dtypes import Array
from ...kernels.layout import steps
from ...tensors.arguments.generator import get_rng_state, set_rng_state
from ...tensors.state.base import plain
from ..passes import effects
from ..program.interrupts import interrupts
from ..program.lines import Program
from ..program.sizes import Uses
from ..program.stand_ins import let_go
from ..program.undoing import Undo
from ..reach.items import Item
from ..repeat.outside import Backward
from ..repeat.partial_passes import PartialPasses
from ..repeat.second_passes import SecondPasses
from .below_levels import stand
from .graph_copies import graph_of, second_passes
from .known_tensors import KnownTensors
from .reasons import GivenUp
from .recording import Recording
from .result_groups import cut, frees, grouped, lead_through_views
from .results import SPECIAL, leaves_reached
from .traced import Traced


class _Spent(Exception):
    """The graph of a backward pass is freed already."""


class TracedBackward(NamedTuple):
    """A traced backward pass. Its program computes gradients from saved values and from the cotangents `asked`.

    `outputs` are the values of the results of the call, `recorded` the places of results that need gradients, and
    `leaves` find the tensors that the gradients are of. `second` computes gradients of gradients, if that is possible.
    `before` are the places of results that these are computed from. `first` is the place of `saved` among the outputs
    of the call's plan. `frees` says whether a pass frees something.
    """

    program: Program
    asked: list[int]
    saved: list[int]
    recorded: list[int]
    outputs: list[int]
    leaves: list[Callable[[list[Any]], Any]]
    before: list[int]
    first: int
    frees: bool
    second: SecondPasses | None = None

    @property
    def given(self) -> tuple[int, ...]:
        """The values that each run is given."""
        return *self.saved, *self.asked

    def planned(self, plan: Any, run: Callable[..., Any], native: bool, whole: Callable[[], Program],
                sized: bool = False) -> Backward:
        """The backward pass of each repetition. `run` runs the plan, without warnings, for arrays in the order of
        `plan.given`. `whole` gives the program, which is `sized` if it is for other sizes than those of the trace.
        """
        values, saved = self.program.values, self.saved
        places = [saved.index(number) for number in plan.given if number in saved]
        cotangents = [self.asked.index(number) for number in plan.given if number in self.asked]

        def backward(*arrays: Array) -> tuple[Array, ...]:
            parts, given = arrays[:len(places)], arrays[len(places):]
            found: tuple[Array, ...] = run(*parts, *[given[i] for i in cotangents])
            return found

        seen, first = {values[number].memory for number in self.outputs}, self.first
        watched = [first + i for i in places
                   if values[saved[i]].memory in seen or values[values[saved[i]].memory].source == "outside"]
        read = {number for line in plan.program.lines for number in line.reads} - {*plan.given}
        fixed = [value.like for value in values if value.source == "outside" and value.number in read]
        layouts = [steps(values[number].like) for number in self.asked]
        every = {*range(len(self.asked))}                  # for a gradient of zeros, which is there all the same
        depends = [sources or every for sources in effects.sources_of(self.program, self.asked)]
        partial = None if len(self.asked) < 2 or any(map(effects.draws, self.program.lines)) else PartialPasses(
            whole, [saved[i] for i in places], self.asked, native, sized)
        return Backward(self.recorded, backward, [first + i for i in places], watched, self.leaves, fixed, depends,
                        layouts, self.before, self.frees, self.second, partial)

    def kept(self) -> Callable[[], Program]:
        """What gives the program. It holds no memory of the traced run, except arrays that are the same in each run."""
        values, read = [value.copied() for value in self.program.values], {*self.program.outputs}
        read |= {number for line in self.program.lines for number in line.reads}
        let_go(values, {number for number in read - {*self.given} if values[number].source != "line"})
        program = self.program._replace(values=values)
        return lambda: program


class Rehearsal:
    """The backward pass of the results of a call, run by the compiler alone.

    `outputs` are the values of the results. After `trace`, `spent` are the places of those whose graph is freed, and
    `spent_leaves` find the tensors that these graphs lead to.
    """

    def __init__(self, recording: Recording, known: KnownTensors, outputs: list[int]) -> None:
        self.recording, self.tape, self.known, self.outputs = recording, recording.tape, known, outputs
        self.spent: list[int] = []
        self.spent_leaves: list[Callable[[list[Any]], Any]] = []
        self.forward = self.kept = 0                       # the lines of the call, and the saved values so far
        self.wanted = [item for item in known.before.tensors() if item.facts.requires_grad and item.role != "grad"]

    def trace(self, made: list[Any], views: list[Any]) -> list[TracedBackward]:
        """The backward passes of new tensors, each after the passes that it leads to; none if the tape was given up.
        `views` are new tensors that have no passes of their own.
        """
        undo = Undo()
        with undo, undo:
            _set_aside_retained(made, undo)
            if lead_through_views([*made, *views], views):
                self.tape.give_up("a result is computed from a view that is another result")
                return []
            return self._passes(made)

    def _passes(self, made: list[Any]) -> list[TracedBackward]:
        recorded = [place for place, tensor in enumerate(made)
                    if tensor._edge is not None and tensor._edge.node is not None]
        if not recorded:
            return []
        leaves, special = leaves_reached([made[place]._edge for place in recorded])
        found = {id(item.value) for item in self.wanted}
        if special or any([id(leaf) not in found for leaf in leaves]):
            self.tape.give_up(special or SPECIAL)
            return []
        undo, before, passes = Undo(), list[int](), list[TracedBackward]()
        self.forward = len(self.tape.lines)
        with undo, undo:
            undo.note(partial(set_rng_state, get_rng_state()))           # a custom Function may draw
            self.recording.borders.close(leaves, undo)
            for group in grouped(made, recorded):
                passes += self._of_group(made, group, before)
                before += group
        return passes if self.tape.reason is None else []

    def _of_group(self, made: list[Any], group: list[int], before: list[int]) -> list[TracedBackward]:
        """The backward pass of results that are not computed from each other, but perhaps from those `before`."""
        undo = Undo()
        with undo, undo:
            if before:
                cut(self.tape, made, group, before, undo)
            if self.tape.reason is not None:
                return []
            try:
                found = self._of(made, group, before)
            except _Spent:
                spent = [place for place in group if self._is_spent(made, place, before)]
                self._note_spent(made, spent)
                left = [place for place in group if place not in spent]
                found = self._of(made, left, before) if left else None
        if found is None:
            return []
        self.kept += len(found.saved)
        return [found]

    def _note_spent(self, made: list[Any], spent: list[int]) -> None:
        """Note results whose graph is freed. A pass through it fails, but only after other paths to its leaves wait."""
        items = {id(item.value): item for item in self.wanted}
        leaves, _ = leaves_reached([made[place]._edge for place in spent])
        self.spent_leaves += [self.known.finder(items[id(leaf)]) for leaf in leaves if id(leaf) in items]
        self.spent += spent

    def _is_spent(self, made: list[Any], place: int, before: list[int]) -> bool:
        try:
            self._of(made, [place], before)
        except _Spent:
            return True
        return False

    def _of(self, made: list[Any], recorded: list[int], before: list[int]) -> TracedBackward | None:
        """Trace one backward pass, of the tensors at some places. Raises `_Spent` if their graph is freed already."""
        tape, forward, given = self.tape, len(self.tape.lines), self.known.given
        zeros: list[Any] = [tape.outside(np.zeros_like(made[place]._array.like)) for place in recorded]
        cotangents = [plain(array) for array in zeros]
        found = self._gradients([made[place] for place in recorded], cotangents, [made[place] for place in before])
        if tape.reason is not None:
            return None
        reached: list[tuple[Item, Any]] = [(item, g) for item, g in zip(self.wanted, found) if g is not None]
        results = [(place, g) for place, g in zip(before, found[len(self.wanted):], strict=True) if g is not None]
        every = [g for _, g in (*reached, *results)]
        if not all([type(g._array) is Traced for g in every]):
            tape.give_up("a gradient of the results belongs to a transform that is over")
            return None
        lines = tape.lines[forward:]
        made_here = {number for line in lines for number in line.results}
        asked, gradients = [c._array.number for c in cotangents], [g._array.number for g in every]
        saved = [*dict.fromkeys(number for number in [*[n for line in lines for n in line.reads], *gradients]
                                if number not in made_here and number not in asked
                                and (tape.values[number].source == "line" or number in given))]
        program = Program(tape.values, lines, tape.inputs, gradients)
        return TracedBackward(program, asked, saved, recorded, self.outputs,
                              [self.known.finder(item) for item, _ in reached], [place for place, _ in results],
                              len(self.outputs) + self.kept, frees([made[place]._edge for place in recorded]),
                              self._second(made, recorded, reached, results))

    def _second(self, made: list[Any], recorded: list[int], reached: list[tuple[Item, Any]],
                results: list[tuple[int, Any]]) -> SecondPasses | None:
        """What computes gradients of gradients, if that is possible."""
        ends = [*[item.value for item, _ in reached], *[made[place] for place, _ in results]]
        graph = graph_of([made[place]._edge for place in recorded], {id(end): place for place, end in enumerate(ends)})
        if graph is None:
            return None
        numbers = self.recording.numbers.operands.memory
        return second_passes(self.tape, self.tape.lines[:self.forward], graph, self.known, numbers)

    def _gradients(self, tensors: list[Any], cotangents: list[Any], before: list[Any]) -> Any:
        """Run the pass, to the tensors that existed before the call and to results `before` these."""
        undo = Undo()
        try:
            with undo, undo:
                stand(self.recording.below, undo)
                undo.put(Uses, "current", self.recording.uses)
                undo.put(self.tape, "rehearses", True)
                return grad(tensors, [*[item.value for item in self.wanted], *before], cotangents, allow_unused=True,
                            retain_graph=True)
        except GivenUp:
            raise
        except Exception as error:                         # which the program raises where it runs the pass
            if interrupts(error):
                raise
            if "second time" in str(error):
                raise _Spent from None
            return self.tape.give_up("the backward pass of the results raises an error")


def _set_aside_retained(made: list[Any], undo: Undo) -> None:
    """Have results keep no gradients until the exit of `undo`. Those of each repetition will."""
    for tensor in made:
        key = None if tensor._grad_meta is None else tensor._grad_meta.retained
        if key is not None and tensor._edge is not None and tensor._edge.node is not None:
            kept = tensor._edge.node.hooks.retain
            undo.note(partial(kept.__setitem__, key, kept[key]))
            del kept[key]
