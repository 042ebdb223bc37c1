"""torch.autograd.profiler: what ran, how often, and for how long.

`profiler_recording` has the watcher of a thread, `profiler_report` the events and their table. While no profile is
open, nothing is watched and nothing is slower.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any

from ..foundations.errors import noted, warn
from ..foundations.modes import local
from ..foundations.names import missing
from .profiler_activities import (
    DeviceType,
    KinetoStepTracker,
    ProfilerActivity,
    emit_itt,
    emit_nvtx,
    kineto_available,
    load_nvprof,
    supported_activities,
)
from .profiler_events import FunctionEvent, FunctionEventAvg
from .profiler_recording import MARKED, Recording
from .profiler_report import EventList

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "KinetoStepTracker", "ProfilerActivity",
           "emit_itt", "emit_nvtx", "kineto_available", "load_nvprof", "profile", "record_function",
           "supported_activities"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


_OTHER_DEVICES = ("cuda", "xpu", "hpu")                        # which PyTorch knows, and which are not here
_ENTER = "profiler::_record_function_enter_new"


class profile:
    """Watch what this thread computes while the block runs.

    The profile has operators, the functions composed of them, the nodes of backward passes, and the blocks named by
    `record_function`, with wall-clock times. With `enabled=False` the block runs unwatched. `record_shapes` notes the
    shapes of inputs too. `with_flops` counts the floating-point operations of products of matrices, convolutions,
    sums and products. `profile_memory` counts the bytes that results take. There is only the CPU, so `use_cuda` warns.
    The profile notes no stacks, and `with_stack`, `with_modules` and the options for Kineto change nothing.

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
                 experimental_config: Any = None, acc_events: bool = False,
                 custom_trace_id_callback: Callable[[], str] | None = None,
                 post_processing_timeout_s: float | None = None, activity_filters: Any = None) -> None:
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda:
            warn("The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` "
                 "instead.", FutureWarning)
        if not use_cpu and not use_kineto:
            raise noted(
                AssertionError("Device-only events supported only with Kineto (use_kineto=True)"),
                because="there is no device but the CPU")
        device = "cuda" if use_cuda else use_device
        if device in _OTHER_DEVICES:
            warn(f"{device.upper()} is not available, disabling {device.upper()} profiling", UserWarning)
        elif device == "mtia":
            raise AssertionError("Legacy MTIA profiling is not supported. Requires use_kineto=True on MTIA devices.")
        elif device is not None:
            warn(f"The {device} is not a valid device option.", UserWarning)
        if not use_cpu:
            raise AssertionError("No activities specified for the profiler")
        self.use_cuda, self.use_device, self.record_shapes = False, None, record_shapes or with_flops
        self.with_flops, self.profile_memory, self.with_stack = with_flops, profile_memory, with_stack
        self.with_modules, self.acc_events = with_modules, acc_events
        self.custom_trace_id_callback, self.trace_id = custom_trace_id_callback, ""

    def create_trace_id(self) -> str:
        """An id for a trace: that of the program's callback, or a random one."""
        return self.custom_trace_id_callback() if self.custom_trace_id_callback else os.urandom(16).hex().upper()

    def prepare(self) -> None:
        """Give the trace its id."""
        self.trace_id = self.create_trace_id()

    _recording: Recording | None = None
    _events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self._recording is not None:
            raise noted(
                RuntimeError("Profiler context manager is not reentrant"), instead="make another profile")
        if not self.trace_id:
            self.prepare()
        self._recording = Recording(self.record_shapes, memory=self.profile_memory, flops=self.with_flops)
        self._recording.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._recording is not None and self._events is None:
            self._recording.stop()
            self._events = self._recording.function_events()

    @property
    def function_events(self) -> EventList:
        """The events, in order of their start. The list is empty before the block has ended."""
        if self._events is None:
            nothing = EventList()
            nothing._tree_built = True
            return nothing
        return self._events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The events added up by name, or by name and input shapes if the shapes were recorded."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

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

    def chrome_trace(self) -> dict[str, Any]:
        """The events and the options in the Trace Event Format. Raises RuntimeError before the block has ended."""
        if self._events is None:
            raise RuntimeError("export_chrome_trace(): the profile has not ended, so there is nothing to write")
        options = {name: 1 for name in ("with_flops", "profile_memory", "with_stack", "record_shapes", "with_modules")
                   if getattr(self, name)}
        return {"schemaVersion": 1, "trace_id": self.trace_id, **options, **self._events.chrome_trace()}

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events to a file for chrome://tracing or ui.perfetto.dev.

        Raises RuntimeError before the block has ended.
        """
        trace = self.chrome_trace()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file)

    def export_stacks(self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total") -> None:
        """Write the stacks of the events: see `EventList.export_stacks`.

        Raises AssertionError without `with_stack=True` and before the block has ended.
        """
        if self._events is None:
            raise AssertionError("Expected profiling results")
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._events.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stop to record operators, or begin again, if `ProfilerActivity.CPU` is among the activities."""
        if self._recording is not None and ProfilerActivity.CPU in activities:
            self._recording.toggle(enabled)

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
        self.run_callbacks_on_exit = True
        self.record: Any = None
        self._open: list[Any] = []

    def __enter__(self) -> record_function:
        if not isinstance(self.name, str):
            raise RuntimeError(_wrong_type(0, "name", "str", self.name))
        if self.args is not None and not isinstance(self.args, str):
            raise RuntimeError(_wrong_type(1, "args", "Optional[str]", self.args))
        observer = local.thread.observer
        self._open.append((observer, observer.enter(self.name, scope=MARKED) if observer is not None else None))
        return self

    def __exit__(self, *error: object) -> None:
        if not self._open:
            raise AssertionError("Expected record to be set")
        observer, event = self._open.pop()
        if observer is not None:
            observer.leave(event)

    def _recreate_cm(self) -> record_function:
        """The block around one call of a decorated function."""
        return type(self)(self.name, self.args)


def _wrong_type(place: int, argument: str, expected: str, value: Any) -> str:
    return (f"{_ENTER}() Expected a value of type '{expected}' for argument '{argument}' but instead found type "
            f"'{type(value).__name__}'.\nPosition: {place}\nValue: {value}\nDeclaration: {_ENTER}(str name, str? "
            "args=None) -> __torch__.torch.classes.profiler._RecordFunction\nCast error details: Unable to cast Python "
            f"instance of type {type(value)} to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in "
            "debug mode for details)")
