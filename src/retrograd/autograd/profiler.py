"""torch.autograd.profiler: what ran, how often, and for how long.

While a profile is open it stands in this thread where kernels are called (`modes.Here.run`), and the engine tells it
of each node; while none is, nothing is asked and nothing is paid. In a profiled backward pass the derivative rules
compute with tensors, so that each of their operations shows below its node.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from time import perf_counter_ns
from types import TracebackType
from typing import Any

from ..modes import local
from ..ops.framework import Op
from .profiler_report import EventList, FunctionEvent

ENGINE = "autograd::engine::evaluate_function: "


class Recording:
    """The events of one profile: a list of (name, start, end, depth) in nanoseconds, in order of their start."""

    def __init__(self) -> None:
        self.here = local.here
        self.thread = threading.get_native_id()
        self.events: list[list[Any]] = []
        self.depth = 0

    def start(self) -> None:
        """Begin to watch this thread."""
        self.before = (self.here.run, self.here.observer)
        self.here.run, self.here.observer = self.run, self

    def stop(self) -> None:
        """Leave the thread as it was."""
        self.here.run, self.here.observer = self.before

    def enter(self, name: str) -> list[Any]:
        """Open an event below the one that is open."""
        event = [name, perf_counter_ns(), 0, self.depth]
        self.events.append(event)
        self.depth += 1
        return event

    def leave(self, event: list[Any]) -> None:
        """Close an event."""
        event[2] = perf_counter_ns()
        self.depth = event[3]

    def run(self, kernel: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a kernel, and note it under PyTorch's name where it belongs to an operator."""
        op = Op.by_kernel.get(kernel)
        if op is None:
            return self.here.quiet.run(kernel, *args, **kwargs)
        event = self.enter(f"aten::{op.name}")
        try:
            return self.here.quiet.run(kernel, *args, **kwargs)
        finally:
            self.leave(event)

    def backward(self, node: Any, gradients: Callable[[Any, Any], Any], cotangent: Any) -> Any:
        """Run a node of a backward pass."""
        name = node.name()
        outer = self.enter(ENGINE + name)
        inner = self.enter(name)
        try:
            return gradients(node, cotangent)
        finally:
            self.leave(inner)
            self.leave(outer)

    def accumulate(self, accumulate: Callable[[], None]) -> None:
        """Run the accumulation of a gradient into a leaf."""
        name = "torch::autograd::AccumulateGrad"
        outer = self.enter(ENGINE + name)
        inner = self.enter(name)
        try:
            accumulate()
        finally:
            self.leave(inner)
            self.leave(outer)


class profile:
    """Watch the operations of this thread while the block runs.

    `use_cuda` is accepted and has nothing to watch: retrograd computes on the CPU. With `enabled=False` the block
    runs unwatched. Times are wall-clock.

    >>> import retrograd as torch
    >>> with torch.autograd.profiler.profile() as prof:
    ...     _ = torch.ones(3) * 2
    >>> [event.key for event in prof.key_averages()]
    ['aten::mul']
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, use_cpu: bool = True,
                 record_shapes: bool = False) -> None:
        self.enabled = enabled and use_cpu
        self.use_cuda, self.record_shapes = use_cuda, record_shapes
        self.function_events: EventList | None = None
        self._recording: Recording | None = None

    def __enter__(self) -> profile:
        if self.enabled:
            if self._recording is not None:
                raise RuntimeError("Profiler context manager is not reentrant")
            self._recording = Recording()
            self._recording.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._recording is not None:
            self._recording.stop()
            self.function_events = _events(self._recording)

    def _finished(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """The events added up by name."""
        return self._finished().key_averages()

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_name_column_width: int = 55) -> str:
        """The events one by one, as text."""
        return self._finished().table(sort_by, row_limit, max_name_column_width)

    def total_average(self) -> Any:
        """All events added up."""
        return self._finished().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events, nested ones counted once."""
        return self._finished().self_cpu_time_total

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events as a file for chrome://tracing or ui.perfetto.dev."""
        self._finished().export_chrome_trace(path)

    def __str__(self) -> str:
        return "<unfinished torch.autograd.profile>" if self.function_events is None else self.table(row_limit=-1)

    __repr__ = __str__


def _events(recording: Recording) -> EventList:
    """The raw events with their children, times in microseconds from the first."""
    origin = recording.events[0][1] if recording.events else 0
    found = EventList()
    open_: list[FunctionEvent] = []
    for i, (name, start, end, depth) in enumerate(recording.events):
        event = FunctionEvent(i + 1, name, recording.thread, (start - origin) / 1e3, (end - origin) / 1e3)
        del open_[depth:]
        if open_:
            event.cpu_parent = open_[-1]
            open_[-1].cpu_children.append(event)
        open_.append(event)
        found.append(event)
    return found


class record_function:
    """Give a block, or as a decorator a function, a name in the profile."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._open: list[Any] = []

    def __enter__(self) -> record_function:
        observer = local.here.observer
        self._open.append((observer, observer.enter(self.name) if observer is not None else None))
        return self

    def __exit__(self, *error: object) -> None:
        observer, event = self._open.pop()
        if observer is not None:
            observer.leave(event)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def named(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.name, self.args):
                return function(*args, **kwargs)

        return named
