"""Backward passes under handlers: PyTorch's operators for the gradients of a node, and the aliases of saved results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..foundations.modes import local as modes
from ..graph import faults
from ..graph.anomaly import CheckedPass
from ..graph.engine import Pass
from ..graph.node import hooks_of
from ..graph.recorded_pass import RecordedPass
from ..tensors.recording.recorder import TensorRecorder
from ..tensors.state.base import plain
from .calls import Carried, dispatch, send, tensor_over, watched
from .composed_gradients import COMPOSED, composed
from .core import overload
from .gradients import GRADIENTS, Node
from .here import local
from .translation import order_of
from .wrapped import WrapperArray

# Under this key, a node keeps the arguments and the results of the call that made it, if a handler saw the call.
_CALL = "call of dispatch"


def watch_saving(node: Any, results: Sequence[Any], operands: Sequence[Any]) -> None:
    """A watcher of recorded nodes: PyTorch saves a result as an alias of it, which a mode sees."""
    if not watched() or getattr(node, "op", None) is None:
        return
    name, args = local.here.last
    if (node.op.name in GRADIENTS or node.op.name in COMPOSED) and name == node.op.name:
        hooks_of(node).metadata[_CALL] = args, [x._array for x in results]
    if node.saved is None:
        return
    kept = zip(node.saves, node.saved) if isinstance(node.saved, tuple) else ()
    for (kind, place), value in kept:
        if kind == "out" and place < len(node.op.differentiable) and hasattr(value, "strides"):
            alias(value)


def alias(array: Any) -> Any:
    """The alias of a saved result."""
    tensor = local.here.tensor_of(array)
    return plain(send(overload("detach.default"), (tensor,), {}, partial(_alias_of, array)))


def _alias_of(array: Any, by: dict[int, Any]) -> Any:
    found = by.get(id(array), array)
    return tensor_over(found[...] if type(found) is np.ndarray else found)


class _Recorder(TensorRecorder):
    """The recorder of passes that handlers see. Programs see tensors of the class of the wrapper."""

    def saved(self, node: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Saved values as tensors. PyTorch gives a rule an alias of a saved result, which a mode sees."""
        tensors = super().saved(node, values)
        if modes.thread.grad or not watched():
            return tensors
        return tuple([alias(value._array) if kind == "out" and place < len(node.op.differentiable) and (
            value is not None) else value for (kind, place), value in zip(node.saves, tensors)])

    def unrecorded(self, node: Any, cotangent: Any, values: tuple[Any, ...] | None) -> tuple[Any, Any, Any]:
        """How the rules compute: with tensors, call by call."""
        return self.settled(cotangent), values and self.saved(node, values), None

    def settled(self, value: Any) -> Any:
        found = super().settled(value)
        array = getattr(found, "_array", None)
        return array.shown(found) if type(array) is WrapperArray else found


_RECORDER = _Recorder()


class _Standing:
    """A pass that runs with `dispatch` on the seam."""

    def run(self) -> Any:
        """Run the pass."""
        here, thread = local.here, modes.thread
        before, under = thread.transform, here.under
        if before is not dispatch and not thread.levels and not here.modes:
            here.under, thread.transform = before, dispatch
        try:
            return super().run()  # type: ignore[misc]
        except Carried as carried:
            error = carried.error
        finally:
            thread.transform, here.under, here.saved = before, under, None
        raise error


class _CheckedPass(_Standing, CheckedPass):
    """A pass for anomaly detection, whose operators handlers see."""


class DispatchPass(_Standing, RecordedPass):
    """A pass whose operators handlers see."""

    @classmethod
    def make(cls, starts: Any, *, recorder: Any, **options: Any) -> Pass:
        """A pass of this class, if a handler may see its calls. Else the usual pass."""
        checked, seen = modes.thread.anomalies is not None, bool(local.here.modes) or WrapperArray.living > 0
        if recorder is None or not seen:
            kind = CheckedPass if checked else Pass if recorder is None else RecordedPass
            return kind(starts, recorder=recorder, **options)
        return (_CheckedPass if checked else cls)(starts, recorder=_RECORDER, **options)

    def _by_rules(self, node: Any, cotangent: Any, saved: Any) -> Sequence[Any]:
        if saved is not None:
            self._use(node, saved, node.plan.arrays)
        recorder: Any = self.recorder
        if self._has_row(node):
            return self._computed(node, recorder.settled(cotangent), saved)
        if self.grad:
            saved = saved and recorder.saved(node, saved)
        else:
            cotangent, saved, _ = recorder.unrecorded(node, cotangent, saved)
        return self._each(node, cotangent, saved)

    def _each(self, node: Any, cotangent: Any, saved: Any) -> Sequence[Any]:
        """The gradients of a node by its rules, in PyTorch's order: by the names of the operands in the core."""
        results: list[Any] = [None] * len(node.edges)
        local.here.saved = {id(getattr(value, "_array", None)) for value in saved or ()}
        for index, rule, places in sorted(node.steps, key=lambda step: order_of(node.op)[step[0]]):
            edge = node.edges[index]
            if edge is not None and (self.wanted is None or edge in self.wanted):
                try:
                    results[index] = rule(cotangent, *[saved[i] for i in places])
                except Exception as error:
                    faults.in_rule(error, node, index)
                    raise
        return self.recorder.tied(node, results) if self.grad else results  # type: ignore[union-attr]

    def gradients(self, node: Any, cotangent: Any) -> Sequence[Any]:
        if not self._has_row(node):
            local.here.saved = {id(getattr(value, "_array", value)) for value in (
                node.saved if isinstance(node.saved, tuple) else ())}
            return super().gradients(node, cotangent)
        saved = node.saved
        if saved is not None:
            saved = [getattr(value, "_array", value) for value in self._values(node, saved)]
        if node.op.several and not node.op.unfilled:
            cotangent = self._filled(node, cotangent)
        return self._computed(node, cotangent, saved)

    def _has_row(self, node: Any) -> bool:
        """Whether a handler saw the call that made a node, and the core has operators for its gradients.

        The levels of transforms know rules alone.
        """
        return not self.grad and watched() and modes.thread.observer is None and not modes.thread.levels and (
            node.hooks is not None and _CALL in node.hooks.metadata)

    def _computed(self, node: Any, cotangent: Any, saved: Any) -> Sequence[Any]:
        """The gradients of a node that has a row."""
        needed = [edge is not None and (self.wanted is None or edge in self.wanted) for edge in node.edges]
        found = Node(node, cotangent, saved or (), needed, *node.hooks.metadata[_CALL])
        gradients = composed(found)
        several = node.op.unfilled and [g is not None for g in cotangent] != [True] + [False] * (len(cotangent) - 1)
        if gradients is None and (several or node.op.name not in GRADIENTS):
            return self._without_row(node, cotangent, saved)
        return [None if g is None else plain(g) for g in (found.gradients() if gradients is None else gradients)]

    def _without_row(self, node: Any, cotangent: Any, saved: Any) -> Sequence[Any]:
        """The gradients of a node by its rules, where only some calls of its operator have a row."""
        values = None if saved is None else self.recorder.saved(  # type: ignore[union-attr]
            node, tuple([getattr(value, "_array", value) for value in saved]))
        return self._each(node, cotangent, values)
