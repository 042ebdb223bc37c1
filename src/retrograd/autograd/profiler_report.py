"""The events of a profile and their table, laid out character for character as in PyTorch.

Times are in microseconds. The only device is the CPU, and memory is not measured, so the figures of other devices and
of memory are 0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

_COLUMNS = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
_NUMBER_WIDTH = 12
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def time_text(microseconds: float, unit: str | None = None) -> str:
    """A time with three decimals, in `unit` ('s', 'ms' or 'us') or by default in the unit that suits it.

    >>> time_text(4772.0)
    '4.772ms'
    """
    if unit not in _UNITS:
        unit = "s" if microseconds >= 1e6 else "ms" if microseconds >= 1e3 else "us"
    return f"{microseconds / _UNITS[unit]:.3f}{unit}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


class Interval(NamedTuple):
    """A start and an end, in microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        """The length of the interval."""
        return self.end - self.start


def _text_of(time: str) -> property:
    """The property that shows a time as text."""
    return property(lambda self: time_text(getattr(self, time)))


class _Figures:
    """The figures that a call and an average of calls have in common."""

    count: int
    input_shapes: Any
    cpu_parent: FunctionEvent | None
    device_time = device_time_total = self_device_time_total = 0.0
    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = 0
    node_id, overload_name, use_device, is_async, is_remote, is_legacy = -1, "", None, False, False, False

    @property
    def cpu_time_total(self) -> float:
        """The time of all calls, including the calls inside them."""
        raise NotImplementedError

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls, without the calls inside them."""
        raise NotImplementedError

    @property
    def cpu_time(self) -> float:
        """The mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    cpu_time_str = _text_of("cpu_time")
    cpu_time_total_str = _text_of("cpu_time_total")
    self_cpu_time_total_str = _text_of("self_cpu_time_total")


class FunctionEvent(_Figures):
    """One call: its name, its `time_range`, its parent call, and its child calls."""

    count = 1
    sequence_nr = -1

    def __init__(self, id: int, name: str, thread: int, start_us: float, end_us: float,
                 input_shapes: Any = ()) -> None:
        self.id, self.name, self.thread = id, name, thread
        self.time_range = Interval(start_us, end_us)
        self.input_shapes = [*input_shapes]
        self.cpu_parent = None
        self.cpu_children: list[FunctionEvent] = []

    @property
    def key(self) -> str:
        """The key by which calls are added up: the name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    def __repr__(self) -> str:
        return (f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
                f"device_type=DeviceType.CPU node_id={self.node_id} cpu_time={self.cpu_time_str} "
                f"start_us={self.time_range.start} end_us={self.time_range.end} "
                f"cpu_children={[child.id for child in self.cpu_children]} None_time=0.000us name={self.name} "
                f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage=0 None_memory_usage=0 "
                f"is_async=False is_remote=False seq_nr={self.sequence_nr} is_legacy=False>")


class FunctionEventAvg(_Figures):
    """All calls of one name, or of one name and one set of shapes: their number and their total times."""

    cpu_time_total = self_cpu_time_total = 0.0

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.input_shapes = self.cpu_parent = None
        self.cpu_children: list[FunctionEvent] | None = None

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Add another call, or the calls of another average. Raises AssertionError if the name differs."""
        if self.key is None:
            self.key, self.input_shapes = other.key, other.input_shapes
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
                f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
                f"input_shapes={self.input_shapes} cpu_memory_usage=0 cuda_memory_usage=0>")


class EventList(list[Any]):
    """Events, or averages of events, with the methods of a profile's results."""

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events. Nested events count once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The events added up by name, or by name and input shapes, in order of first appearance."""
        averages: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (event.key, str(event.input_shapes)) if group_by_input_shapes else event.key
            averages.setdefault(key, FunctionEventAvg()).add(event)
        if not group_by_input_shapes:
            for average in averages.values():
                average.input_shapes = ""
        return EventList(averages.values())

    def total_average(self) -> FunctionEventAvg:
        """All events added up, under the name "Total"."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event).key = None
        total.key = "Total"
        return total

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int | None = 75,
              max_name_column_width: int | None = 55, max_shapes_column_width: int | None = 80,
              header: str | None = None, top_level_events_only: bool = False, time_unit: str | None = None) -> str:
        """The events as text: the first `row_limit` of them, or all if `row_limit` is negative.

        `sort_by` names an attribute, such as 'self_cpu_time_total' or 'count'; the rows are sorted by falling values.
        Raises AttributeError if events have no such attribute.
        """
        if not self:
            return ""
        events: Iterable[Any] = self
        if sort_by is not None:
            attribute = sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
            events = sorted(self, key=lambda event: getattr(event, attribute), reverse=True)
        total = self.self_cpu_time_total
        names, widths = ["Name", *_COLUMNS], [_width([event.key for event in self], max_name_column_width)]
        widths += [_NUMBER_WIDTH] * len(_COLUMNS)
        shapes = any(event.input_shapes for event in self)
        if shapes:
            names.append("Input Shapes")
            widths.append(_width([event.input_shapes for event in self], max_shapes_column_width))
        rows: list[list[str]] = []
        for event in events:
            if len(rows) == row_limit:
                break
            if not (top_level_events_only and event.cpu_parent is not None):
                row = [_shortened(event.key, max_name_column_width), *_figures(event, total, time_unit)]
                rows.append(row + [str(event.input_shapes)[: widths[-1]]] * shapes)
        double, single = "=" * (sum(widths) + 2 * len(widths) - 2), _line(["-" * width for width in widths], widths)
        lines = [] if header is None else [double, header]
        if top_level_events_only:
            lines += [double, "This report only display top-level ops statistics"]
        lines += [single, _line(names, widths), single, *(_line(row, widths) for row in rows), single]
        return "\n".join([*lines, f"Self CPU time total: {time_text(total, time_unit)}", ""])

    def chrome_trace(self) -> dict[str, Any]:
        """The events in the Trace Event Format, which Chrome and Perfetto read."""
        return {"displayTimeUnit": "ms", "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": event.key, "pid": os.getpid(), "tid": event.thread,
             "ts": event.time_range.start, "dur": event.cpu_time_total,
             "args": {"Input Dims": event.input_shapes} if event.input_shapes else {}} for event in self]}

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write `chrome_trace` to a file, for chrome://tracing or ui.perfetto.dev."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.chrome_trace(), file)

    def __str__(self) -> str:
        return self.table()


def _width(values: list[Any], limit: int | None) -> int:
    """The width of a column with these values."""
    width = max([len(str(value)) for value in values]) + 4
    return width if limit is None else min(width, limit)


def _shortened(name: str, limit: int | None) -> str:
    return name if limit is None or len(name) < limit - 3 else name[: limit - 3] + "..."


def _figures(event: Any, total: float, unit: str | None) -> list[str]:
    own, whole = event.self_cpu_time_total, event.cpu_time_total
    return [_share(own, total), time_text(own, unit), _share(whole, total), time_text(whole, unit),
            time_text(event.cpu_time, unit), str(event.count)]


def _line(cells: list[str], widths: list[int]) -> str:
    return "".join([f"{cell:>{width}}  " for cell, width in zip(cells, widths)])
