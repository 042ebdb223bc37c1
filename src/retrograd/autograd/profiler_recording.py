"""How a profile learns what runs in its thread.

While a profile is open, it stands on the seam (`ThreadState.transform`), which reports every call of an op. The engine
reports nodes to it, and composed functions report their calls. While no profile is open, none of this is in place and
nothing is slower.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..kernels.shape import StrideError
from ..modes import Transform, local
from ..ops.basic import copy
from ..ops.framework import Op
from ..tensors.recording.overriding import Attention
from ..tensors.state.base import TensorBase
from .profiler_report import EventList, FunctionEvent

_ENGINE = "autograd::engine::evaluate_function: "
_ACCUMULATION = "torch::autograd::AccumulateGrad"
# Operators whose name in PyTorch's profiler differs from their own.
_SHOWN = {"to": "_to_copy"}
# Ops that PyTorch's profiler does not show, or whose functions appear in the profile themselves.
_UNSHOWN = frozenset(["affine", "blend", "call", "clip_grad_", "fresh", "listed", "look", "new_full", "random_like",
                      "_fused_sgd_", "_fused_adam_"])


class Event:
    """A recorded call: `start` and `end` in nanoseconds, and `parent`, the call that made this call."""

    __slots__ = ("end", "name", "parent", "shapes", "start")

    def __init__(self, name: str, parent: Event | None, shapes: list[list[int]]) -> None:
        self.name, self.parent, self.shapes, self.start, self.end = name, parent, shapes, 0, 0


class Recording:
    """The calls of one thread, in order of their start, between `start` and `stop`."""

    def __init__(self, shapes: bool) -> None:
        self.thread, self.thread_id, self.shapes = local.thread, threading.get_native_id(), shapes
        self.events: list[Event] = []
        self.open: list[Event] = []

    def start(self) -> None:
        """Begin to watch this thread. A profile that is already open in it sees nothing until this one is closed."""
        thread = self.thread
        self.outer: Recording | None = thread.observer
        Attention.watch(1)
        self.under: Transform | None = thread.transform if self.outer is None else self.outer.under
        thread.observer, thread.transform = self, self.run

    def stop(self) -> None:
        """Restore the thread, and end the calls that have not returned."""
        thread = self.thread
        if thread.observer is self:
            thread.observer = self.outer
        else:                                           # this profile is closed before one that was opened inside it
            inner = thread.observer
            while inner.outer is not self:
                inner = inner.outer
            inner.outer = self.outer
        thread.transform = self.under if thread.observer is None else thread.observer.run
        Attention.watch(-1)
        while self.open:
            self.leave(self.open[-1])

    def enter(self, name: str, shapes: Any = ()) -> Event:
        """Open an event inside the current event."""
        event = Event(name, self.open[-1] if self.open else None, shapes)
        self.events.append(event)
        self.open.append(event)
        event.start = perf_counter_ns()
        return event

    def leave(self, event: Event) -> None:
        """Close an event, usually the one opened last."""
        event.end = perf_counter_ns()
        if self.open and self.open[-1] is event:
            self.open.pop()
        elif event in self.open:
            self.open.remove(event)

    def call(self, name: str, values: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function in an event of this name; `values` are the arguments whose shapes it shows."""
        event = self.enter(name, self.shapes_of(values))
        try:
            return function(*args, **kwargs)
        finally:
            self.leave(event)

    def shapes_of(self, values: Any) -> Any:
        """The shapes of tensors and arrays, [] for other values. An empty tuple if shapes are not recorded."""
        if not self.shapes:
            return ()
        arrays = [value._array if isinstance(value, TensorBase) else value for value in values]
        return [[*array.shape] if isinstance(array, np.ndarray) else [] for array in arrays]

    # The reports

    def run(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        """Make a call of an op, through the transform that stood on the seam before, and note how long it took."""
        if op.name in _UNSHOWN or (op is copy and not self.thread.grad):   # PyTorch takes a first gradient as it is
            return call(*args) if self.under is None else self.under(op, call, args, write)
        name = _SHOWN.get(op.name, op.name)
        if write and not name.endswith("_"):
            name += "_"
        event = self.enter(f"aten::{name}", self.shapes_of(args[1:] if write else args))
        try:
            return call(*args) if self.under is None else self.under(op, call, args, write)
        except StrideError:
            self.events.pop()                           # `reshape` tries whether a view is possible
            raise
        finally:
            self.leave(event)

    def step(self, step: Callable[[Any, Any], None], node: Any, cotangent: Any) -> None:
        """Take a step of a backward pass: run a node, and add up the gradients that it gives."""
        event = self.enter(_ENGINE + node.name())
        try:
            step(node, cotangent)
        finally:
            self.leave(event)
            if self.events[-1] is event:                # no gradient reached the node
                self.events.pop()

    def node(self, gradients: Callable[[Any, Any], Any], node: Any, cotangent: Any) -> Any:
        """Run a node of a backward pass."""
        return self.call(node.name(), (), gradients, node, cotangent)

    def accumulate(self, accumulate: Callable[[], None]) -> None:
        """Run the accumulation of a gradient into a leaf."""
        self.call(_ENGINE + _ACCUMULATION, (), self.call, _ACCUMULATION, (), accumulate)

    def function_events(self) -> EventList:
        """The events with their children, and times in microseconds from the first event.

        If a call's only child has the same name, the two are one event, as in PyTorch's profile.
        """
        origin = self.events[0].start if self.events else 0
        made: dict[Event, FunctionEvent] = {}
        for i, event in enumerate(self.events, 1):
            made[event] = found = FunctionEvent(
                i, event.name, self.thread_id, (event.start - origin) / 1e3, (event.end - origin) / 1e3, event.shapes)
            parent = event.parent
            while parent is not None and parent.end < event.end:
                parent = parent.parent                  # the parent ended first: the blocks overlap
            if parent is not None:
                found.cpu_parent = made[parent]
                made[parent].cpu_children.append(found)
        return EventList(event for event in made.values() if not _is_parent_again(event))


def _is_parent_again(event: FunctionEvent) -> bool:
    """Whether an event repeats its parent. If so, the parent gets the children of the event."""
    parent = event.cpu_parent
    if parent is None or parent.name != event.name or len(parent.cpu_children) > 1:
        return False
    parent.cpu_children = event.cpu_children
    for child in event.cpu_children:
        child.cpu_parent = parent
    return True
