"""The list of a profile's events and their table, laid out character for character as in PyTorch."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from .profiler_events import FunctionEventAvg, time_text

_NUMBER_WIDTH = 12
_FLOPS_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_METRICS = ("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total")


def memory_text(size: int) -> str:
    """A number of bytes, in the unit that suits it.

    >>> memory_text(3000)
    '2.93 KB'
    """
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(size) >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} B"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


class EventList(list[Any]):
    """Events, or averages of events, with the methods of a profile's results.

    With `profile_memory` and with `with_flops`, the table shows memory and floating-point operations.
    """

    def __init__(self, events: Iterable[Any] = (), *, use_device: str | None = None, profile_memory: bool = False,
                 with_flops: bool = False) -> None:
        super().__init__(events)
        self._use_device, self._profile_memory, self._with_flops = use_device, profile_memory, with_flops
        self._tree_built = False

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events. Nested events count once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """The events added up by name, or by name and input shapes, in order of first appearance.

        Raises AssertionError for events of which no profile knows which call made which.
        """
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        averages: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = [event.key, event.node_id, event.is_legacy, event.is_user_annotation]
            key += [event.overload_name] * group_by_overload_name + [str(event.input_shapes)] * group_by_input_shapes
            key += event.stack[:group_by_stack_n] if group_by_stack_n > 0 else []
            averages.setdefault(tuple(key), FunctionEventAvg()).add(event)
        for average in averages.values():
            average.stack = average.stack[:group_by_stack_n]
            average.input_shapes = average.input_shapes if group_by_input_shapes else ""
            average.overload_name = average.overload_name if group_by_overload_name else ""
        return EventList(averages.values(), use_device=self._use_device, profile_memory=self._profile_memory,
                         with_flops=self._with_flops)

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
        # One after the other, as PyTorch's tables add them. From Python 3.12 on, `sum` rounds only once.
        total = reduce(add, [event.self_cpu_time_total for event in events], 0.0)
        columns = [_Column("Name", _width([event.key for event in self], max_name_column_width),
                           lambda event: _shortened(event.key, max_name_column_width)),
                   *_time_columns(total, time_unit), *_memory_columns() * self._profile_memory,
                   _Column("# of Calls", _NUMBER_WIDTH, lambda event: str(event.count))]
        if any(event.input_shapes for event in self):
            width = _width([event.input_shapes for event in self], max_shapes_column_width)
            columns.append(_Column("Input Shapes", width, lambda event: str(event.input_shapes)[:width]))
        columns += _flops_column([event.flops or 0 for event in self]) * self._with_flops
        shown = [event for event in events if not (top_level_events_only and event.cpu_parent is not None)]
        rows = [[column.text(event) for column in columns] for event in shown[: None if row_limit < 0 else row_limit]]
        names, widths = [column.name for column in columns], [column.width for column in columns]
        double, single = "=" * (sum(widths) + 2 * len(widths) - 2), _line(["-" * width for width in widths], widths)
        lines = [] if header is None else [double, header]
        if top_level_events_only:
            lines += [double, "This report only display top-level ops statistics"]
        lines += [single, _line(names, widths), single, *(_line(row, widths) for row in rows), single]
        return "\n".join([*lines, f"Self CPU time total: {time_text(total, time_unit)}", ""])

    def chrome_trace(self) -> dict[str, Any]:
        """The events in the Trace Event Format, which Chrome and Perfetto read."""
        return {"displayTimeUnit": "ms", "traceEvents": [
            {"ph": "X", "cat": "user_annotation" if event.is_user_annotation else "cpu_op", "name": event.trace_name,
             "pid": os.getpid(), "tid": event.thread, "ts": event.time_range.start, "dur": event.cpu_time_total,
             "args": {"Input Dims": event.input_shapes} if event.input_shapes else {}} for event in self]}

    def export_stacks(self, path: str | os.PathLike[str], metric: str) -> None:
        """Write a line for each event with a stack. No event has a stack, so the file is empty.

        `metric` must be one of `supported_export_stacks_metrics`. Raises ValueError for another metric.
        """
        if metric not in _METRICS:
            raise ValueError(f"metric should be one of: {self.supported_export_stacks_metrics()}")
        with open(path, "w", encoding="utf-8"):
            pass

    def supported_export_stacks_metrics(self) -> list[str]:
        """The metrics of `export_stacks`."""
        return [*_METRICS]

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the list of events to a file for chrome://tracing or ui.perfetto.dev."""
        events = [{"name": event.trace_name, "ph": "X", "ts": event.time_range.start,
                   "dur": event.time_range.elapsed_us(), "tid": event.thread, "pid": "CPU functions", "args": {}}
                  for event in self if event.trace_name is not None]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(events, file)

    def __str__(self) -> str:
        return self.table()


def _width(values: list[Any], limit: int | None) -> int:
    """The width of a column with these values."""
    width = max([len(str(value)) for value in values]) + 4
    return width if limit is None else min(width, limit)


def _shortened(name: str, limit: int | None) -> str:
    return name if limit is None or len(name) < limit - 3 else name[: limit - 3] + "..."


class _Column(NamedTuple):
    """A column of the table: its name, its width, and how it shows an event."""

    name: str
    width: int
    text: Callable[[Any], str]


def _time_columns(total: float, unit: str | None) -> list[_Column]:
    return [_Column(name, _NUMBER_WIDTH, text) for name, text in (
        ("Self CPU %", lambda event: _share(event.self_cpu_time_total, total)),
        ("Self CPU", lambda event: time_text(event.self_cpu_time_total, unit)),
        ("CPU total %", lambda event: _share(event.cpu_time_total, total)),
        ("CPU total", lambda event: time_text(event.cpu_time_total, unit)),
        ("CPU time avg", lambda event: time_text(event.cpu_time, unit)))]


def _memory_columns() -> list[_Column]:
    return [_Column("CPU Mem", _NUMBER_WIDTH, lambda event: memory_text(event.cpu_memory_usage)),
            _Column("Self CPU Mem", _NUMBER_WIDTH, lambda event: memory_text(event.self_cpu_memory_usage))]


def _flops_column(flops: list[int]) -> list[_Column]:
    """The column of floating-point operations, in the unit that suits the smallest number; none if nothing counts."""
    counted = [number for number in flops if number > 0]
    if not counted:
        return []
    power = max(0, min(int(math.log10(min(counted)) // 3), len(_FLOPS_UNITS) - 1))
    return [_Column(f"Total {_FLOPS_UNITS[power]}", _NUMBER_WIDTH,
                    lambda event: "--" if event.flops <= 0 else f"{event.flops / 1000**power:8.3f}")]


def _line(cells: list[str], widths: list[int]) -> str:
    return "".join([f"{cell:>{width}}  " for cell, width in zip(cells, widths)])
