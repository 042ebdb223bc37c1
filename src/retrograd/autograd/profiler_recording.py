"""How a profile learns what runs in its thread.

While a `Recording` is open, it stands on the seam (`ThreadState.transform`), which reports every call of an op. The
engine reports nodes to it, and composed functions report their calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.modes import Transform, local
from ..kernels.shape import StrideError
from ..ops.basic import cast, cast_in, copy
from ..ops.elementwise.arithmetic import square
from ..ops.framework import Op
from ..ops.tables import Table, table
from ..tensors.state.base import TensorBase
from ..tensors.state.dispatch import DISPATCH
from .operation_counts import PROFILED
from .profiler_events import FunctionEvent
from .profiler_report import EventList

if TYPE_CHECKING:
    from ..graph.node import Node

# The scopes of nodes and of blocks with a name, by PyTorch's numbers.
_NODE, MARKED = 1, 7
_ENGINE = "autograd::engine::evaluate_function: "
_ACCUMULATION = "torch::autograd::AccumulateGrad"
_SHOWN: Table[Op, str] = table("The profiler shows it as {}", {cast: "_to_copy", cast_in: "_to_copy", square: "pow"})
# PyTorch has no such op, or the function that calls the op appears in the profile itself.
_UNSHOWN = table("The profiler does not show it",
                 dict.fromkeys(["affine", "blend", "call", "clip_grad_", "fresh", "listed", "look", "new_full",
                                "random_like", "_fused_group_"], True),
                 because="some of these operators belong to layers above, and others are imported late")


class Event:
    """A recorded call: `start` and `end` in nanoseconds, and `parent`, the call that made this call.

    `scope` is 1 for a node of a backward pass, and 7 for a block that `record_function` named. `memory` is in bytes;
    None is for a call that has made other calls, whose memory is that of those.
    """

    __slots__ = ("end", "flops", "memory", "name", "parent", "scope", "shapes", "start")

    def __init__(self, name: str, parent: Event | None, shapes: list[list[int]], scope: int = 0) -> None:
        self.name, self.parent, self.shapes, self.start, self.end = name, parent, shapes, 0, 0
        self.flops, self.scope = 0, scope
        self.memory: int | None = 0


class Recording:
    """The calls of one thread, in order of their start, between `start` and `stop`."""

    def __init__(self, shapes: bool, *, memory: bool = False, flops: bool = False) -> None:
        self.thread, self.thread_id, self.shapes = local.thread, threading.get_native_id(), shapes
        self.memory, self.flops, self.watching = memory, flops, False
        self.events: list[Event] = []
        self.open: list[Event] = []

    def start(self) -> None:
        """Begin to watch this thread. A profile that is already open in it sees nothing until this one is closed."""
        thread = self.thread
        self.outer: Recording | None = thread.observer
        DISPATCH.watch(1)
        self.under: Transform | None = thread.transform if self.outer is None else self.outer.beneath
        thread.observer, thread.transform, self.watching = self, self.run, True

    @property
    def beneath(self) -> Transform | None:
        """Where a recording that is opened inside this one passes its calls on."""
        return self.under

    def toggle(self, watching: bool) -> None:
        """Begin to watch this thread, or stop, if that is a change."""
        if watching != self.watching:
            (self.start if watching else self.stop)()

    def stop(self) -> None:
        """Restore the thread, and end the calls that have not returned."""
        if not self.watching:
            return
        self.watching = False
        thread = self.thread
        if thread.observer is self:
            thread.observer = self.outer
        else:                                           # this profile is closed before one that was opened inside it
            inner = thread.observer
            while inner.outer is not self:
                inner = inner.outer
            inner.outer = self.outer
        thread.transform = self.under if thread.observer is None else thread.observer.run
        DISPATCH.watch(-1)
        while self.open:
            self.leave(self.open[-1])

    def enter(self, name: str, shapes: Any = (), scope: int = 0) -> Event:
        """Open an event inside the current event."""
        event = Event(name, self.open[-1] if self.open else None, shapes, scope)
        if event.parent is not None:
            event.parent.memory = None
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
            found = function(*args, **kwargs)
        finally:
            self.leave(event)
        if self.memory and event.memory is not None:
            event.memory = _allocated(found, values)
        return found

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
        name = _SHOWN.get(op, op.name)
        if write and not name.endswith("_"):
            name += "_"
        event = self.enter(f"aten::{name}", self.shapes_of(args[1:] if write else args))
        try:
            found = call(*args) if self.under is None else self.under(op, call, args, write)
        except StrideError:
            self.events.pop()                           # `reshape` tries whether a view is possible
            raise
        finally:
            self.leave(event)
        if self.memory and not write:
            event.memory = _allocated(found, args)
        if self.flops and not write:
            event.flops = PROFILED[op](args, found) if op in PROFILED else 0
        return found

    def step(self, step: Callable[[Any, Any], None], node: Node, cotangent: TensorBase) -> None:
        """Take a step of a backward pass: run a node, and add up the gradients that it gives."""
        event = self.enter(_ENGINE + node.name())
        try:
            step(node, cotangent)
        finally:
            self.leave(event)
            if self.events[-1] is event:                # no gradient reached the node
                self.events.pop()

    def node(self, gradients: Callable[[Any, Any], Any], node: Node, cotangent: TensorBase) -> Any:
        """Run a node of a backward pass."""
        return self._backward(node.name(), gradients, node, cotangent)

    def _backward(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function in the event of a node."""
        event = self.enter(name, scope=_NODE)
        try:
            return function(*args)
        finally:
            self.leave(event)

    def accumulate(self, accumulate: Callable[[], None]) -> None:
        """Run the accumulation of a gradient into a leaf."""
        self.call(_ENGINE + _ACCUMULATION, (), self._backward, _ACCUMULATION, accumulate)

    def function_events(self) -> EventList:
        """The events with their children, and times in microseconds from the first event.

        If a call's only child has the same name, the two are one event, as in PyTorch's profile.
        """
        origin = self.events[0].start if self.events else 0
        made: dict[Event, FunctionEvent] = {}
        for i, event in enumerate(self.events, 1):
            made[event] = found = self._function_event(i, event, origin)
            parent = event.parent
            while parent is not None and parent.end < event.end:
                parent = parent.parent                  # the parent ended first: the blocks overlap
            if parent is not None:
                found.cpu_parent = made[parent]
                made[parent].cpu_children.append(found)
        for found in reversed(made.values()):
            if found.cpu_parent is not None:
                found.cpu_parent.cpu_memory_usage += found.cpu_memory_usage
        found_events = EventList([event for event in made.values() if not _is_parent_again(event)],
                                 profile_memory=self.memory, with_flops=self.flops)
        found_events._tree_built = True
        return found_events

    def _function_event(self, number: int, event: Event, origin: int) -> FunctionEvent:
        """What a program sees of a call. The steps of a schedule have one name."""
        name = "ProfilerStep*" if event.name.startswith("ProfilerStep#") else event.name
        backward = event.scope == _NODE or event.name.startswith(_ENGINE)
        shapes = [*event.shapes]
        return FunctionEvent(
            number, name, self.thread_id, (event.start - origin) / 1e3, (event.end - origin) / 1e3, overload_name="",
            trace_name=event.name, fwd_thread=self.thread_id if backward else 0, input_shapes=shapes, stack=[],
            scope=event.scope, cpu_memory_usage=event.memory or 0, flops=event.flops, concrete_inputs=[], kwinputs={},
            is_user_annotation=event.scope == MARKED, structured_input_shapes=shapes, structured_input_strides=[],
            activity_type="user_annotation" if event.scope == MARKED else "cpu_op", flow_id=0, flow_type=0,
            flow_start=False, metadata_json="", input_dtypes=[])


def _is_parent_again(event: FunctionEvent) -> bool:
    """Whether an event repeats its parent. If so, the parent gets the children of the event."""
    parent = event.cpu_parent
    if parent is None or parent.name != event.name or len(parent.cpu_children) > 1:
        return False
    parent.cpu_children = event.cpu_children
    for child in event.cpu_children:
        child.cpu_parent = parent
    return True


def _allocated(found: Any, given: Any) -> int:
    """The bytes of the arrays of a result that lie in no memory of an argument."""
    held = {id(owner) for owner, _ in _owners(given)}
    return sum({id(owner): size for owner, size in _owners(found) if id(owner) not in held}.values())


def _owners(values: Any) -> Iterator[tuple[Any, int]]:
    """The owner of the memory of each array among the values, and the bytes of the owner."""
    for value in values if isinstance(values, tuple | list) else (values,):
        array = value._array if isinstance(value, TensorBase) else value
        if isinstance(array, np.ndarray):
            while isinstance(array.base, np.ndarray):
                array = array.base
            yield array, array.nbytes
