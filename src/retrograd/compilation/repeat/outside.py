"""The backward pass of a compiled function whose results need gradients, when a program asks for them outside.

The results of each run have one node, as in PyTorch. The node keeps what the traced backward pass needs, and runs the
plan of this pass. So a graph of many nodes becomes one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...foundations.modes import local, tape
from ...graph import versions
from ...graph.faults import modified, origin, second_pass
from ...graph.hooks import USER_HOOKS, Hooks
from ...graph.node import RELEASED, OtherNode, Output
from ...kernels.layout import empty_strided, steps
from ...tensors.state.base import plain
from .partial_passes import PartialPasses
from .second_passes import SecondPasses


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


class Backward(NamedTuple):
    """The backward pass of the results: how to run it, and what it needs.

    `outputs` are positions of the results among the outputs of the forward plan. `run` takes the saved arrays and the
    cotangents of these results, and computes the gradients. It is None if the traced program had already freed the
    graph of its results. `saved` are positions, too, and `watched` are those of them that the program may write to.
    `leaves` find the tensors that the gradients are of. `fixed` are further arrays that the pass reads. `depends` says
    on which cotangents each gradient depends, and `layouts` how each cotangent lies. `before` are the positions of
    results that these results are computed from: their gradients come last. `frees` says whether a pass frees what
    it needs. `second` computes gradients of gradients, if that is possible, and `partial` gradients by some results
    alone.
    """

    outputs: list[int]
    run: Callable[..., Any] | None = None
    saved: Sequence[int] = ()
    watched: Sequence[int] = ()
    leaves: Sequence[Callable[[list[Any]], Any]] = ()
    fixed: Sequence[Array] = ()
    depends: Sequence[set[int]] = ()
    layouts: Sequence[Any] = ()
    before: Sequence[int] = ()
    frees: bool = True
    second: SecondPasses | None = None
    partial: PartialPasses | None = None


class CompiledFunctionBackward(OtherNode):
    """The node of a compiled function, for the outputs `arrays` of a run of its plan. `inputs` are the tensors that the
    guard has found. The node keeps none of the `leaves` alive.
    """

    __slots__ = ("depends", "frees", "layouts", "outputs", "partial", "read", "run", "second")
    hooks_kind = ResultHooks

    def __init__(self, edges: tuple[Any, ...], backward: Backward, arrays: Sequence[Array], inputs: list[Any]) -> None:
        outputs, second = [arrays[i] for i in backward.outputs], backward.second
        super().__init__(edges, [array.shape for array in outputs], [array.dtype for array in outputs])
        self.outputs, self.run, self.depends = len(outputs), backward.run, backward.depends
        self.layouts, self.frees, self.partial = backward.layouts, backward.frees, backward.partial
        self.saved = RELEASED if backward.run is None else [arrays[i] for i in backward.saved]
        self.second = None if second is None else second.of_call(inputs)
        self.read = [*[arrays[i] for i in backward.watched], *backward.fixed]

    def edge_to(self, index: int) -> Output:
        """The edge to one of the results."""
        return Output(self, index)

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """The gradients along the edges. Raises RuntimeError if the pass cannot run."""
        if self.saved is RELEASED:
            raise second_pass(self)
        if walk.grad or local.thread.transform is not None:
            return self._recorded(cotangents, walk)
        for array in self.read:
            if versions.written_since(array, self.number):
                raise modified(self, array, origin(self, array, None))
        recorder = walk.recorder
        if recorder is not None:                         # the graph may cross a level; the plan computes with arrays
            cotangents = [None if g is None else recorder.array(g) for g in cotangents]
        given = [_laid_out(g, *of) for g, *of in zip(cotangents, self.shape, self.dtype, self.layouts, strict=True)]
        there = {place for place, g in enumerate(cotangents) if g is not None}
        arrays = [*self.saved, *given]
        if self.frees and not walk.keep:
            self.saved, self.second = RELEASED, None
        assert self.run is not None
        found = _lent(self.run(*arrays), arrays)
        gradients = [g if on & there else None for g, on in zip(found, self.depends, strict=True)]
        if len(there) < len(given) and self.partial is not None and any(map(_is_nan, gradients)):
            # Perhaps of the zeros that stand for absent cotangents, since zero times infinity is NaN.
            gradients = self.partial.gradients(frozenset(there), arrays, len(gradients))
        return gradients if recorder is None else [None if g is None else plain(g) for g in gradients]

    def _recorded(self, cotangents: list[Any], walk: Any) -> list[Any]:
        """The gradients in a pass that is recorded, or that a transform runs."""
        second, outer = self.second, tape()
        if outer is not None:
            outer.give_up("the program differentiates what a compiled function has computed before")
        if second is None:
            raise noted(
                RuntimeError("torch.compile with aot_autograd does not currently support double backward"),
                because="the function has a custom Function, random numbers, a write to a view, or writes to what it "
                        "reads",
                instead="call the function itself, without torch.compile, or compile the whole function that takes the "
                        "gradients")
        stale = second.stale(self.number)
        if stale is not None:
            raise modified(self, stale, origin(self, stale, None))
        if self.frees and not walk.keep:
            self.saved, self.second = RELEASED, None
        return second.gradients(self, cotangents, walk)


def _lent(found: Sequence[Array], given: Sequence[Array]) -> list[Array]:
    """The gradients that a plan has made, without a further holder: a view is in the place of each array that the plan
    keeps, which has its elements in other memory. So the engine finds what holds the gradients besides the plan.
    """
    same = {id(array) for array in given}
    views = {id(g): g if g.base is None or id(g) in same else g[...] for g in found}
    return [views[id(g)] for g in found]


def _is_nan(g: Array | None) -> bool:
    """Whether one of the numbers of a gradient is NaN."""
    return g is not None and g.size > 0 and bool(np.isnan(g.min() if g.dtype.kind == "f" else g).any())


def _laid_out(g: Array, shape: tuple[int, ...], dtype: np.dtype[Any], layout: tuple[int, ...]) -> Array:
    """A cotangent in the layout that the plan was made for; zeros for None."""
    if g is not None and np.shape(g) and steps(g) == layout:
        return np.asarray(g)
    memory = empty_strided(shape, layout, dtype)
    memory[...] = 0 if g is None else g
    return memory
