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
from ..tensors.state.base import plain
from ..utils import _pytree as pytree
from .outside import CompiledFunctionBackward

Array = np.ndarray[Any, Any]


class Backward:
    """The backward pass of the results: how to run it, and what it needs.

    `run` takes the saved arrays and the cotangents of the results `outputs`, which are positions among the outputs of
    the forward plan. `saved` are positions, too. `leaves` gives the edges of the tensors that the gradients are of.
    """

    def __init__(self, run: Callable[..., Any] | None, outputs: list[int], saved: list[int],
                 edges: Callable[..., tuple[Any, ...]], watched: Sequence[Array]) -> None:
        self.run, self.outputs, self.saved, self.edges, self.watched = run, outputs, saved, edges, watched


class Recipe:
    """A call that can be repeated.

    `collect` gives the arrays of the arguments of a call, `run` computes with them. `tree` and `leaves` describe what the
    call returned: a leaf is a position among the outputs, a function of the call's arguments, or an object as it is.
    """

    def __init__(self, collect: Callable[..., tuple[Array, ...]], run: Callable[..., tuple[Array, ...]]) -> None:
        self.collect, self.run = collect, run
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

    def repeat(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do what the traced call did, with other numbers. Returns what the call would return."""
        given = self.collect(function, args, kwargs)
        written = [*self.written, *[given[i] for i in self.written_given]]
        for array in written:
            versions.writing(array)
        arrays = self.quiet.run(self.run, *given)
        for array in written:
            versions.written(array, self.site)
        tensors = [plain(array) for array in arrays]
        if self.backward is not None:
            self._record(tensors, arrays, function, args, kwargs)
        for effect in self.effects:
            effect(tensors, args, kwargs)
        leaves = [leaf(tensors, function, args, kwargs) for leaf in self.leaves]
        return leaves[0] if self.tree is None else pytree.tree_unflatten(leaves, self.tree)

    def _record(self, tensors: list[Any], arrays: Sequence[Array], function: Any, args: Any, kwargs: Any) -> None:
        """Give the results their node."""
        backward = self.backward
        assert backward is not None
        edges = backward.edges(function, args, kwargs)
        node = CompiledFunctionBackward(edges, [arrays[i] for i in backward.outputs], backward.run,
                                        [arrays[i] for i in backward.saved], backward.watched)
        for index, position in enumerate(backward.outputs):
            tensors[position]._edge = Output(node, index)
