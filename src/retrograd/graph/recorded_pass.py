"""The backward pass whose rules compute with tensors, since the pass itself is recorded or a transform is on."""

from __future__ import annotations

from typing import Any

from ..modes import local
from . import faults
from .engine import Pass
from .packed import Packed


class RecordedPass(Pass):
    """A pass with a recorder. Usual nodes take a short way, in which nobody can see or change the gradients."""

    def _full_step(self, node: Any, cotangent: Any) -> None:
        saved, thread = node.saved, local.thread
        if (cotangent is None or node.plan is None or node.hooks is not None or node in self.capture
                or type(saved) is Packed or node.dtype.kind == "c" or thread.observer is not None):
            super()._full_step(node, cotangent)
            return
        recorder: Any = self.recorder
        thread.grad, wanted, edges = self.grad, self.wanted, node.edges
        if saved is not None:
            self._use(node, saved, node.plan.arrays)
            saved = recorder.saved(node, saved)
        results: Any = [None] * len(edges)
        for index, rule, positions in node.steps:
            edge = edges[index]
            if edge is None or (wanted is not None and edge not in wanted):
                continue
            try:
                results[index] = rule(cotangent, *[saved[i] for i in positions])
            except Exception as error:
                faults.in_rule(error, node, index)
                raise
        if self.grad:
            results = recorder.tied(node, results)
        for edge, result in zip(edges, results, strict=True):
            if edge is not None and result is not None:
                self.give(edge, self.fitted(result, edge.shape, edge.dtype))
