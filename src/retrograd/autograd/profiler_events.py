"""The events of a profile: calls, and averages of calls.

Times are in microseconds, memory in bytes. No profile watches another device than the CPU, so the figures of other
devices are 0, unless a program makes an event with kernels itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..foundations.errors import warn
from .profiler_activities import DeviceType

_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def time_text(microseconds: float, unit: str | None = None) -> str:
    """A time with three decimals, in `unit` ('s', 'ms' or 'us') or by default in the unit that suits it.

    >>> time_text(4772.0)
    '4.772ms'
    """
    if unit not in _UNITS:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / _UNITS[unit]:.3f}{unit}"


class Interval:
    """A start and an end, in microseconds since the profile began."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """The length of the interval."""
        return self.end - self.start


class Kernel(NamedTuple):
    """What a call has run on another device."""

    name: str
    device: int
    duration: float


def _text_of(time: str) -> property:
    """The property that shows a time as text."""
    return property(lambda self: time_text(getattr(self, time)))


def _formerly(name: str, now: str, remedy: str = ". Use `{}` instead.") -> property:
    """The property with the former name of a figure, which warns."""

    def former(self: Any) -> Any:
        warn(f"`{name}` is deprecated" + remedy.format(now), FutureWarning)
        return getattr(self, now)

    return property(former)


class FormattedTimesMixin:
    """The times that a call and an average of calls have in common, as numbers and as text."""

    count: int
    cpu_time_total: Any
    device_time_total: Any

    @property
    def cpu_time(self) -> float:
        """The mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The mean time of a call on another device."""
        return self.device_time_total / self.count if self.count else 0.0

    cuda_time = _formerly("cuda_time", "device_time", ", please use `{}` instead.")
    cpu_time_str = _text_of("cpu_time")
    device_time_str = _text_of("device_time")
    cpu_time_total_str = _text_of("cpu_time_total")
    device_time_total_str = _text_of("device_time_total")
    self_cpu_time_total_str = _text_of("self_cpu_time_total")
    self_device_time_total_str = _text_of("self_device_time_total")


class FunctionEvent(FormattedTimesMixin):
    """One call: its name, its `time_range`, its parent call, and its child calls.

    `scope` is 1 for a node of a backward pass, and 7 for a block that `record_function` names.
    """

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float,
                 overload_name: str | None = None, fwd_thread: int | None = None, input_shapes: Any = None,
                 stack: Any = None, scope: int = 0, use_device: str | None = None, cpu_memory_usage: int = 0,
                 device_memory_usage: int = 0, is_async: bool = False, is_remote: bool = False, sequence_nr: int = -1,
                 node_id: int = -1, device_type: DeviceType = DeviceType.CPU, device_index: int = 0,
                 device_resource_id: int | None = None, is_legacy: bool = False, flops: int | None = None,
                 trace_name: str | None = None, concrete_inputs: Any = None, kwinputs: Any = None,
                 is_user_annotation: bool = False, is_python_function: bool = False, activity_type: str | None = None,
                 **rest: Any) -> None:
        self.id, self.node_id, self.name, self.trace_name = id, node_id, name, trace_name
        self.overload_name, self.thread, self.fwd_thread = overload_name, thread, fwd_thread
        self.time_range, self.count = Interval(start_us, end_us), 1
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes, self.concrete_inputs, self.kwinputs = input_shapes, concrete_inputs, kwinputs
        self.stack, self.scope, self.use_device = stack, scope, use_device
        self.cpu_memory_usage, self.device_memory_usage = cpu_memory_usage, device_memory_usage
        self.is_async, self.is_remote, self.is_legacy, self.flops = is_async, is_remote, is_legacy, flops
        self.sequence_nr, self.device_type, self.device_index = sequence_nr, device_type, device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_user_annotation, self.is_python_function = is_user_annotation, is_python_function
        self.activity_type = activity_type
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1
        self.total_device_percent: Any = -1
        self._trace(**rest)

    def _trace(self, metadata_json: str | None = None, flow_id: int | None = None, flow_type: int | None = None,
               flow_start: bool | None = None, external_id: int = 0, linked_correlation_id: int = 0,
               extra_meta: Any = None, structured_input_shapes: Any = None, structured_input_strides: Any = None,
               input_dtypes: Any = None, python_id: int = -1, python_parent_id: int = -1,
               python_module_id: int = -1) -> None:
        """Keep what only traces of other devices and of Python's functions have."""
        self._metadata_json, self.event_metadata = metadata_json, extra_meta
        self.flow_id, self.flow_type, self.flow_start = flow_id, flow_type, flow_start
        self.external_id, self.linked_correlation_id = external_id, linked_correlation_id
        self.structured_input_shapes, self.structured_input_strides = structured_input_shapes, structured_input_strides
        self.input_dtypes, self.python_id = input_dtypes, python_id
        self.python_parent_id, self.python_module_id = python_parent_id, python_module_id

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Note what the call has run on another device."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add a call that this call has made. Raises AssertionError for another object."""
        if not isinstance(child, FunctionEvent):
            raise AssertionError("Expected child to be a FunctionEvent")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Set the call that has made this call. Raises AssertionError for another object."""
        if not isinstance(parent, FunctionEvent):
            raise AssertionError("Expected parent to be a FunctionEvent")
        self.cpu_parent = parent

    metadata_json = _formerly("metadata_json", "_metadata_json", ". Use `event_metadata` instead.")
    cuda_time_total = _formerly("cuda_time_total", "device_time_total")
    self_cuda_time_total = _formerly("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = _formerly("self_cuda_memory_usage", "self_device_memory_usage")

    @property
    def key(self) -> str:
        """The key by which calls are added up: the name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """The time of the call, including the calls inside it."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of the call, without the calls inside it."""
        if self.is_async:
            return 0
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    @property
    def self_cpu_memory_usage(self) -> int:
        """The bytes that this call has allocated, without the calls inside it."""
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum([child.cpu_memory_usage for child in self.cpu_children])

    @property
    def device_time_total(self) -> float:
        """The time of the call's kernels on another device, including those of the calls inside it."""
        if self.is_async or not self.use_device:
            return 0
        inside = 0.0 if self.is_legacy else sum([child.device_time_total for child in self.cpu_children], 0.0)
        return sum([kernel.duration for kernel in self.kernels]) + inside

    @property
    def self_device_time_total(self) -> float:
        """The time of the call's kernels on another device, without those of the calls inside it."""
        return self.device_time_total - sum([child.device_time_total for child in self.cpu_children])

    @property
    def self_device_memory_usage(self) -> int:
        """The bytes on another device, without those of the calls inside this call."""
        if self.is_async:
            return 0
        return self.device_memory_usage - sum([child.device_memory_usage for child in self.cpu_children])

    def __repr__(self) -> str:
        device = self.use_device
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
                f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start} end_us={self.time_range.end} "
                f"cpu_children={[child.id for child in self.cpu_children]} {device}_time={self.device_time_str} "
                f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage} "
                f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} "
                f"is_legacy={self.is_legacy}>")


class FunctionEventAvg(FormattedTimesMixin):
    """All calls of one name, or of one name and one set of shapes: their number and their total times."""

    is_user_annotation: bool

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = self.node_id = 0
        self.is_async = self.is_remote = self.is_legacy = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_device_time_total: float = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.device_memory_usage = self.self_device_memory_usage = self.flops = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: Any = None
        self.scope: int | None = None
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add another call, or the calls of another average. Raises AssertionError if the name differs."""
        if not isinstance(other, (FunctionEvent, FunctionEventAvg)):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            self.key, self.node_id, self.is_async, self.is_remote = (
                other.key, other.node_id, other.is_async, other.is_remote)
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
            self.overload_name, self.input_shapes, self.stack = other.overload_name, other.input_shapes, other.stack
            self.scope, self.device_type, self.is_legacy = other.scope, other.device_type, other.is_legacy
            self.use_device, self.is_user_annotation = other.use_device, other.is_user_annotation
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.device_time_total += other.device_time_total
        self.self_device_time_total += other.self_device_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.device_memory_usage += other.device_memory_usage
        self.self_device_memory_usage += other.self_device_memory_usage
        self.flops += other.flops or 0
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
                f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
                f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>")
