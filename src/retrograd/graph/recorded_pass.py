"""The backward pass whose rules compute with tensors, since the pass itself is recorded or a transform is on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import F32, is_narrow
from ..foundations.modes import local
from ..ops.basic import cast
from . import faults
from .crossings import Crossing
from .engine import Pass, rounds_once
from .fit import fit
from .node import AccumulateGrad
from .packed import Packed

if TYPE_CHECKING:
    from ..graph.node import Node


class RecordedPass(Pass):
    """A pass with a recorder. Usual nodes take a short way, in which nobody can see or change the gradients."""

    def gradients(self, node: Any, cotangent: Any) -> Sequence[Any]:
        """The gradients of a node's inputs. If nothing is recorded, a rule that rounds once computes with float32 in
        place of narrow types, as in a plain pass.
        """
        return super().gradients(node, self._widened(cotangent) if self._rounds_once(node) else cotangent)

    def _values(self, node: Node, saved: Any) -> Any:
        values = super()._values(node, saved)
        return self._widened(values) if self._rounds_once(node) else values

    def _rounds_once(self, node: Node) -> bool:
        """Whether the rule of a node computes with float32 in place of its narrow type."""
        return not self.grad and node.steps is not None and rounds_once(node) and is_narrow(node.dtype)

    def _widened(self, value: Any) -> Any:
        """A value that a rule computes with: float32 in place of a narrow type."""
        if type(value) is list or type(value) is tuple:
            return type(value)(map(self._widened, value))
        if isinstance(value, np.dtype):
            return F32 if is_narrow(value) else value
        dtype = _dtype_of(value)
        return cast(value, F32) if dtype is not None and is_narrow(dtype) else value

    def _full_step(self, node: Node, cotangent: Any) -> None:
        saved, thread = node.saved, local.thread
        edges, plan = node.edges, node.plan
        crosses = isinstance(node, Crossing)
        if cotangent is None or node.hooks is not None or node in self.capture or thread.observer is not None or not (
                crosses or (plan is not None and type(saved) is not Packed and node.dtype.kind != "c"
                            and not is_narrow(node.dtype))):
            super()._full_step(node, self.recorder.settled(cotangent))  # type: ignore[union-attr]
            return
        thread.grad = self.grad
        self._hand_over(edges, node.apply([cotangent], self) if crosses else self._by_rules(node, cotangent, saved))

    def _gathered(self, node: Node) -> list[Any]:
        return [*map(self.recorder.settled, super()._gathered(node))]  # type: ignore[union-attr]

    def _arrive(self, leaf: AccumulateGrad) -> None:
        if leaf in self.buffers:
            self.buffers[leaf] = self.recorder.settled(self.buffers[leaf])  # type: ignore[union-attr]
        super()._arrive(leaf)

    def _by_rules(self, node: Any, cotangent: Any, saved: Any) -> Sequence[Any]:
        """The gradients of a usual node's inputs."""
        edges, plan, wanted = node.edges, node.plan, self.wanted
        recorder: Any = self.recorder
        if saved is not None:
            self._use(node, saved, plan.arrays)
        at_once = None
        if not self.grad:
            cotangent, saved, at_once = recorder.unrecorded(node, cotangent, saved)
        elif saved is not None:
            saved = recorder.saved(node, saved)
        results: Any = [None] * len(edges)
        for index, rule, positions in node.steps:
            edge = edges[index]
            if edge is None or (wanted is not None and edge not in wanted):
                continue
            try:
                values = [saved[i] for i in positions]
                results[index] = rule(cotangent, *values) if at_once is None else at_once(rule, cotangent, values)
            except Exception as error:
                faults.in_rule(error, node, index)
                raise
        if self.grad:
            results = recorder.tied(node, results)
        return results  # type: ignore[no-any-return]

    def _hand_over(self, edges: Sequence[Any], results: Sequence[Any]) -> None:
        """Give gradients to their edges, after they are fitted."""
        buffers, recorder = self.buffers, self.recorder
        assert recorder is not None
        for edge, result in zip(edges, results, strict=True):
            if edge is None or result is None:
                continue
            array = recorder.array(result)
            if array.shape != edge.shape or array.dtype != edge.dtype:
                result = fit(result, array.shape, array.dtype, edge.shape, edge.dtype)
            if edge in buffers:
                self.give(edge, result)
            else:
                buffers[edge] = result


def _dtype_of(value: Any) -> Any:
    """The NumPy dtype of a tensor or an array; None for any other value."""
    return getattr(getattr(value, "_array", value), "dtype", None)
