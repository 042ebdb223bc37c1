"""The backward pass of a compiled function whose results need gradients, when a program asks for them outside.

The results of each run have one node, as in PyTorch. The node keeps what the traced backward pass needs, and runs the
plan of this pass. So a graph of many nodes becomes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.modes import local
from ...graph import versions
from ...graph.faults import second_pass, type_text
from ...graph.node import RELEASED, OtherNode, Output
from ...kernels.layout import empty_strided, steps
from ...tensors.state.base import plain

Array = np.ndarray[Any, Any]


class CompiledFunctionBackward(OtherNode):
    """The node of a compiled function. `run` computes the gradients of `edges` from the saved arrays and cotangents.

    `run` is None if the traced program had already freed the graph of its results. `watched` are the arrays that the
    pass reads and that the program may write to.
    """

    __slots__ = ("depends", "layouts", "outputs", "run", "seen")

    def __init__(self, edges: tuple[Any, ...], outputs: Sequence[Array], run: Any, saved: Sequence[Array],
                 watched: Sequence[Array], depends: Sequence[set[int]], layouts: Sequence[Any]) -> None:
        super().__init__(edges, [array.shape for array in outputs], [array.dtype for array in outputs])
        self.outputs, self.run, self.saved = len(outputs), run, RELEASED if run is None else saved
        self.depends, self.layouts = depends, layouts
        self.seen = [(array, versions.count(array)) for array in watched]

    def edge_to(self, index: int) -> Output:
        """The edge to one of the results."""
        return Output(self, index)

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """The gradients along the edges. Raises RuntimeError if the pass cannot run."""
        if self.saved is RELEASED:
            raise second_pass(self)
        if walk.grad or local.thread.transform is not None:
            raise RuntimeError("torch.compile with aot_autograd does not currently support double backward. For "
                               "gradients of gradients, call the function itself, without torch.compile, or compile "
                               "the whole function that takes the gradients.")
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
        if not walk.keep:
            self.saved = RELEASED
        found = self.run(*saved, *given)
        gradients = [g if on & there else None for g, on in zip(found, self.depends, strict=True)]
        return gradients if recorder is None else [None if g is None else plain(g) for g in gradients]


def _laid_out(g: Any, shape: tuple[int, ...], dtype: Any, layout: tuple[int, ...]) -> Array:
    """A cotangent in the layout that the plan was made for; zeros for None."""
    if g is not None and np.shape(g) and steps(g) == layout:
        return np.asarray(g)
    memory = empty_strided(shape, layout, dtype)
    memory[...] = 0 if g is None else g
    return memory
