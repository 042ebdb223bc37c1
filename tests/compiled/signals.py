"""Compiled calls that signals interrupt at random moments.

    python -m compiled.signals Adam numpy       # from tests/: a program of `compiled.interrupts`, an executor
    python -m compiled.signals threads          # beside other threads

The program prints "right" if nothing was left in place and if all later calls were right. It runs in a process of its
own, since a signal that comes late would end what runs the tests.
"""

from __future__ import annotations

import math
import os
import random
import signal
import sys
import threading
import time
import warnings
from contextlib import suppress
from typing import Any

import numpy as np

import retrograd as torch
from compiled.interrupts import PROGRAMS, difference, left_behind, reset


def at_random_moments(name: str, backend: str) -> None:
    """Interrupt calls of a compiled program 20 times, each at a random moment."""
    draw, kind = random.Random(0), PROGRAMS[name]
    program = kind()
    step: Any = torch.compile(program.step, backend=backend)
    came = 0
    for attempt in range(20):
        if attempt % 4 == 0:
            program = kind()
            step = torch.compile(program.step, backend=backend)
        thread = threading.Thread(target=_interrupt, args=(draw.random() ** 2 * 0.06,))
        with suppress(KeyboardInterrupt):
            thread.start()
            for call in range(10_000):
                step(program.batch(call))
                if not thread.is_alive():
                    break
        came += _is_over(thread)
        left = left_behind(program)
        if left:
            reset()
        assert not left
        assert not difference(program, step, attempt, backend == "numpy")
    assert came == 20


def beside_other_threads() -> None:
    """Interrupt traces while two other threads trace and repeat."""
    weight, over = torch.linspace(-1.0, 1.0, 12, requires_grad=True), threading.Event()
    wrong, calls, x = list[Any](), [0, 0], torch.ones(12)
    shared = torch.compile(lambda x: (weight * x).sin().sum(), backend="numpy")
    expected = (weight * x).sin().sum().item()

    def work(number: int) -> None:
        while not over.is_set():
            own = torch.compile(lambda x: (weight * x).sin().sum(), backend="numpy")
            for function in (shared, own, own, shared):
                found = function(x).item()
                if not math.isclose(found, expected, rel_tol=1e-5):
                    wrong.append(found)
            calls[number] += 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    draw = random.Random(1)
    for _ in range(20):
        signals = threading.Thread(target=_interrupt, args=(draw.random() * 0.05,))
        with suppress(KeyboardInterrupt):
            signals.start()
            while signals.is_alive():
                function = torch.compile(lambda x: (weight * x).sin().sum(), backend="numpy")
                if not math.isclose(function(x).item(), expected, rel_tol=1e-5):
                    wrong.append("here")
        assert _is_over(signals)
    before = [*calls]
    for _ in range(600):                                    # more than the time for which calls wait for a trace
        time.sleep(0.05)
        if all([now > then + 1 for now, then in zip(calls, before)]):
            break
    over.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert all([now > then for now, then in zip(calls, before)])
    assert not left_behind(PROGRAMS["Gradients"]())
    assert type(weight._array) is np.ndarray


def _interrupt(seconds: float) -> None:
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


def _is_over(thread: threading.Thread) -> bool:
    """Wait for the signal, which may come late."""
    try:
        thread.join()
        time.sleep(0.001)
    except KeyboardInterrupt:
        thread.join()
    return not thread.is_alive()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "threads":
        beside_other_threads()
    else:
        at_random_moments(*sys.argv[1:])
    print("right")
