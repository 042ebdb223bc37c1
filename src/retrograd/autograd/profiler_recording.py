"""How a profile learns what runs in its thread. Must not know what is shown of it.

While a profile is open it stands where kernels are called (`ThreadState.run`), it is the observer that the engine tells
of nodes, and composed functions tell it of themselves. While none is open, nothing of this is in
place: nothing is asked, and nothing is paid.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import perf_counter_ns
from types import CodeType
from typing import Any

import numpy as np

from ..kernels.shape import StrideError
from ..modes import local
from ..ops.framework import Op
from ..tensors.recording import inplace
from ..tensors.recording.overriding import Attention
from ..tensors.state.base import TensorBase
from .profiler_report import EventList, FunctionEvent

_ENGINE = "autograd::engine::evaluate_function: "
_ACCUMULATION = "torch::autograd::AccumulateGrad"
_WRITES: tuple[CodeType, ...] = (inplace.write.__code__, inplace._write_unrecorded.__code__)
# Where PyTorch's profiler shows an operator under another name than its own.
_SHOWN = {"to": "_to_copy"}


class Event:
    """A call as it is recorded: `start` and `end` in nanoseconds, `parent` the call it was made in."""

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
        """Begin to watch this thread. A profile that is open in it already sees nothing until this one is closed."""
        thread = self.thread
        self.outer: Recording | None = thread.observer
        Attention.watch(1)
        thread.observer, thread.run = self, self.run

    def stop(self) -> None:
        """Leave the thread as it was, and end the calls that have not returned."""
        thread = self.thread
        if thread.observer is self:
            thread.observer = self.outer
        else:                                           # closed before one that was opened in it
            inner = thread.observer
            while inner.outer is not self:
                inner = inner.outer
            inner.outer = self.outer
        thread.run = thread.plain if thread.observer is None else thread.observer.run
        Attention.watch(-1)
        while self.open:
            self.leave(self.open[-1])

    def enter(self, name: str, shapes: Any = ()) -> Event:
        """Open an event in the one that is open."""
        event = Event(name, self.open[-1] if self.open else None, shapes)
        self.events.append(event)
        self.open.append(event)
        event.start = perf_counter_ns()
        return event

    def leave(self, event: Event) -> None:
        """Close an event, most often the one opened last."""
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
        """The shapes of tensors and arrays, [] for anything else; nothing where shapes are not asked for."""
        if not self.shapes:
            return ()
        arrays = [value._array if isinstance(value, TensorBase) else value for value in values]
        return [[*array.shape] if isinstance(array, np.ndarray) else [] for array in arrays]

    # What it is told

    def run(self, kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a kernel. Whoever asks for it knows the operator as `op`; the kernel may belong to several."""
        caller = sys._getframe(1)
        op = caller.f_locals.get("op") or Op.by_kernel.get(kernel)
        if type(op) is not Op:
            return self.thread.plain(kernel, *args, **kwargs)
        name = _SHOWN.get(op.name, op.name)
        if caller.f_code in _WRITES and not name.endswith("_"):
            name += "_"
        event = self.enter(f"aten::{name}", self.shapes_of(args))
        try:
            return self.thread.plain(kernel, *args, **kwargs)
        except StrideError:
            self.events.pop()                           # `reshape` tries whether a view is possible
            raise
        finally:
            self.leave(event)

    def step(self, step: Callable[[Any, Any], None], node: Any, cotangent: Any) -> None:
        """Take a step of a backward pass: run a node, and add up what it gives."""
        event = self.enter(_ENGINE + node.name())
        try:
            step(node, cotangent)
        finally:
            self.leave(event)
            if self.events[-1] is event:                # nothing reached the node
                self.events.pop()

    def node(self, gradients: Callable[[Any, Any], Any], node: Any, cotangent: Any) -> Any:
        """Run a node of a backward pass."""
        event = self.enter(node.name())
        try:
            return gradients(node, cotangent)
        finally:
            self.leave(event)

    def accumulate(self, accumulate: Callable[[], None]) -> None:
        """Run the accumulation of a gradient into a leaf."""
        outer = self.enter(_ENGINE + _ACCUMULATION)
        inner = self.enter(_ACCUMULATION)
        try:
            accumulate()
        finally:
            self.leave(inner)
            self.leave(outer)

    def function_events(self) -> EventList:
        """The calls with those inside them, times in microseconds from the first.

        A call that is all there is in another of the same name is one with that, as in PyTorch's profile.
        """
        origin = self.events[0].start if self.events else 0
        made: dict[Event, FunctionEvent] = {}
        for i, event in enumerate(self.events, 1):
            made[event] = found = FunctionEvent(
                i, event.name, self.thread_id, (event.start - origin) / 1e3, (event.end - origin) / 1e3, event.shapes)
            parent = event.parent
            while parent is not None and parent.end < event.end:
                parent = parent.parent                  # one that ended first: the blocks overlap
            if parent is not None:
                found.cpu_parent = made[parent]
                made[parent].cpu_children.append(found)
        return EventList(event for event in made.values() if not _is_parent_again(event))


def _is_parent_again(event: FunctionEvent) -> bool:
    """Whether an event is its parent under another call; its children are given to the parent then."""
    parent = event.cpu_parent
    if parent is None or parent.name != event.name or len(parent.cpu_children) > 1:
        return False
    parent.cpu_children = event.cpu_children
    for child in event.cpu_children:
        child.cpu_parent = parent
    return True
