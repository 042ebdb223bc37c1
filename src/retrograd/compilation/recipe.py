"""A traced call that can be repeated: where its arrays come from, its plan, and what it leaves behind.

A repetition reads the arrays of the arguments, runs the plan, and then does what the traced call did to the world: it
returns the same structure with new tensors, and puts new tensors in the places where the call left tensors.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import versions
from ..graph.node import Output
from ..tensors.state.base import edge_of, plain
from ..utils import _pytree as pytree
from .leases import all_free
from .outside import CompiledFunctionBackward
from .plan import Plan, without_leases

Array = np.ndarray[Any, Any]


class Backward:
    """The backward pass of the results: how to run it, and what it needs.

    `run` takes the saved arrays and the cotangents of the results `outputs`, which are positions among the outputs of
    the forward plan. `saved` are positions, too. `leaves` find the tensors that the gradients are of.
    """

    def __init__(self, run: Callable[..., Any] | None, outputs: list[int], saved: list[int],
                 leaves: list[Callable[[list[Any]], Any]], watched: Sequence[Array]) -> None:
        self.run, self.outputs, self.saved, self.leaves, self.watched = run, outputs, saved, leaves, watched


class Recipe:
    """A call that can be repeated.

    The guard finds the tensors that may be others in each call; `given` are the places of those whose arrays `run`
    takes. `tree` and `leaves` describe what the call returned: each leaf is made of the new tensors and of those that
    the guard found.
    """

    def __init__(self, given: list[int], plan: Plan) -> None:
        self.given, self.plan = given, plan
        self.run, self.leases = plan.code.run, plan.code.leases
        self.lock = threading.Lock()
        self.tree: Any = None
        self.leaves: list[Any] = []
        self.effects: list[Any] = []
        self.written: list[Array] = []                     # captured memory that the plan writes
        self.written_given: list[int] = []                 # and the positions of such arguments
        self.backward: Backward | None = None
        self.quiet = contextvars.Context()                 # one of its own, since kernels enter that of the thread
        self.quiet.run(np.seterr, all="ignore")
        self.site: Any = None

    def repeat(self, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do what the traced call did, with other numbers. Returns what the call would return."""
        if self.leases and not all_free(self.leases.values()):
            self.plan = without_leases(self.plan)
            self.run, self.leases = self.plan.code.run, {}
        given = [inputs[place]._array for place in self.given]
        written = [*self.written, *[given[i] for i in self.written_given]]
        for array in written:
            versions.writing(array)
        arrays = self.quiet.run(self.run, *given)
        for array in written:
            versions.written(array, self.site)
        leases = self.leases
        tensors = [leases[place].result() if place in leases else plain(array) for place, array in enumerate(arrays)]
        if self.backward is not None:
            self.record(self.backward, tensors, arrays, inputs)
        for effect in self.effects:
            effect(tensors, inputs, args, kwargs)
        leaves = [leaf(tensors, inputs) for leaf in self.leaves]
        return leaves[0] if self.tree is None else pytree.tree_unflatten(leaves, self.tree)

    def record(self, backward: Backward, tensors: list[Any], arrays: Sequence[Array], inputs: list[Any]) -> None:
        """Give the results their node."""
        edges = tuple([edge_of(leaf(inputs)) for leaf in backward.leaves])
        node = CompiledFunctionBackward(edges, [arrays[i] for i in backward.outputs], backward.run,
                                        [arrays[i] for i in backward.saved], backward.watched)
        for index, position in enumerate(backward.outputs):
            tensors[position]._edge = Output(node, index)
