"""A backward pass under observation: what each node got and gave, in the engine's order, and how long it took.

The engine runs the pass, by the same rules and the same hooks. An `ObservedPass` differs from an ordinary pass in what
is left behind: no gradient is accumulated, nothing is released, and what nodes, hooks and random streams have changed
is put back.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..autograd.function_node import FunctionNode
from ..foundations.modes import local
from ..graph.engine import Pass
from ..graph.hooks import USER_HOOKS
from ..graph.node import AccumulateGrad, Node
from ..kernels.sparse.arrays import SparseLike
from ..nn.modules.module import register_module_forward_pre_hook
from ..tensors.arguments.generator import stream_restored
from ..tensors.recording.gradients import run_backward
from ..tensors.recording.inplace import CopySlices
from .graphs import reachable
from .statistics import Facts, Pictures, elements, norm, statistics

_SHOWN_PER_NODE = 3                                     # pictures: of the gradient, and of two saved values


class Arrival(NamedTuple):
    """A gradient that a node gave to output `output` of the node `to`; `adds` if another was there already.

    `picture` is None if the gradient arrives alone and unchanged, since the picture of `to` then shows the same.
    """

    to: Node
    output: int
    adds: bool
    norm: Any
    shape: tuple[int, ...]
    picture: Facts | None


class Step:
    """One node of a pass: the gradients that arrived at its outputs, what it gave, and how long it computed.

    `gradient` and `picture` show the gradients of all outputs together; they are None if none arrived. Of a gradient
    that is `sparse` they show the stored elements. `bad` are the inputs for which the node made NaN or infinities of
    finite gradients.
    """

    __slots__ = ("arrivals", "bad", "gradient", "node", "picture", "sparse", "time")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.arrivals: list[Arrival] = []
        self.bad: list[int] = []
        self.gradient: Facts | None = None
        self.picture: Facts | None = None
        self.time: float | None = None
        self.sparse = False

    def arrived(self, arrays: Sequence[Any], pictures: Pictures) -> None:
        """Note the gradients of the outputs, with None for an output without a gradient."""
        given = [shown for array in arrays if (shown := elements(array)) is not None]
        self.sparse = any([isinstance(array, SparseLike) for array in arrays])
        if given:
            whole = given[0] if len(given) == 1 else np.concatenate([np.ravel(array) for array in given])
            self.gradient, self.picture = statistics(whole), pictures.of(whole)


class ObservedPass(Pass):
    """A pass that notes what happens, and accumulates nothing. `run` returns nothing; `steps` are in order."""

    def __init__(self, roots: Any, **options: Any) -> None:
        super().__init__(roots, **{**options, "keep": True})
        self.steps: list[Step] = []
        self.alone = _alone(self.order)
        edges = sum([len(node.edges) for node in self.order])
        nodes = len(self.order) + len(self.due)         # the leaves, too
        self.pictures = Pictures(_SHOWN_PER_NODE * nodes + edges - len(self.alone))
        self.met: set[tuple[Any, int]] = set()          # the outputs that have got a gradient

    def run(self) -> dict[Any, Any]:
        for leaf in [leaf for leaf, due in self.due.items() if not due]:
            self._arrive(leaf)
        for node in self.order:
            self.steps.append(Step(node))
            self._full_step(node, self.buffers.pop(node, None))
            self._delivered(node.edges)
        self.notes.clear()                              # no callback is called, since nothing was accumulated
        return {}

    def _array(self, value: Any) -> Any:
        return value if value is None or self.recorder is None else self.recorder.array(value)

    def _full_step(self, node: Node, cotangent: Any) -> None:
        hooks = node.hooks
        if hooks is None or not hooks.retain:
            super()._full_step(node, cotangent)
            return
        retain, hooks.retain = hooks.retain, {}         # these hooks keep gradients in `.grad`
        try:
            super()._full_step(node, cotangent)
        finally:
            hooks.retain = retain

    def _capture(self, node: Any, cotangents: list[Any]) -> None:
        self.steps[-1].arrived([self._array(g) for g in cotangents], self.pictures)

    def _results(self, node: Node, cotangents: list[Any]) -> Sequence[Any]:
        step = self.steps[-1]
        step.arrived([self._array(g) for g in cotangents], self.pictures)
        began = perf_counter()
        results = super()._results(node, cotangents)
        step.time = perf_counter() - began
        return results

    def _hand_on(self, node: Node, cotangents: list[Any], results: Sequence[Any]) -> None:
        step = self.steps[-1]
        sound = step.gradient is not None and not step.gradient["nans"] and not step.gradient["infs"]
        for place, (edge, result) in enumerate(zip(node.edges, results, strict=True)):
            if edge is not None and result is not None and edge.node is not None:
                array = self._array(result)
                size = norm(array)
                to = edge.node, edge.index
                picture = None if to in self.alone else self.pictures.of(array)
                step.arrivals.append(Arrival(*to, to in self.met, size, tuple(array.shape), picture))
                self.met.add(to)
                if sound and type(size) is str:
                    step.bad.append(place)
        super()._hand_on(node, cotangents, results)

    def _arrive(self, leaf: AccumulateGrad) -> None:
        """Note the gradient of a leaf, as its hooks leave it."""
        cotangent = self.buffers.pop(leaf, None)
        if self.wanted is not None and leaf not in self.wanted:
            return
        local.thread.grad = self.grad
        on_tensor = leaf.variable._backward_hooks
        if on_tensor:
            (cotangent,) = self._called(lambda shown: [USER_HOOKS.call(on_tensor, shown[0])], cotangent)
        if leaf.hooks is not None and leaf.hooks.pre:
            (cotangent,) = self._called(leaf.hooks.before, cotangent)
        self.steps.append(step := Step(leaf))
        step.arrived([self._array(cotangent)], self.pictures)


def _alone(order: Sequence[Any]) -> set[tuple[Any, int]]:
    """The outputs at which one gradient arrives at most, if the node has no other output and no hooks."""
    count: dict[tuple[Any, int], int] = {}
    for node in order:
        for edge in node.edges:
            if edge is not None and edge.node is not None:
                to = edge.node, edge.index
                count[to] = count.get(to, 0) + 1
    return {to for to, times in count.items() if times == 1 and to[0].outputs == 1 and not _has_hooks(to[0])}


def _has_hooks(node: Node) -> bool:
    return node.hooks is not None or (isinstance(node, AccumulateGrad) and bool(node.variable._backward_hooks))


class _InnerPass(Pass):
    """A pass that a node of the observed pass runs. What it accumulates into leaves is taken back at the end."""

    before: dict[int, tuple[Any, Any]]                  # each leaf with the gradient that it held

    def _arrive(self, leaf: AccumulateGrad) -> None:
        variable = leaf.variable
        meta = variable._grad_meta
        if not self.capture and id(variable) not in self.before:
            self.before[id(variable)] = variable, meta.grad
            if meta.grad is not None:
                meta.grad = meta.grad.detach().clone()
        kept, meta.post_accumulate = meta.post_accumulate, None
        try:
            super()._arrive(leaf)
        finally:
            meta.post_accumulate = kept


class Observation:
    """The steps of one pass from `starts` (edges with cotangents). `nodes` are all nodes behind them.

    `inside` are the identities of the leaves that got gradients in passes that nodes ran themselves. `wanted` are the
    nodes on the way to the `inputs`, and None without `inputs`.

    Raises what the pass raises. The program is then as it was, too.
    """

    def __init__(self, starts: list[tuple[Any, Any]], inputs: Sequence[Any] | None = None,
                 capture: bool = False) -> None:
        self.starts = [*dict.fromkeys([edge.node for edge, _ in starts])]
        self.nodes = reachable(self.starts)
        with _unchanged(self.nodes) as before:
            def make(roots: Any, **options: Any) -> Pass:
                if local.thread.passes > outermost:
                    inner = _InnerPass(roots, **options)
                    inner.before = before
                    return inner
                return passes.setdefault(0, ObservedPass(roots, **options))

            passes: dict[int, ObservedPass] = {}
            outermost = local.thread.passes + 1
            local.thread.passing = make
            run_backward(starts, retain_graph=True, create_graph=False, inputs=inputs, capture=capture)
            self.inside = {*before}
        self.steps, self.pictures, self.wanted = passes[0].steps, passes[0].pictures, passes[0].wanted


@contextmanager
def _unchanged(nodes: Sequence[Any]) -> Iterator[dict[int, tuple[Any, Any]]]:
    """A context after which nodes, hooks, gradients, random streams and switches are as they were before.

    The context's value is a dictionary for leaves and the gradients that they get back.
    """
    thread = local.thread
    inner = [node.inner for node in nodes if isinstance(node, CopySlices) and node.inner is not None]
    saved = [(node, node.saved) for node in [*nodes, *inner]]
    attributes = [(node.attributes, {**node.attributes}) for node, _ in saved if isinstance(node, FunctionNode)]
    hooks = [(entries, [*entries.items()]) for node in nodes for entries in _hooks_of(node)]
    numpys, pythons = np.random.get_state(), random.getstate()
    passing, watch = thread.passing, thread.anomalies
    raised = [*watch.raised] if watch is not None else []
    gradients: dict[int, tuple[Any, Any]] = {}
    try:
        with stream_restored(), _buffers_kept():
            yield gradients
    finally:
        thread.passing = passing
        if watch is not None:
            watch.raised[:] = raised
        np.random.set_state(numpys)
        random.setstate(pythons)
        for node, values in saved:
            node.saved = values
        for now, before in [*attributes, *hooks]:
            now.clear()
            now.update(before)
        for leaf, gradient in gradients.values():
            leaf._grad_meta.grad = gradient


@contextmanager
def _buffers_kept() -> Iterator[None]:
    """A context after which the buffers of modules that ran in it are as before.

    A checkpoint calls modules again, such as a batch norm, which counts statistics.
    """
    buffers: dict[Any, dict[str, Any]] = {}
    numbers: dict[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
    thread = get_ident()

    def keep(module: Any, args: Any) -> None:
        if module in buffers or get_ident() != thread:
            return
        buffers[module] = {**module._buffers}
        for buffer in module._buffers.values():
            array = getattr(buffer, "_array", None)
            if isinstance(array, np.ndarray) and id(array) not in numbers:
                numbers[id(array)] = array, array.copy()

    handle = register_module_forward_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()
        for module, before in buffers.items():
            module._buffers.clear()
            module._buffers.update(before)
        for array, copy in numbers.values():
            if array.tobytes() != copy.tobytes():
                np.copyto(array, copy)


def _hooks_of(node: Node) -> Iterator[Any]:
    """The dictionaries of the hooks that a pass may call at a node."""
    if isinstance(node, AccumulateGrad) and node.variable._backward_hooks:
        yield node.variable._backward_hooks
    if node.hooks is not None:
        yield from (node.hooks.pre, node.hooks.post, *[entries for _, entries in node.hooks.tensor])
