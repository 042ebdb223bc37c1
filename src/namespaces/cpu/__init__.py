"""torch.cpu: the questions that programs ask about any kind of device, answered for the CPU."""

from __future__ import annotations

from ..foundations.devices import DeviceLike

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..foundations.names import inside, late

if TYPE_CHECKING:
    from . import amp as amp                             # imported when a program first names the module

__all__ = ["Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count", "get_capabilities",
           "is_available", "is_initialized", "set_device", "stream", "synchronize"]


def is_available() -> bool:
    """Whether tensors can be on the CPU: yes."""
    return True


def is_initialized() -> bool:
    """Whether the CPU is in use: yes."""
    return True


def device_count() -> int:
    """The number of CPUs: one, with any number of cores."""
    return 1


def current_device() -> str:
    """The current device: "cpu"."""
    return "cpu"


def synchronize(device: object = None) -> None:
    """Wait for running work. All work is done already."""


def set_device(device: Any) -> None:
    """Choose the current device. There is only one."""


class Event:
    """A mark in the work of a device. The work of the CPU is always done, so an event has always happened."""

    def query(self) -> bool:
        """Whether the work before the mark is done: yes."""
        return True

    def record(self, stream: Any = None) -> None:
        """Set the mark."""

    def synchronize(self) -> None:
        """Wait for the mark."""

    def wait(self, stream: Any = None) -> None:
        """Let a stream wait for the mark."""


class Stream:
    """A queue of work. The CPU works at once, so there is nothing to wait for."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Wait for the work of another stream."""

    def record_event(self) -> None:
        """Set a mark."""

    def wait_event(self, event: Any) -> None:
        """Wait for a mark."""


class StreamContext(AbstractContextManager[None]):
    """A context in which work would go to a stream. With None it does nothing, too."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.prev_stream = stream, _DEFAULT

    def __enter__(self) -> None:
        if self.stream is not None:
            self.prev_stream, _Current.stream = _Current.stream, self.stream

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if self.stream is not None:
            _Current.stream = self.prev_stream


_DEFAULT = Stream()


class _Current:
    """The stream of the innermost context."""

    stream: Any = _DEFAULT


def stream(stream: Any) -> AbstractContextManager[None]:
    """A context in which work would go to a stream."""
    return StreamContext(stream)


def current_stream(device: DeviceLike | None = None) -> Any:
    """The stream of the innermost context."""
    return _Current.stream


@cache
def get_capabilities() -> Mapping[str, Any]:
    """What is known of the CPU: the number of its logical cores."""
    return MappingProxyType({"num_logical_cores": os.cpu_count()})


if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "amp"}, __name__))
