"""Runs of compiled functions in the middle of others, errors of signal handlers, and forks of running threads."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS
from needing import on_unix
from retrograd import compilation
from retrograd.compilation.program.interrupts import interrupts

FOLDER = str(Path(compilation.__file__).parent)
KINDS = ["one size", "many sizes", "twice", "some results"]
PARTS = 12                                                 # cases of a kind, which share the lines


class At:
    """Calls a function at a line of the compiler, or of the code that it has made: at the line number `at`."""

    def __init__(self, at: int, call: Callable[[], object]) -> None:
        self.at, self.call, self.lines = at, call, 0

    def __enter__(self) -> At:
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        name = frame.f_code.co_filename
        return self._line if name.startswith((FOLDER, "<compiled ")) or name == "<guard>" else None

    def _line(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                sys.settrace(None)
                self.call()
        return self._line


class Program:
    """A function and its compiled form, called with other sizes if the kind says so."""

    def __init__(self, kind: str, backend: str) -> None:
        self.kind, generator = kind, torch.Generator().manual_seed(0)
        self.weight = torch.randn(6, 6, generator=generator)
        sizes = (5, 4, 3) if kind == "many sizes" else (5, 5, 5)
        self.xs = [torch.randn(size, 6, generator=generator) for size in sizes]
        self.compiled = torch.compile(self.function, backend=backend, dynamic=kind == "many sizes" or None)
        self.expected = [self.call(x, self.function) for x in self.xs]
        for x in self.xs * 2:
            self.call(x)

    def function(self, x: Any, w: Any) -> Any:
        h = (x @ w).sin()
        shared = h * h
        return (h * w.sum(0)).exp().mean(), shared.sum(), (shared - shared.detach()).sqrt().sum()

    @torch.enable_grad()
    def call(self, x: Any, function: Any = None) -> list[float]:
        """The result and its derivatives, in sums."""
        w = self.weight.clone().requires_grad_()
        a, b, _ = (function or self.compiled)(x, w)
        if self.kind == "some results":                    # whose zeros for the others make nan, unless left out
            return [a.item(), torch.autograd.grad(a, w)[0].sum().item()]
        gradient, = torch.autograd.grad(a + b, w, create_graph=self.kind == "twice")
        if self.kind != "twice":
            return [a.item(), gradient.sum().item()]
        return [a.item(), torch.autograd.grad((gradient * gradient).sum(), w)[0].sum().item()]

    def lines(self) -> int:
        """How many lines of the compiler a call runs."""
        with At(-1, int) as seen:
            self.call(self.xs[0])
        return seen.lines

    def right(self, place: int) -> bool:
        """Whether a call is right."""
        return self.call(self.xs[place]) == pytest.approx(self.expected[place], rel=1e-4)


@pytest.mark.sampled(2 * PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_in_the_middle_of_another(kind: str, backend: str, part: int) -> None:
    """As that of a finalizer, or of the handler of a signal."""
    program = Program(kind, backend)
    for at in range(part + 1, program.lines() + 1, PARTS):
        inner = list[bool]()
        with At(at, lambda inner=inner: inner.append(program.right(1))):  # type: ignore[misc]
            outer = program.right(0)
        assert outer
        assert inner == [True]
    assert all(map(program.right, range(3)))


def handler(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("too late")


@pytest.fixture
def handled() -> Iterator[None]:
    former = signal.signal(signal.SIGINT, handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.sampled(2 * PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("kind", [*KINDS, "branches"])
def test_the_error_of_a_handler_ends_a_call(kind: str, backend: str, part: int, handled: None) -> None:
    program = Program(kind, backend)
    if kind == "branches":
        program.compiled = torch.compile(
            lambda x, w: program.function(x if x.sum() > -1e3 else -x, w), backend=backend)
    assert all(map(program.right, (0, 1, 0)))
    lines = program.lines()
    for at in range(part + 1, lines + 1, PARTS):
        with pytest.raises(TimeoutError, match="too late"), At(at, lambda: handler(2, None)):
            program.call(program.xs[0])
        with warnings.catch_warnings(action="error"):
            assert program.right(0)
            assert program.right(1)
    assert program.lines() > lines / 2                     # the function is compiled as before


class Object:
    """What may stand for a handler."""

    def method(self, number: int, frame: FrameType | None) -> None:
        handler(number, frame)

    __call__ = method


@pytest.mark.parametrize("own", [handler, Object().method, Object(), partial(Object.method, Object())])
def test_errors_of_handlers(own: Any) -> None:
    def raised(call: Callable[[], object]) -> BaseException:
        with pytest.raises(BaseException) as found:  # noqa: PT011
            call()
        return found.value

    former = signal.signal(signal.SIGINT, own)
    try:
        assert interrupts(raised(partial(signal.raise_signal, signal.SIGINT)))
        assert not interrupts(raised(lambda: 1 / 0))
    finally:
        signal.signal(signal.SIGINT, former)
    assert interrupts(KeyboardInterrupt())


FORKED = """
import faulthandler, os, sys, threading
import retrograd as torch
inside, go, started = threading.Event(), threading.Event(), []
def at(frame, event, value):
    if event == "line" and not started:
        started.append(frame)
        inside.set()
        go.wait()
    return at
def called(frame, event, value):
    return at if frame.f_code.co_filename.startswith("<compiled run") else None
function = torch.compile(lambda x: ((x * 2).sin().sum(), x.exp().sum()), backend="numpy", dynamic={dynamic})
def gradient(n, way):
    x = torch.ones(n, requires_grad=True)
    y = function(x)[0]
    if way == "forward":
        return y.item()
    return torch.autograd.grad(y, x)[0].sum().item()
expected = [gradient(n, {way!r}) for n in (3, 4, 5, 3, 4, 5)]
def work():
    x = torch.ones(3, requires_grad=True)
    if {way!r} == "backward":
        y = function(x)[0]
    sys.settrace(called)
    torch.autograd.grad(y, x) if {way!r} == "backward" else function(x)
    sys.settrace(None)
thread = threading.Thread(target=work)
thread.start()
inside.wait()
child = os.fork()
if not child:
    faulthandler.dump_traceback_later(20, exit=True)
    found = [gradient(n, {way!r}) for n in (3, 4, 5, 3, 4, 5)]
    run = next(cell.cell_contents for cell in function.__closure__ if hasattr(cell.cell_contents, "run")).run
    free = not any([recipe.lock.locked() for _, recipe in run.entries])
    print(found == expected, free, bool(run.entries), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
go.set()
thread.join()
print([gradient(n, {way!r}) for n in (3, 4, 5, 3, 4, 5)] == expected)
"""


@on_unix
@pytest.mark.parametrize("way", ["forward", "backward"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_fork_while_another_thread_runs_a_plan(dynamic: bool, way: str) -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED.format(dynamic=dynamic, way=way)],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "True True True\n0\nTrue\n", done.stderr
