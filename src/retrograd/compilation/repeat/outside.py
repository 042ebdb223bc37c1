"""The backward pass of a compiled function whose results need gradients, when a program asks for them outside.

The results of each run have one node, as in PyTorch. The node keeps what the traced backward pass needs, and runs the
plan of this pass. So a graph of many nodes becomes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.modes import local, tape
from ...graph import versions
from ...graph.faults import second_pass, type_text
from ...graph.hooks import USER_HOOKS, Hooks
from ...graph.node import RELEASED, OtherNode, Output
from ...kernels.layout import empty_strided, steps
from ...tensors.state.base import plain
from .second_passes import SecondPass


class ResultHooks(Hooks):
    """The hooks on results that have one node, in the order of the results. A hook on a result without a gradient is
    not called.
    """

    __slots__ = ()

    def arrived(self, shown: list[Any]) -> None:
        tensor, retain = [*self.tensor], [*self.retain.values()]
        for place in [place for place, g in enumerate(shown) if g is not None]:
            for hooks in [hooks for position, hooks in tensor if position == place]:
                shown[place] = USER_HOOKS.call(hooks, shown[place])
            for keep in [keep for position, keep in retain if position == place]:
                keep(shown[place])


class CompiledFunctionBackward(OtherNode):
    """The node of a compiled function. `run` computes the gradients of `edges` from the saved arrays and cotangents.

    `run` is None if the traced program had already freed the graph of its results. `watched` are the arrays that the
    pass reads and that the program may write to. `frees` says whether a pass frees what it needs. `second` runs
    recorded passes, if that is possible.
    """

    __slots__ = ("depends", "frees", "layouts", "outputs", "run", "second", "seen")
    hooks_kind = ResultHooks

    def __init__(self, edges: tuple[Any, ...], outputs: Sequence[Array], run: Any, saved: Sequence[Array],
                 watched: Sequence[Array], depends: Sequence[set[int]], layouts: Sequence[Any],
                 frees: bool = True, second: SecondPass | None = None) -> None:
        super().__init__(edges, [array.shape for array in outputs], [array.dtype for array in outputs])
        self.outputs, self.run, self.saved = len(outputs), run, RELEASED if run is None else saved
        self.depends, self.layouts, self.frees, self.second = depends, layouts, frees, second
        self.seen = [(array, versions.count(array)) for array in watched]

    def edge_to(self, index: int) -> Output:
        """The edge to one of the results."""
        return Output(self, index)

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """The gradients along the edges. Raises RuntimeError if the pass cannot run."""
        if self.saved is RELEASED:
            raise second_pass(self)
        if walk.grad or local.thread.transform is not None:
            return self._recorded(cotangents, walk)
        for array, count in self.seen:
            if versions.count(array) != count:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[{type_text(array)} {list(array.shape)}], which a compiled function reads, is at version "
                    f"{versions.count(array)}; expected version {count} instead. Write to a clone, or use the "
                    "operation that returns a new tensor.")
        recorder = walk.recorder
        if recorder is not None:                         # the graph may cross a level; the plan computes with arrays
            cotangents = [None if g is None else recorder.array(g) for g in cotangents]
        given = [_laid_out(g, *of) for g, *of in zip(cotangents, self.shape, self.dtype, self.layouts, strict=True)]
        there = {place for place, g in enumerate(cotangents) if g is not None}
        saved = self.saved
        if self.frees and not walk.keep:
            self.saved, self.second = RELEASED, None
        found = self.run(*saved, *given)
        gradients = [g if on & there else None for g, on in zip(found, self.depends, strict=True)]
        return gradients if recorder is None else [None if g is None else plain(g) for g in gradients]

    def _recorded(self, cotangents: list[Any], walk: Any) -> list[Any]:
        """The gradients in a pass that is recorded, or that a transform runs."""
        second, outer = self.second, tape()
        if outer is not None:
            outer.give_up("the program differentiates what a compiled function has computed before")
        if second is None:
            raise RuntimeError("torch.compile with aot_autograd does not currently support double backward. This one "
                               "has a custom Function, random numbers, a write to a view, or writes to what it "
                               "reads. For gradients of gradients, call the function itself, without torch.compile, "
                               "or compile the whole function that takes the gradients.")
        if second.is_stale(self.number):
            raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                               "operation: a compiled function reads it again for gradients of gradients. Write to a "
                               "clone, or use the operation that returns a new tensor.")
        if self.frees and not walk.keep:
            self.saved, self.second = RELEASED, None
        return second.gradients(self, cotangents, walk)


def _laid_out(g: Array, shape: tuple[int, ...], dtype: np.dtype[Any], layout: tuple[int, ...]) -> Array:
    """A cotangent in the layout that the plan was made for; zeros for None."""
    if g is not None and np.shape(g) and steps(g) == layout:
        return np.asarray(g)
    memory = empty_strided(shape, layout, dtype)
    memory[...] = 0 if g is None else g
    return memory
