"""The events of a profile and their table, laid out as PyTorch lays out its own. Must not know how they are recorded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

_COLUMNS = ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
_NUMBER_WIDTH = 12


def time_text(microseconds: float) -> str:
    """A time with three decimals and the unit that suits it.

    >>> time_text(4772.0)
    '4.772ms'
    """
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


class FunctionEvent:
    """One call: its name, when it started and ended (microseconds), and the calls inside it."""

    count = 1

    def __init__(self, id: int, name: str, thread: int, start: float, end: float) -> None:
        self.id, self.name, self.thread = id, name, thread
        self.start, self.end = start, end
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.end - self.start

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total

    def __repr__(self) -> str:
        return (f"<FunctionEvent id={self.id} name={self.name} cpu_time={time_text(self.cpu_time)} "
                f"start_us={self.start:.3f} end_us={self.end:.3f} thread={self.thread} "
                f"cpu_children={[child.id for child in self.cpu_children]}>")


class FunctionEventAvg:
    """All calls of one name: their number and summed times, in microseconds."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0

    def add(self, event: FunctionEvent | FunctionEventAvg) -> None:
        """Count another call."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total

    @property
    def cpu_time(self) -> float:
        """The mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return (f"<FunctionEventAvg key={self.key} self_cpu_time={time_text(self.self_cpu_time_total)} "
                f"cpu_time={time_text(self.cpu_time)} count={self.count}>")


class EventList(list[Any]):
    """Events, or averages of them, with the questions one asks of a profile."""

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds in all events, nested ones counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes: bool = False) -> EventList:
        """The events added up by name, in order of first appearance."""
        averages: dict[str, FunctionEventAvg] = {}
        for event in self:
            averages.setdefault(event.key, FunctionEventAvg(event.key)).add(event)
        return EventList(averages.values())

    def total_average(self) -> FunctionEventAvg:
        """All events added up."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(self, sort_by: str | None = None, row_limit: int = 100, max_name_column_width: int | None = 55) -> str:
        """The events as text, PyTorch's columns; `sort_by` names an attribute such as 'self_cpu_time_total'.

        Raises AttributeError for a name that events do not have.
        """
        events: Iterable[Any] = self
        if sort_by is not None:
            events = sorted(self, key=lambda event: getattr(event, sort_by), reverse=True)
        if not self:
            return ""
        rows = [*events][: row_limit if row_limit >= 0 else None]
        limit = max_name_column_width or max(len(event.key) for event in self)
        width = min(max(len(event.key) for event in self) + 4, limit)
        total = self.self_cpu_time_total
        rule = "  ".join(["-" * width, *["-" * _NUMBER_WIDTH] * len(_COLUMNS)]) + "  "
        lines = [rule, _row("Name", _COLUMNS, width), rule]
        lines += [_row(_short(event.key, limit), _figures(event, total), width) for event in rows]
        return "\n".join([*lines, rule, f"Self CPU time total: {time_text(total)}", ""])

    def chrome_trace(self) -> dict[str, Any]:
        """The events in the Trace Event Format that Chrome and Perfetto read."""
        return {"displayTimeUnit": "ms", "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": event.key, "pid": os.getpid(), "tid": event.thread,
             "ts": event.start, "dur": event.cpu_time_total, "args": {}} for event in self]}

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write `chrome_trace` to a file."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.chrome_trace(), file)

    def __str__(self) -> str:
        return self.table(row_limit=-1)


def _row(name: str, figures: Iterable[str], width: int) -> str:
    return "  ".join([name.rjust(width), *(figure.rjust(_NUMBER_WIDTH) for figure in figures)]) + "  "


def _short(name: str, limit: int) -> str:
    return name if len(name) <= limit else name[: limit - 3] + "..."


def _figures(event: Any, total: float) -> tuple[str, ...]:
    return (_share(event.self_cpu_time_total, total), time_text(event.self_cpu_time_total),
            _share(event.cpu_time_total, total), time_text(event.cpu_time_total), time_text(event.cpu_time),
            str(event.count))
