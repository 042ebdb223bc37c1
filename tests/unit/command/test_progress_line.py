"""The line on the terminal that tells how far a loop is."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from retrograd.viz.terminal import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets time pass."""
    now = [100.]
    monkeypatch.setattr("retrograd.viz.terminal.time.monotonic", lambda: now[0])

    def passes(seconds: float) -> None:
        now[0] += seconds

    return passes


def texts(stream: io.StringIO) -> list[str]:
    """What the line showed, one text after the other."""
    return stream.getvalue().split("\r\x1b[K")[1:]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr("retrograd.viz.terminal.sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((60, 24)))
    return stream


def test_the_line_tells_what_is_done_and_what_is_left(terminal: Terminal, clock: Callable[[float], None]) -> None:
    found = []
    for item in progress("abcd", "steps"):
        clock(0.75)
        found.append(item)
    assert found == [*"abcd"]
    assert texts(terminal) == ["steps: 2 of 4 (50%), 1.33 per second, 0:02 left",
                               "steps: 3 of 4 (75%), 1.33 per second, 0:01 left",
                               "steps: 4 of 4 (100%), 1.33 per second, 0:00 left", ""]


def test_without_a_length_nothing_is_said_of_the_rest(terminal: Terminal, clock: Callable[[float], None]) -> None:
    for _ in progress(iter([1])):
        clock(90)
    assert texts(terminal) == ["1, 90 seconds each", ""]


def test_a_total_may_be_given_and_may_be_wrong(terminal: Terminal, clock: Callable[[float], None]) -> None:
    for _ in progress(iter([1, 2]), total=1):
        clock(120)
    assert texts(terminal)[:2] == ["1 of 1 (100%), 120 seconds each, 0:00 left",
                                   "2 of 1 (200%), 120 seconds each, 0:00 left"]


def test_a_short_loop_shows_nothing(terminal: Terminal) -> None:
    assert [*progress(range(100))] == [*range(100)]
    assert terminal.getvalue() == ""


def test_texts_are_rare_and_fit_the_terminal(terminal: Terminal, clock: Callable[[float], None]) -> None:
    for _ in progress(range(200), "x" * 80):
        clock(0.02)
    shown = texts(terminal)
    assert 20 < len(shown) < 40
    assert {len(text) for text in shown} == {59, 0}


def test_elsewhere_there_is_no_line(monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("retrograd.viz.terminal.sys", SimpleNamespace(stderr=stream))
    for _ in progress(range(3)):
        clock(10)
    assert stream.getvalue() == ""


def test_the_line_goes_when_the_loop_ends_early(terminal: Terminal, clock: Callable[[float], None]) -> None:
    for item in progress(range(9)):
        clock(5)
        if item == 3:
            break
    assert texts(terminal)[0] == "1 of 9 (11%), 5 seconds each, 0:40 left"
    assert texts(terminal)[-1] == ""
