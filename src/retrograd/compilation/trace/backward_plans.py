"""The backward pass of the results of a traced call, as a plan that a program runs outside of the call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...kernels.layout import steps
from ..passes import effects
from ..program.lines import Program
from ..repeat.recipe import Backward, quiet

Array = np.ndarray[Any, Any]


class TracedBackward(NamedTuple):
    """A traced backward pass. Its program computes gradients from saved values and from the cotangents `asked`.

    `outputs` are the values of the results of the call, `recorded` the places of those that need gradients, and
    `leaves` find the tensors that the gradients are of.
    """

    program: Program
    asked: list[int]
    saved: list[int]
    recorded: list[int]
    outputs: list[int]
    leaves: list[Callable[[list[Any]], Any]]

    @property
    def given(self) -> tuple[int, ...]:
        """The values that each run is given."""
        return *self.saved, *self.asked

    def planned(self, plan: Any, run: Callable[..., Any]) -> Backward:
        """The backward pass of each repetition. `run` runs the plan for arrays in the order of `plan.given`."""
        values, saved = self.program.values, self.saved
        places = [saved.index(number) for number in plan.given if number in saved]
        cotangents = [self.asked.index(number) for number in plan.given if number in self.asked]
        lock, context = threading.Lock(), quiet()

        def backward(*arrays: Array) -> tuple[Array, ...]:
            parts, given = arrays[:len(places)], arrays[len(places):]
            with lock:
                found: tuple[Array, ...] = context.run(run, *parts, *[given[i] for i in cotangents])
            return found

        seen = {values[number].memory for number in self.outputs}
        first = len(self.outputs)
        watched = [first + i for i in places
                   if values[saved[i]].memory in seen or values[values[saved[i]].memory].source == "outside"]
        read = {number for line in plan.program.lines for number in line.reads} - {*plan.given}
        fixed = [value.like for value in values if value.source == "outside" and value.number in read]
        layouts = [steps(values[number].like) for number in self.asked]
        every = {*range(len(self.asked))}                  # for a gradient of zeros, which is there all the same
        depends = [sources or every for sources in effects.sources_of(self.program, self.asked)]
        return Backward(backward, self.recorded, [first + i for i in places], self.leaves, watched, fixed, depends,
                        layouts)
