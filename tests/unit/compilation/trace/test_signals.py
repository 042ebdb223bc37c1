"""Signals that arrive while the profile function of a trace looks at a call: no lock stays locked, and none is lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

import retrograd as torch
from retrograd.compilation.trace.calls import Watch


class Written:
    """A lock with an exit that is written in Python."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.acquire = self.lock.acquire

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()


# Locks, and the events at which a signal arrives.
LOCKS: dict[str, tuple[Callable[[], Any], str]] = {
    "Lock": (threading.Lock, "c_call"), "RLock": (threading.RLock, "c_call"), "Written": (Written, "call")}



class Arrived(BaseException):
    """What the handler of these tests raises, as Python's own raises KeyboardInterrupt."""


def raise_arrived(number: int, frame: Any) -> None:
    raise Arrived


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    former = signal.signal(signal.SIGINT, raise_arrived)
    yield
    sys.setprofile(None)
    assert signal.signal(signal.SIGINT, former) is raise_arrived


def signal_in_look(event: str, name: str) -> list[int]:
    """Let a signal arrive in the first look at an event of this kind, of a function of this name."""
    sent = list[int]()

    def noisy(frame: FrameType, happened: str, value: Any) -> None:
        """A profiler of the program, which a look asks first."""
        if not sent and happened == event and sys._getframe(1).f_code is Watch._seen.__code__ and (
                name in (getattr(value, "__name__", None), frame.f_code.co_name)):
            sent.append(1)
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(noisy)
    return sent


@pytest.mark.filterwarnings("ignore:torch.compile runs")
@pytest.mark.parametrize("kind", LOCKS)
def test_a_lock_is_given_back(kind: str) -> None:
    (make, event), given = LOCKS[kind], list[bool]()
    lock = make()

    def locking(x: Any) -> Any:
        with lock:
            return x * 2

    sent = signal_in_look(event, "__exit__")
    with pytest.raises(Arrived):
        torch.compile(locking, backend="numpy")(torch.ones(3))
    assert sent
    other = threading.Thread(target=lambda: given.append(lock.acquire(timeout=5)))
    other.start()
    other.join()
    assert given == [True]


def test_a_lock_of_the_package_is_given_back() -> None:
    generator, given = torch.Generator(), []
    torch.rand(3, generator=generator)                     # imports what it needs: Python's imports have locks, too
    step = torch.compile(lambda x: x * torch.rand(3, generator=generator), backend="numpy")
    sent = signal_in_look("c_call", "__exit__")
    with pytest.raises(Arrived):
        step(torch.ones(3))
    assert sent
    other = threading.Thread(target=lambda: given.append(torch.rand(3, generator=generator).shape), daemon=True)
    other.start()
    other.join(5)
    assert given == [(3,)]


@pytest.mark.parametrize(("event", "name"), [("c_call", "append"), ("call", "called")])
def test_a_signal_that_waits_comes_with_the_end_of_the_look(event: str, name: str) -> None:
    reached = []

    def called(x: Any) -> Any:
        reached.append("called")
        return x * 2

    def function(x: Any) -> Any:
        return called(x)

    sent = signal_in_look(event, name)
    with pytest.raises(Arrived):
        torch.compile(function, backend="numpy")(torch.ones(3))
    assert sent
    assert reached == []


@pytest.mark.parametrize("event", ["call", "return"])
def test_a_signal_during_the_callback_of_a_weak_reference_is_not_lost(event: str) -> None:
    def function(x: Any) -> Any:
        return (x * 2).sin() + 1                           # an array goes after the call that reads it

    sent = signal_in_look(event, "_disown")
    with pytest.raises(Arrived):
        torch.compile(function, backend="numpy")(torch.ones(3))
    assert sent


def test_a_handler_that_returns_ends_nothing() -> None:
    came, kept = [], list[Any]()
    former = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    sent = signal_in_look("c_call", "append")

    def function(x: Any) -> Any:
        kept.append(1)
        return x * 2

    try:
        assert torch.compile(function, backend="numpy")(torch.ones(3)).tolist() == [2.0] * 3
    finally:
        signal.signal(signal.SIGINT, former)
    assert (sent, came, kept) == ([1], [signal.SIGINT], [1])


@pytest.mark.filterwarnings("ignore:torch.compile runs")
def test_a_program_sees_the_handlers_that_it_has_installed() -> None:
    def function(x: Any) -> Any:
        return x * 2, signal.getsignal(signal.SIGINT)

    assert torch.compile(function)(torch.ones(3))[1] is raise_arrived


@pytest.mark.filterwarnings("ignore:torch.compile runs")
def test_a_handler_that_the_program_installs_stays() -> None:
    def other(number: int, frame: Any) -> None: ...

    def function(x: Any) -> Any:
        sys.modules["signal"].signal(signal.SIGINT, other)
        return x * 2

    torch.compile(function)(torch.ones(3))
    assert signal.signal(signal.SIGINT, raise_arrived) is other
