"""Other threads, and interrupts, while a compiled function is traced: nobody sees memory that waits for its numbers."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from programs.putting_off import counts, numbers, put_off_everything, step, x
from retrograd.compilation.trace import deferred
from retrograd.compilation.trace.deferred import Deferred
from retrograd.compilation.trace.tracing import Tape

__all__ = ["counts"]                                       # the fixture


@pytest.mark.parametrize("when", ["_planned", "make", "_one_by_one"])
def test_an_interrupt_leaves_numbers(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    put_off_everything(monkeypatch.setattr, when == "_planned")
    given, expected = x(grad=True), x(grad=True)
    step(expected)
    holder: Any = Deferred if when != "_one_by_one" else deferred
    former, interrupts = getattr(holder, when), [KeyboardInterrupt]

    def interrupted(*args: Any, **options: Any) -> Any:
        if when == "make" or not interrupts:               # as soon as all is made
            former(*args, **options)
        if interrupts:
            raise interrupts.pop()

    monkeypatch.setattr(holder, when, interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.compile(step, backend="numpy")(given)
    assert numbers(given.grad) == numbers(expected.grad)


@pytest.mark.filterwarnings("ignore:torch.compile runs function as it is, since threading.Thread")
def test_threads_that_the_function_starts_see_numbers() -> None:
    seen: list[Any] = []

    def function(a: Any) -> Any:
        y = a.exp() * 2
        thread = threading.Thread(target=lambda: seen.append(y.tolist()))
        thread.start()
        thread.join()
        return y + 1

    given = x()
    found = torch.compile(function, backend="numpy")(given)
    assert seen == [(given.exp() * 2).tolist()]
    assert numbers(found) == numbers(given.exp() * 2 + 1)


@pytest.mark.parametrize("after", [lambda y: y.cumsum(0), lambda y: y.tolist(), lambda y: y * 2, lambda y: y])
def test_a_thread_gives_the_tape_up_while_a_call_is_noted(
        monkeypatch: pytest.MonkeyPatch, counts: Counter[str], after: Callable[[Any], Any]) -> None:
    given, note = x(), Deferred.note

    def late(self: Deferred, *args: Any) -> None:
        monkeypatch.setattr(Deferred, "note", note)
        thread = threading.Thread(target=given.tolist)
        thread.start()
        thread.join()
        note(self, *args)

    monkeypatch.setattr(Deferred, "note", late)
    with warnings.catch_warnings(action="ignore"):
        found = torch.compile(lambda a: after(a.exp()), backend="numpy")(given)
    assert numbers(found) == numbers(after(given.exp()))
    assert counts["exp"] == 1


def test_a_call_is_put_off_while_a_thread_makes_others(monkeypatch: pytest.MonkeyPatch, counts: Counter[str]) -> None:
    made, noted = threading.Event(), threading.Event()
    note, arguments, one_by_one = Deferred.note, Tape._noted, deferred._one_by_one
    given, threads = x(), list[threading.Thread]()

    def slowly(*args: Any) -> None:                        # in the other thread
        one_by_one(*args)
        monkeypatch.setattr(deferred, "_one_by_one", one_by_one)
        made.set()
        noted.wait(0.3)

    def beside(self: Tape, args: Any) -> Any:              # after the tape was found to be in use
        if counts["exp"] and not threads:
            threads.append(threading.Thread(target=given.tolist))
            threads[0].start()
            made.wait(10)
        return arguments(self, args)

    def at_last(self: Deferred, *args: Any) -> None:
        note(self, *args)
        if threads:
            noted.set()
            threads[0].join()

    monkeypatch.setattr(deferred, "_one_by_one", slowly)
    monkeypatch.setattr(Tape, "_noted", beside)
    monkeypatch.setattr(Deferred, "note", at_last)
    with warnings.catch_warnings(action="ignore"):
        found = torch.compile(lambda a: a.exp() * 2 + 1, backend="numpy")(given)
    threads[0].join()
    assert numbers(found) == numbers(given.exp() * 2 + 1)
