"""torch.monitor: events that programs log, and statistics that are logged once in each window of time.

Handlers receive the events. Without a handler an event has no effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from threading import Lock
from typing import Any

from .foundations.forks import held

__all__ = ["Aggregation", "COUNT", "Event", "EventHandlerHandle", "MAX", "MEAN", "MIN", "SUM", "Stat",
           "TensorboardEventHandler", "VALUE", "data_value_t", "log_event", "register_event_handler",
           "unregister_event_handler"]


class data_value_t:
    """The type of the values of an event: str, float, int or bool. It has no instances."""


class Aggregation(Enum):
    """How a statistic joins the values of a window. `VALUE` is the last value."""

    VALUE = 0
    MEAN = 2
    COUNT = 3
    SUM = 4
    MAX = 5
    MIN = 6


VALUE, MEAN, COUNT, SUM, MAX, MIN = Aggregation
_JOINED: dict[Aggregation, Callable[[list[float]], float]] = {
    VALUE: lambda values: values[-1] if values else 0.0,
    MEAN: lambda values: sum(values) / len(values) if values else 0.0,
    COUNT: len, SUM: sum,
    MAX: lambda values: max(values, default=0.0), MIN: lambda values: min(values, default=0.0),
}


class Event:
    """Something that happened: a name, a time, and values by name."""

    def __init__(self, name: str, timestamp: datetime, data: Mapping[str, Any]) -> None:
        self.name, self.timestamp, self.data = name, timestamp, dict(data)


class EventHandlerHandle:
    """A registered handler, for `unregister_event_handler`."""

    def __init__(self, callback: Callable[[Event], Any]) -> None:
        self._callback = callback


_HANDLERS: list[EventHandlerHandle] = []
_LOCK = Lock()
held(_LOCK)


def register_event_handler(callback: Callable[[Event], Any]) -> EventHandlerHandle:
    """Let a function receive each event that is logged. Returns a handle by which it is removed."""
    handle = EventHandlerHandle(callback)
    with _LOCK:
        _HANDLERS.append(handle)
    return handle


def unregister_event_handler(handler: EventHandlerHandle) -> None:
    """Let the function of this handle receive no more events."""
    with _LOCK:
        _HANDLERS[:] = [one for one in _HANDLERS if one is not handler]


def log_event(event: Event) -> None:
    """Pass an event to every handler.

    >>> seen = []
    >>> handle = register_event_handler(lambda event: seen.append(event.name))
    >>> log_event(Event("begun", datetime.now(), {"step": 1}))
    >>> unregister_event_handler(handle)
    >>> seen
    ['begun']
    """
    for handle in [*_HANDLERS]:
        handle._callback(event)


class Stat:
    """A statistic over a window of time. When the window ends, its values are logged as an event.

    `aggregations` say how the values of a window are joined. With `max_samples` a window ends after so many values,
    and the values beyond them are left out until the time has passed. The event is named `torch.monitor.Stat`, and its
    values `name.sum`, `name.count` and so on.
    """

    def __init__(self, name: str, aggregations: Iterable[Aggregation], window_size: timedelta,
                 max_samples: int | None = None) -> None:
        self.name, self._aggregations = name, [*aggregations]
        self._window, self._most = window_size.total_seconds(), max_samples
        self._values: list[float] = []
        self._last: dict[Aggregation, float] = dict.fromkeys(self._aggregations, 0.0)
        self._began, self._logged = time.monotonic(), False

    def add(self, v: float) -> None:
        """Add a value to the window, after the end of an earlier window is logged."""
        if time.monotonic() - self._began >= self._window:
            self._close()
            self._began, self._logged = time.monotonic(), False
        if not self._logged:
            self._values.append(float(v))
            if self._most is not None and len(self._values) >= self._most:
                self._close()
                self._logged = True

    def get(self) -> dict[Aggregation, float]:
        """The joined values of the last window that ended."""
        return dict(self._last)

    @property
    def count(self) -> int:
        """The number of values in the present window."""
        return len(self._values)

    def _close(self) -> None:
        if not self._values:
            return
        self._last = {one: float(_JOINED[one](self._values)) for one in self._aggregations}
        self._values = []
        log_event(Event("torch.monitor.Stat", datetime.now(),
                        {f"{self.name}.{one.name.lower()}": value for one, value in self._last.items()}))

    def __del__(self) -> None:
        self._close()


class TensorboardEventHandler:
    """A handler that writes the values of events with a `SummaryWriter`. Register it."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def __call__(self, event: Event) -> None:
        if event.name == "torch.monitor.Stat":
            for name, value in event.data.items():
                self._writer.add_scalar(name, value, walltime=event.timestamp.timestamp())
