"""torch.autograd.profiler: what ran, how often, and for how long.

While a profile is open, it stands on the seam (`ThreadState.transform`), which reports every call of an op. The engine
reports nodes to it, and composed functions report their calls. While no profile is open, none of this is in place and
nothing is slower. `profiler_report` has the events and their table.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..errors import warn
from ..kernels.shape import StrideError
from ..modes import Transform, local
from ..ops.basic import copy
from ..ops.framework import Op
from ..tensors.recording.overriding import Attention
from ..tensors.state.base import TensorBase
from .profiler_report import EventList, FunctionEvent, FunctionEventAvg

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]

_ENGINE = "autograd::engine::evaluate_function: "
_ACCUMULATION = "torch::autograd::AccumulateGrad"
# Operators whose name in PyTorch's profiler differs from their own.
_SHOWN = {"to": "_to_copy"}
# Ops that PyTorch's profiler does not show, or whose functions appear in the profile themselves.
_UNSHOWN = frozenset(["affine", "blend", "call", "clip_grad_", "fresh", "listed", "look", "new_full", "random_like",
                      "_fused_sgd_", "_fused_adam_"])


class profile:
    """Watch what this thread computes while the block runs.

    The profile has operators, the functions composed of them, the nodes of backward passes, and the blocks named by
    `record_function`, with wall-clock times. With `enabled=False` the block runs unwatched. `record_shapes` notes the
    shapes of inputs too. There is only the CPU, so `use_cuda` warns. The profile does not measure memory,
    floating-point operations or stacks, and the options for them change nothing.

    If a second profile is opened inside the first, the second one sees what runs in its block, and the first does not.
    Entering one profile twice raises RuntimeError.

    >>> import retrograd as torch
    >>> with torch.autograd.profiler.profile() as prof:
    ...     _ = torch.ones(3) * 2
    >>> [event.key for event in prof.key_averages()]
    ['aten::ones', 'aten::mul']
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None,
                 record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True,
                 acc_events: bool = False) -> None:
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda:
            warn("The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` "
                 "instead.", FutureWarning)
        if use_cuda or use_device == "cuda":
            warn("CUDA is not available, disabling CUDA profiling", UserWarning)
        elif use_device is not None:
            warn(f"The {use_device} is not a valid device option.", UserWarning)
        if not use_cpu:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True). There is no device "
                                 "but the CPU.")
        self.use_cuda, self.use_device, self.record_shapes = False, None, record_shapes

    _recording: Recording | None = None
    _events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self._recording is not None:
            raise RuntimeError("Profiler context manager is not reentrant. Make another profile.")
        self._recording = Recording(self.record_shapes)
        self._recording.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._recording is not None and self._events is None:
            self._recording.stop()
            self._events = self._recording.function_events()

    @property
    def function_events(self) -> EventList:
        """The events, in order of their start. The list is empty before the block has ended."""
        return EventList() if self._events is None else self._events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The events added up by name, or by name and input shapes if the shapes were recorded."""
        return self.function_events.key_averages(group_by_input_shape)

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int | None = 75,
              max_name_column_width: int | None = 55, max_shapes_column_width: int | None = 80,
              header: str | None = None, top_level_events_only: bool = False) -> str:
        """The events one by one, as text: see `EventList.table`."""
        return self.function_events.table(sort_by, row_limit, max_src_column_width, max_name_column_width,
                                          max_shapes_column_width, header, top_level_events_only)

    def total_average(self) -> FunctionEventAvg:
        """All events added up."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events. Nested events count once."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events to a file for chrome://tracing or ui.perfetto.dev.

        Raises RuntimeError before the block has ended.
        """
        if self._events is None:
            raise RuntimeError("export_chrome_trace(): the profile has not ended, so there is nothing to write")
        self._events.export_chrome_trace(path)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._events is None else str(self._events)

    def __repr__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self._events is None else repr(self._events)


class record_function(ContextDecorator):
    """Give a block a name in the profile, or a function if used as a decorator.

    >>> import retrograd as torch
    >>> with torch.autograd.profiler.profile() as prof, torch.autograd.profiler.record_function("doubling"):
    ...     _ = torch.tensor(1.) * 2
    >>> [(event.name, [child.name for child in event.cpu_children]) for event in prof.function_events]
    [('doubling', ['aten::mul']), ('aten::mul', [])]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._open: list[Any] = []

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise RuntimeError(f"record_function() expects a str for argument 'name', not {type(self.name).__name__}")
        observer = local.thread.observer
        self._open.append((observer, observer.enter(self.name) if observer is not None else None))
        return self

    def __exit__(self, *error: object) -> None:
        observer, event = self._open.pop()
        if observer is not None:
            observer.leave(event)

    def _recreate_cm(self) -> record_function:
        """The block around one call of a decorated function."""
        return type(self)(self.name, self.args)


# How a profile learns what runs in its thread


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
