"""The backward pass: collect the reachable nodes, walk from the newest to the oldest, and hand gradients along edges.

Gradients are raw arrays, and a first-order pass makes nothing else. If the pass itself is recorded, a *recorder* stands
between the engine and the values that the rules see. The walk does not recurse, and all state is in the pass, so passes
may run inside each other's hooks and in several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from operator import call
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import F32, F64, is_narrow
from ..foundations.modes import local
from ..kernels.elementwise.parts import add as add_large
from ..kernels.kinds import OtherArray
from ..kernels.narrow import single
from ..kernels.options import is_rounded_once
from ..kernels.thresholds import PARTS
from . import faults
from .fit import fit
from .hooks import USER_HOOKS
from .node import RELEASED, AccumulateGrad
from .ownership import ALONE, LENT, SHARED, hold
from .packed import Packed
from .recorder import Recorder
from .route import Route
from .versions import written_since

if TYPE_CHECKING:
    from ..graph.node import Node


class Pass:
    """One backward pass over a graph.

    `roots` are (edge, cotangent) pairs. `inputs` are the edges to stop at; None means every leaf. With `capture`, `run`
    returns the gradients of the inputs and accumulates none. `keep` leaves the saved values for another pass. `route`
    is that of an earlier pass with the same edges, if there was one. With the recorder `in_steps`, rules compute
    gradients of 16 or fewer bits in a pass without a recorder.
    """

    def __init__(self, roots: Sequence[tuple[Any, Any]], *, recorder: Recorder | None, keep: bool,
                 inputs: Sequence[Any] | None = None, capture: bool = False, outer: Pass | None = None,
                 route: Route | None = None, in_steps: Recorder | None = None) -> None:
        self.recorder, self.keep, self.outer = recorder, keep, outer    # outer: the pass that runs this pass
        self.in_steps = in_steps
        self.buffers: dict[Any, Any] = {}
        self.owned: set[Any] = set()
        self.captured: dict[Any, Any] = {}
        self.notes: dict[Any, Any] = {}             # for parcels, during this pass
        for edge, cotangent in roots:
            self.give(edge, cotangent)
        self.start = roots[0][0] if len(roots) == 1 else None
        self.grad = local.thread.grad  # every hook starts in this mode, even if an earlier hook changed it
        self.numbers: set[int] | None = None        # of the nodes to run, once `runs` was called
        if route is None:
            route = Route(self.buffers, inputs, capture)
            self.due, self.wanted = route.due, route.wanted
        else:                                       # the pass changes both
            self.due, self.wanted = {**route.due}, None if route.wanted is None else {*route.wanted}
        self.order, self.addresses, self.capture, self.leading = (
            route.order, route.addresses, route.capture, route.leading)

    def give(self, edge: Any, cotangent: Any) -> None:
        """Add a gradient to the sum on an edge. The sum is updated in place only if nothing else holds its array."""
        buffers, own = self.buffers, edge in self.owned
        if not own and edge in buffers and self.recorder is None and buffers[edge].size >= PARTS:
            own = hold(buffers, edge) == ALONE
        held = buffers.pop(edge, None)
        if held is None or self.recorder is not None:
            buffers[edge] = cotangent if held is None else held + cotangent
        elif own and held.dtype == cotangent.dtype:
            buffers[edge] = local.thread.run(np.add if held.size < PARTS else add_large, held, cotangent, out=held)
        elif isinstance(held, OtherArray):              # PyTorch puts the elements of a later sparse gradient in front
            buffers[edge] = local.thread.run(np.add, cotangent, held)
        else:
            buffers[edge] = total = local.thread.run(np.add, held, cotangent)
            if type(total) is np.ndarray:
                self.owned.add(edge)

    def run(self) -> dict[Any, Any]:
        """Walk the graph, and return the captured gradients by edge."""
        if self.start is not None and self.wanted is not None and self.start.node not in self.wanted:
            self._look(self.start)
        for leaf in [leaf for leaf, due in self.due.items() if not due]:
            self._arrive(leaf)
        observer = local.thread.observer
        if self.recorder is None and observer is None:
            self._run_plainly()
            return self.captured
        step = self._full_step if observer is None else partial(observer.step, self._full_step)
        for node in self._nodes():
            step(node, self.buffers.pop(node, None))
            self._delivered(node.edges)
        return self.captured

    def _nodes(self) -> Iterator[Any]:
        """The nodes to walk, in order."""
        return iter(self.order)

    def _looking(self) -> Callable[[Any, int, Any, Any, Any], None] | None:
        """What sees each gradient of the short way: a function of (node, argument, cotangent, saved, gradient)."""
        return None

    def _look(self, start: Any) -> None:
        """Show the gradient of a single root to its hooks if the root leads to no input, as PyTorch does."""
        node, shown = start.node, USER_HOOKS.shown([self.buffers[start]])
        if type(node) is AccumulateGrad:
            USER_HOOKS.call(node.variable._backward_hooks or {}, *shown)
        elif node.hooks is not None:
            absent = [None] * (node.outputs if node.several else 1)
            node.hooks.arrived([*absent[:start.index], *shown, *absent[start.index + 1:]])

    def runs(self, number: int) -> bool:
        """Whether this pass runs the node of that number (leaves included)."""
        if self.numbers is None:
            wanted = self.wanted
            leaves = (leaf for leaf in self.due if wanted is None or leaf in wanted)
            self.numbers = {node.number for node in chain(self.order, leaves)}
        return number in self.numbers

    def _run_plainly(self) -> None:
        """The walk with raw arrays and no observer: the hot path, so written inline."""
        buffers, run, wanted, capture, look = self.buffers, local.thread.run, self.wanted, self.capture, self._looking()
        for node in self._nodes():
            cotangent = buffers.pop(node, None)
            plan, dtype = node.plan, node.dtype
            if (cotangent is None or plan is None or node.hooks is not None or node in capture
                    or (dtype is not F32 and dtype is not F64 and (dtype.kind == "c" or is_narrow(dtype)))):
                self._full_step(node, cotangent)
                cotangent = None
                self._delivered(node.edges)
                continue
            saved, edges, to_leaf = node.saved, node.edges, False
            if plan.arrays and saved is not None:
                self._use(node, saved, plan.arrays)
            for index, rule, count, i, j, positions in plan.steps if cotangent.size < PARTS else plan.large:
                edge = edges[index]
                if edge is None or (wanted is not None and edge not in wanted):
                    continue
                try:
                    if count == 1:
                        result = run(rule, cotangent, saved[i])
                    elif count == 2:
                        result = run(rule, cotangent, saved[i], saved[j])
                    else:
                        result = run(rule, cotangent, *[saved[k] for k in positions])
                    if result.shape != edge.shape or result.dtype is not edge.dtype:
                        result = run(fit, result, result.shape, result.dtype, edge.shape, edge.dtype)
                except Exception as error:
                    faults.in_rule(error, node, index)
                    raise
                if look is not None:
                    look(node, index, cotangent, saved, result)
                if edge in buffers:
                    self.give(edge, result)
                else:
                    buffers[edge] = result
                to_leaf = to_leaf or type(edge) is AccumulateGrad
            if to_leaf:  # not earlier: a leaf's hooks may write to an array that a rule still reads
                cotangent = result = None           # the leaf may then be the only holder of its gradient
                self._delivered(edges)

    def _use(self, node: Node, saved: Any, arrays: tuple[int, ...]) -> None:
        """Refuse saved values that were released or written to. Then release them, unless the pass keeps them."""
        if saved is RELEASED:
            raise faults.second_pass(node, self.order)
        held = False
        for i in arrays:
            array = saved[i]
            if array is not None:
                held = True
                if written_since(array, node.number):
                    raise faults.stale(node)
        if held and not self.keep:
            node.saved = RELEASED

    def _full_step(self, node: Node, cotangent: Any) -> None:
        """Run a node of any kind: with several outputs, hooks, an observer or a recorder, with or without gradient."""
        local.thread.grad = self.grad
        cotangents = self._gathered(node) if node.several else [cotangent]
        hooks = node.hooks
        captured = node in self.capture
        if captured and node in self.leading:
            self._capture(node, cotangents)         # PyTorch captures a node before its hooks if it leads to a target
            captured = False
        shown: list[Any] = []
        if hooks is not None:
            shown = USER_HOOKS.shown(cotangents)
            hooks.arrived(shown)
            cotangents = USER_HOOKS.carried(shown, self.recorder)
        if captured:
            self._capture(node, cotangents)
            return
        if hooks is not None and hooks.pre:
            shown = hooks.before(shown)
            cotangents = USER_HOOKS.carried(shown, self.recorder)
        edges = node.edges
        results = [result if edge is None or result is None else self.fitted(result, edge.shape, edge.dtype)
                   for edge, result in zip(edges, self._results(node, cotangents), strict=True)]
        hooks = node.hooks                          # the node itself may have added a hook
        if hooks is not None and hooks.post:
            results = hooks.after(results, node.inputs_shown(), shown or USER_HOOKS.shown(cotangents), self.recorder)
        self._hand_on(node, cotangents, results)

    def _hand_on(self, node: Node, cotangents: list[Any], results: Sequence[Any]) -> None:
        """Give the gradients that a node computed to its edges."""
        for edge, result in zip(node.edges, results, strict=True):
            if edge is not None and result is not None:
                self.give(edge, result)

    def _gathered(self, node: Node) -> list[Any]:
        """The gradients of each output of a node with several outputs, with None for an output without a gradient."""
        cotangents: list[Any] = [None] * node.outputs
        for edge in self.addresses[node]:
            cotangent = self.buffers.pop(edge, None)
            if cotangent is not None:
                held = cotangents[edge.index]
                cotangents[edge.index] = cotangent if held is None else held + cotangent
        return cotangents

    def _capture(self, node: Node, cotangents: list[Any]) -> None:
        """Keep the gradients that were asked for at a node."""
        for edge in self.capture[node]:
            if cotangents[edge.index] is not None:
                self.captured[edge] = cotangents[edge.index]

    def _results(self, node: Node, cotangents: list[Any]) -> Sequence[Any]:
        """Run a node if a gradient came or the node always runs. An observer, if there is one, watches the run."""
        if not node.runs_always and not any([cotangent is not None for cotangent in cotangents]):
            return [None] * len(node.edges)
        observer = local.thread.observer
        run = self.gradients if observer is None else partial(observer.node, self.gradients)
        results: Sequence[Any] = run(node, cotangents if node.several else cotangents[0])
        return results

    def gradients(self, node: Any, cotangent: Any) -> Sequence[Any]:
        """The gradients of a node's inputs, in the order of its edges; None for an input that needs no gradient."""
        if node.steps is None:
            results: Sequence[Any] = node.apply(cotangent if node.several else [cotangent], self)
            return results
        dtype = node.dtype
        narrow = dtype is not F32 and dtype is not F64 and self.recorder is None and _has_narrow(dtype)
        if narrow and not rounds_once(node):
            return self._gradients_in_steps(node, cotangent)
        saved, run = node.saved, local.thread.run if self.recorder is None else call
        packed = type(saved) is Packed
        if saved is not None:
            saved = self._values(node, saved)
        if node.several and not node.op.unfilled:
            cotangent = self._filled(node, cotangent)
        if narrow:
            cotangent, saved = single(cotangent), single(saved)
        conjugate = node.conjugates and dtype.kind == "c"
        if conjugate:
            cotangent = np.conj(cotangent)
        if node.op.variadic:
            _, rule, positions = node.steps[0]
            results = run(rule, cotangent, *[saved[i] for i in positions])
            return [None if e is None else np.conj(r) if conjugate else r
                    for e, r in zip(node.edges, results, strict=True)]
        if node.op.joint:
            return self._jointly(node, cotangent, saved, run)
        gradients: list[Any] = [None] * len(node.edges)
        for index, rule, positions in node.steps:
            edge = node.edges[index]
            if edge is None or (self.wanted is not None and edge not in self.wanted):
                continue
            try:
                result = run(rule, cotangent, *[saved[i] for i in positions])
            except Exception as error:
                faults.in_rule(error, node, index)
                if packed and faults.is_clash(error):
                    raise faults.unfit(error, cotangent, [saved[i] for i in positions]) from error
                raise
            gradients[index] = np.conj(result) if conjugate else result.astype(edge.dtype) if narrow else result
        return gradients if self.recorder is None else self.recorder.tied(node, gradients)

    def _gradients_in_steps(self, node: Any, cotangent: Any) -> Sequence[Any]:
        """The gradients of a node in a type of 16 or fewer bits. PyTorch rounds each operation of a formula, so rules
        compute with tensors here, as in a recorded pass.
        """
        self.recorder = self.in_steps
        try:
            shown = USER_HOOKS.shown(cotangent if node.several else [cotangent])
            results = self.gradients(node, shown if node.several else shown[0])
            return USER_HOOKS.carried(results, None)
        finally:
            self.recorder = None

    def _jointly(self, node: Any, cotangent: Any, saved: Any, run: Callable[..., Any]) -> Sequence[Any]:
        """The gradients of a node whose op has one rule for all inputs."""
        needed = tuple([edge is not None and (self.wanted is None or edge in self.wanted) for edge in node.edges])
        index, rule, positions = node.steps[0]
        try:
            results = run(rule, cotangent, needed, *[saved[i] for i in positions])
        except Exception as error:
            faults.in_rule(error, node, index)
            raise
        gradients = [result if need else None for need, result in zip(needed, results, strict=True)]
        return gradients if self.recorder is None else self.recorder.tied(node, gradients)

    def _values(self, node: Any, saved: Any) -> Any:
        """The unpacked saved values, as the rules compute with them. Unless the pass keeps them, they are released."""
        if type(saved) is Packed:
            saved = saved.values(node)
            if not self.keep:
                node.saved = RELEASED
        else:
            self._use(node, saved, node.op.saved_arrays)
        return saved if self.recorder is None else self.recorder.saved(node, saved)

    def fitted(self, result: Any, shape: tuple[int, ...], to_dtype: np.dtype[Any]) -> Any:
        """A rule's result as a gradient for a value of this shape and dtype."""
        array = result if self.recorder is None else self.recorder.array(result)
        if array.shape == shape and array.dtype == to_dtype:
            return result
        run = local.thread.run if self.recorder is None else call
        return run(fit, result, array.shape, array.dtype, shape, to_dtype)

    def _filled(self, node: Node, cotangents: list[Any]) -> list[Any]:
        """The gradients of the outputs, with zeros for an output without a gradient."""
        given = next(g for g in cotangents if g is not None)
        return [self.zeros(given, shape, dtype) if g is None else g
                for g, shape, dtype in zip(cotangents, node.shape, node.dtype, strict=True)]

    def zeros(self, beside: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A gradient of zeros, of the same kind of array as `beside`."""
        return np.zeros(shape, dtype) if self.recorder is None else self.recorder.zeros(beside, shape, dtype)

    def _delivered(self, edges: Iterable[Any]) -> None:
        """Note that these edges will give no more. A leaf accumulates once all its edges have delivered."""
        due = self.due
        for edge in edges:
            if type(edge) is AccumulateGrad:
                left = due[edge] = due[edge] - 1
                if not left:
                    self._arrive(edge)

    def _arrive(self, leaf: AccumulateGrad) -> None:
        """All gradients of a leaf have arrived: run its hooks, then capture or accumulate the sum."""
        buffers = self.buffers
        if self.wanted is not None and leaf not in self.wanted:
            buffers.pop(leaf, None)
            return
        local.thread.grad = self.grad
        variable = leaf.variable
        attached = None if variable._grad_meta is None else variable._grad_meta.hooks
        if attached:
            (buffers[leaf],) = self._called(lambda shown: [USER_HOOKS.call(attached, shown[0])], buffers.get(leaf))
        if leaf in self.capture:
            self._capture(leaf, [buffers.get(leaf)])
        elif not self.capture:
            hooks, observer = leaf.hooks, local.thread.observer
            if hooks is not None and hooks.pre:
                (buffers[leaf],) = self._called(hooks.before, buffers.get(leaf))
            own = SHARED if self.recorder is not None or leaf not in buffers else hold(buffers, leaf)
            if observer is None:
                variable._accumulate(buffers.get(leaf), self.recorder, own)
            else:
                observer.accumulate(partial(variable._accumulate, buffers.get(leaf), self.recorder, min(own, LENT)))
            if hooks is not None and hooks.post:
                hooks.after([], None, USER_HOOKS.shown([buffers.get(leaf)]), self.recorder)
        buffers.pop(leaf, None)

    def _called(self, hooks: Callable[[list[Any]], list[Any]], *cotangents: Any) -> list[Any]:
        """The gradients that hooks returned for the gradients shown to them."""
        return USER_HOOKS.carried(hooks(USER_HOOKS.shown(cotangents)), self.recorder)


def rounds_once(node: Any) -> bool:
    """Whether PyTorch has one kernel for the only rule of a node, so that a gradient of 16 bits is rounded once."""
    return not node.several and len(node.steps) == 1 and is_rounded_once(node.steps[0][1])


def _has_narrow(dtype: Any) -> bool:
    """Whether the dtype of a node, or one of its dtypes, is of floats of 16 or fewer bits."""
    return any([is_narrow(each) for each in dtype]) if isinstance(dtype, (list, tuple)) else is_narrow(dtype)
