"""The threads that help with the work that a native function shares (`sharing`).

The process has one team, which serves one thread at a time: the others work alone. A helper stays for some hundred
microseconds after its last work, so that it is there for the next native function.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ...foundations.forks import forgotten
from ...foundations.names import reached
from ...kernels.layout import address
from ...kernels.native import threads
from ...kernels.native.door import ctypes
from .compiling import compiled
from .host import host
from .modules import Module
from .words import PRESENT, WORDS

# The nanoseconds from which on a native function is worth a team.
ENOUGH = 60_000
# How many calls in a round try each way, how many calls a round has, and the part of the time alone that helpers must
# reach.
TRIES, ROUND, WORTH = 4, 256, 0.95


class _Team:
    """The words of the team, at an address that lines of the cache begin at. `lock` is held by whom the team serves."""

    lock = threading.Lock()
    memory = np.zeros(WORDS + 8, np.int64)
    words = memory[-(address(memory) // 8) % 8:]
    place = address(words)
    help: Any = None                                        # the native function that helpers run, and what keeps it

    @classmethod
    def forget(cls) -> None:
        """Start anew in a forked process, which has no helpers."""
        cls.lock = threading.Lock()
        cls.words[:] = 0


forgotten(_Team.forget)


def with_team(function: Callable[[int, int | None], object], table: int) -> None:
    """Call a native function, with helpers if there are any and nothing else uses them."""
    count = threads.available()
    if count < 2 or _Team.lock.locked():
        function(table, None)
        return
    with _Team.lock:
        if _Team.words[PRESENT] < count - 1:
            threads.lend(_helping()[0], _Team.place, count - 1)
        function(table, _Team.place)


class Chooser:
    """Calls a native function with helpers, or without them if that takes less time.

    Two cores may be quick or slow to exchange numbers, and other programs may need one of them. So some calls in each
    round are made in both ways, and the others in the way that took less time. The numbers are the same in both ways.
    """

    __slots__ = ("_count", "_function", "_helped", "_nanoseconds")

    def __init__(self, function: Callable[[int, int | None], object]) -> None:
        self._function = function
        self._count, self._helped = 0, True
        self._nanoseconds = [math.inf, math.inf]           # the least of this round: alone, with helpers

    def __call__(self, table: int) -> None:
        count = self._count
        self._count = count + 1 if count < ROUND else 0
        tried = count < 2 * TRIES
        helped, start = count < TRIES if tried else self._helped, clock()
        if helped:
            with_team(self._function, table)
        else:
            self._function(table, None)
        if tried:
            self._note(count, helped, clock() - start)

    def _note(self, count: int, helped: bool, nanoseconds: float) -> None:
        """Note how long a call in a round took. The first one of each way tells nothing: helpers must wake up."""
        if count % TRIES == 0:
            self._nanoseconds[helped] = math.inf
        else:
            self._nanoseconds[helped] = min(self._nanoseconds[helped], nanoseconds)
        if count == 2 * TRIES - 1:
            alone, together = self._nanoseconds
            self._helped = together < WORTH * alone


def offer_help(place: int, code: Any) -> None:
    """Offer a native function `help` that helpers may run, at this address. `code` keeps its memory."""
    if _Team.help is None:
        _Team.help = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(place), code


def _helping() -> tuple[Any, Any]:
    """The native function that helpers run, and the module that has it. If nobody has offered one, it is made."""
    if _Team.help is None:
        code = compiled(reached("compilation.native.sharing").help_module(Module(host())).text(), True)
        offer_help(code.addresses["help"], code)
    found: tuple[Any, Any] = _Team.help
    return found
