"""Streams and events of the CPU. The CPU computes in order, so all work of a stream is always done."""

from __future__ import annotations

from typing import Any, NoReturn

from .foundations.devices import DeviceLike, checked, device
from .foundations.errors import noted

_CPU = 0


def _place(given: Any) -> device:
    """The device of a stream or an event. Raises RuntimeError for a device that is not the CPU."""
    if given is None:
        return device("cpu")
    if isinstance(given, (int, bool)):
        raise noted(
            RuntimeError("Cannot access accelerator device when none is available."), instead="name the device: 'cpu'")
    place = device(given)
    if place.type != "cpu":
        raise noted(
            RuntimeError(f"PyTorch is not linked with support for {place.type} devices"),
            instead="name the device: 'cpu'")
    return checked(place)


def _unsupported() -> NoReturn:
    raise noted(
        RuntimeError("cpu backend doesn't support events."),
        because="the CPU computes in order, so leave the call out")


class Stream:
    """A queue of work. On the CPU there is one, which is always empty: work is done when the call returns."""

    __module__ = "torch"
    device_type, device_index, stream_id = _CPU, -1, 0

    def __init__(self, device: DeviceLike | None = None, *, priority: int = 0) -> None:
        self.device = _place(device)

    def query(self) -> bool:
        """Whether all work is done: yes."""
        return True

    def synchronize(self) -> None:
        """Wait for the work. It is done."""

    def is_capturing(self) -> bool:
        """Whether the stream records its work: no."""
        return False

    def wait_event(self, event: Any) -> None:
        """Let later work wait for an event. The event has happened."""

    def record_event(self, event: Any = None) -> NoReturn:
        """Raise RuntimeError: streams of the CPU have no events."""
        _unsupported()

    def wait_stream(self, other: Any) -> NoReturn:
        """Raise RuntimeError: streams of the CPU have no events."""
        _unsupported()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_index, self.stream_id))

    def __repr__(self) -> str:
        return f"torch.Stream device_type=cpu, device_index={self.device_index}, stream_id={self.stream_id}"


class Event:
    """A mark in a stream. Streams of the CPU do not record marks."""

    __module__ = "torch"
    event_id = 0

    def __init__(self, device: DeviceLike | None = None, *, enable_timing: bool = False, blocking: bool = False,
                 interprocess: bool = False) -> None:
        for name, value in (("enable_timing", enable_timing), ("blocking", blocking), ("interprocess", interprocess)):
            if not isinstance(value, bool):
                raise TypeError(f"Event(): argument '{name}' must be bool, not {type(value).__name__}")
        self.device, self._timed = _place(device), enable_timing

    def query(self) -> bool:
        """Whether the event has happened: yes."""
        return True

    def synchronize(self) -> None:
        """Wait for the event. It has happened."""

    def wait(self, stream: Any = None) -> None:
        """Let a stream wait for the event. It has happened."""

    def record(self, stream: Any = None) -> NoReturn:
        """Raise RuntimeError: streams of the CPU have no events."""
        _unsupported()

    def elapsed_time(self, end_event: Event) -> NoReturn:
        """Raise ValueError unless both events measure time, RuntimeError if they do."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        _unsupported()

    def __repr__(self) -> str:
        return f"torch.Event device_type=cpu, device_index=-1, event_flag={int(self._timed)}, event_id={self.event_id}"
