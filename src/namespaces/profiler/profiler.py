"""Profiles of training loops: a schedule says in which steps a profile of `torch.autograd.profiler` is open."""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any

from ..autograd import profiler as autograd_profiler
from ..autograd.profiler_activities import KinetoStepTracker, ProfilerActivity, supported_activities
from ..autograd.profiler_report import EventList
from ..foundations.errors import warn, warn_once

__all__ = ["supported_activities", "ProfilerAction", "schedule", "tensorboard_trace_handler", "profile",
           "ExecutionTraceObserver"]
PROFILER_STEP_NAME = "ProfilerStep"


class ProfilerAction(Enum):
    """What a profile does in a step. `DEVICE_STOPPED` is for devices, which are not here."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


_NONE, _WARMUP, _RECORD, _SAVE, _STOPPED = ProfilerAction
_Schedule = Callable[[int], ProfilerAction]


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> _Schedule:
    """A function from the number of a step to its `ProfilerAction`.

    The first `skip_first` steps do nothing. Then each cycle waits, warms up, and records. After `repeat` cycles nothing
    is recorded any more; 0 means no end. A `skip_first_wait` other than 0 leaves out the wait of the first cycle.
    Raises AssertionError for a negative number, and for `active` below 1. Warns if `warmup` is 0.

    >>> import retrograd as torch
    >>> action = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [action(step).name for step in range(6)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE', 'NONE']
    """
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0).")
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return _NONE
        if skip_first_wait:
            step += wait
        cycle, place = divmod(step, length)
        if (repeat and cycle >= repeat) or place < wait:
            return _NONE
        if place < wait + warmup:
            return _WARMUP
        return _SAVE if place == length - 1 else _RECORD

    return action


def _always(step: int) -> ProfilerAction:
    return _RECORD


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False,
                              use_python_export: bool = False) -> Callable[[_KinetoProfile], None]:
    """A function for `on_trace_ready` that writes each trace to a file of its own in this folder.

    The name of a file is `worker_name`, or the names of the host and the process, the time, and `.pt.trace.json`. The
    function raises RuntimeError if the folder cannot be made.
    """
    def handler(prof: _KinetoProfile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


# PyTorch's names of other devices, in the order in which one of several is chosen.
_DEVICES = {ProfilerActivity.CUDA: "cuda", ProfilerActivity.XPU: "xpu", ProfilerActivity.MTIA: "mtia",
            ProfilerActivity.HPU: "hpu", ProfilerActivity.PrivateUse1: "privateuseone"}


class ExecutionTraceObserver:
    """PyTorch writes what ran to a file, for a replay. To register such a file raises RuntimeError here."""

    def register_callback(self, output_file_path: str) -> ExecutionTraceObserver:
        """Raises RuntimeError: no trace is written for a replay."""
        raise RuntimeError("retrograd writes no execution traces. Use torch.profiler.profile and "
                           "export_chrome_trace(path).")


class _KinetoProfile:
    """A profile that the program starts and stops itself."""

    def __init__(self, *, activities: Iterable[Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False, custom_trace_id_callback: Callable[[], str] | None = None,
                 post_processing_timeout_s: float | None = None) -> None:
        self.activities = _checked(activities)
        self.record_shapes, self.with_flops, self.profile_memory = record_shapes, with_flops, profile_memory
        self.with_stack, self.with_modules, self.acc_events = with_stack, with_modules, acc_events
        self.experimental_config, self.execution_trace_observer = experimental_config, execution_trace_observer
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.profiler: autograd_profiler.profile | None = None
        self.use_device = next((name for each, name in _DEVICES.items() if each in self.activities), None)
        self.preset_metadata: dict[str, str] = {}
        self._trace_metadata: dict[str, str] = {}
        self._past: list[Any] = []

    def start(self) -> None:
        """Begin to record."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """Stop recording."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Make a new profile. The events of the former one are forgotten, or kept with `acc_events=True`.

        Raises AssertionError if the activities are those of other devices alone.
        """
        if self.profiler is not None:
            if self.acc_events:
                self._past = self.profiler.function_events
            else:
                warn_once("Warning: Profiler clears events at the end of each cycle. Only events from the current "
                          "cycle will be reported. To keep events across cycles, set acc_events=True.")
        self.profiler = autograd_profiler.profile(
            use_cpu=ProfilerActivity.CPU in self.activities, use_device=self.use_device,
            record_shapes=self.record_shapes, with_flops=self.with_flops, profile_memory=self.profile_memory,
            with_stack=self.with_stack, with_modules=self.with_modules, use_kineto=True,
            experimental_config=self.experimental_config, acc_events=self.acc_events,
            custom_trace_id_callback=self.custom_trace_id_callback)
        self.profiler.prepare()

    def start_trace(self) -> None:
        """Begin to record with the profile of `prepare_trace`."""
        made = self._made("starting trace")
        self._trace_metadata.update(self.preset_metadata)
        made.__enter__()

    def stop_trace(self) -> None:
        """Stop recording, and make the events."""
        made = self._made("stopping trace")
        made.__exit__(None, None, None)
        made.function_events.extend(self._past)
        self._past = []

    def _made(self, doing: str) -> autograd_profiler.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {doing}")
        return self.profiler

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the events to a file for chrome://tracing or ui.perfetto.dev, packed if the path ends with `.gz`."""
        trace = self._made("exporting chrome trace").chrome_trace()
        trace |= {key: json.loads(value) for key, value in self._trace_metadata.items()}
        text = json.dumps(trace | {"traceName": path})
        Path(path).write_bytes(gzip.compress(text.encode()) if path.endswith(".gz") else text.encode())

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks of the events, which are empty. Raises AssertionError without `with_stack=True`."""
        self._made("exporting stacks").export_stacks(path, metric)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stop to record the activities, or begin again."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The events added up by name, or by name and input shapes if the shapes were recorded."""
        return self._made("getting key averages").key_averages(group_by_input_shape, group_by_stack_n)

    def events(self) -> EventList:
        """The events, in order of their start."""
        return self._made("accessing events").function_events

    def add_metadata(self, key: str, value: str) -> None:
        """Write a text to the trace under this key."""
        self._trace_metadata[key] = json.dumps(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Write a value to the trace under this key. `value` is its text in JSON."""
        self._trace_metadata[key] = value

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Write a value to the traces that begin from now on. `value` is its text in JSON."""
        self.preset_metadata[key] = value

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """PyTorch draws the memory over time. This method raises RuntimeError."""
        raise RuntimeError("retrograd draws no memory over time. Use profile(profile_memory=True) and "
                           "key_averages().table().")


def _checked(activities: Iterable[Any] | None) -> set[ProfilerActivity]:
    """The activities as a set. An activity may be the key of a dict of names."""
    found: set[ProfilerActivity] = set()
    for item in supported_activities() if activities is None else activities:
        if not isinstance(item, ProfilerActivity | dict):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        for activity in item if isinstance(item, dict) else [item]:
            if activity in found:
                raise ValueError(f"Activity {activity} specified more than once")
            found.add(activity)
    return found


class profile(_KinetoProfile):
    """Watch what this thread computes, in the steps that the schedule chooses.

    Call `step()` at the end of each step of a loop. `on_trace_ready` is called with the profile at the end of each
    cycle of the schedule, when `events()`, `key_averages()` and `export_chrome_trace()` show the cycle. Without a
    schedule the whole block is one cycle. The other options are those of `torch.autograd.profiler.profile`.

    >>> import retrograd as torch
    >>> with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=1, repeat=1)) as prof:
    ...     for _ in range(3):
    ...         _ = torch.ones(2) * 2
    ...         prof.step()
    >>> [(event.key, event.count) for event in prof.key_averages()]
    [('ProfilerStep*', 1), ('aten::ones', 1), ('aten::mul', 1)]
    """

    def __init__(self, *, activities: Iterable[Any] | None = None, schedule: _Schedule | None = None,
                 on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Any = None, execution_trace_observer: Any = None,
                 acc_events: bool = False, use_cuda: bool | None = None,
                 custom_trace_id_callback: Callable[[], str] | None = None,
                 post_processing_timeout_s: float | None = None) -> None:
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
        activities = None if activities is None else [*activities]
        if activities is not None and not any(isinstance(item, ProfilerActivity) or (isinstance(item, dict) and item)
                                              for item in activities):
            raise AssertionError("No valid profiler activities found")
        super().__init__(
            activities=activities, record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack,
            with_flops=with_flops, with_modules=with_modules, experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer, acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback, post_processing_timeout_s=post_processing_timeout_s)
        self.schedule, self.record_steps = schedule or _always, schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.step_rec_fn: autograd_profiler.record_function | None = None
        self.current_action = self._scheduled()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    def start(self) -> None:
        """Begin with the first step."""
        self._enter(_NONE, self.current_action)
        self._mark_step()

    def stop(self) -> None:
        """End with the current step. If this step is recorded, the cycle is complete."""
        self._end_mark()
        if self.current_action is _WARMUP:
            self.start_trace()
            self.stop_trace()
        elif self.current_action in (_RECORD, _SAVE):
            self.stop_trace()
            self._trace_ready()

    def step(self) -> None:
        """End a step, and begin the next one."""
        self._end_mark()
        before = self.current_action
        self.step_num += 1
        self.current_action = self._scheduled()
        self._leave(before, self.current_action)
        self._enter(before, self.current_action)
        if os.environ.get("KINETO_USE_DAEMON"):
            KinetoStepTracker.increment_step(PROFILER_STEP_NAME)
        self._mark_step()

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Take the id of the next trace from this function."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """The id of the trace, or None before the profile has begun."""
        return None if self.profiler is None else self.profiler.trace_id

    def _scheduled(self) -> ProfilerAction:
        action = self.schedule(self.step_num)
        if action is _STOPPED:
            raise ValueError("ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be "
                             "returned by a user-provided schedule")
        return action

    def _leave(self, before: ProfilerAction, now: ProfilerAction) -> None:
        """End what the action of the last step began, unless the action of the new step continues it."""
        if before is _SAVE:
            self.stop_trace()
            self._trace_ready()
        elif (before is _RECORD and now in (_NONE, _WARMUP)) or (before is _WARMUP and now is _NONE):
            warn(f"Incorrect schedule: {before.name} followed by {now.name}")
            if before is _WARMUP:
                self.start_trace()
            self.stop_trace()

    def _enter(self, before: ProfilerAction, now: ProfilerAction) -> None:
        """Prepare a trace, or begin it, unless the action of the last step has done so."""
        if (now in (_WARMUP, _RECORD, _SAVE) and before in (_NONE, _SAVE)) or (before, now) == (_RECORD, _WARMUP):
            self.prepare_trace()
        if now in (_RECORD, _SAVE) and before is not _RECORD:
            self.start_trace()

    def _trace_ready(self) -> None:
        if self.on_trace_ready:
            self.on_trace_ready(self)

    def _mark_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = autograd_profiler.record_function(f"{PROFILER_STEP_NAME}#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_mark(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None
