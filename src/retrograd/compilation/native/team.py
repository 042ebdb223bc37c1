"""The threads that help with the work that a native function shares (`sharing`).

The process has one team, which serves one thread at a time: the others work alone. A helper stays for some hundred
microseconds after its last work, so that it is there for the next native function.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...kernels.layout import address
from ...kernels.native import threads
from ...kernels.native.door import ctypes
from .compiling import Compiled, compiled
from .host import host
from .modules import Module
from .sharing import PRESENT, WORDS, help_module

# The nanoseconds from which on a native function is worth a team.
ENOUGH = 60_000


class _Team:
    """The words of the team, at an address that lines of the cache begin at. `lock` is held by whom the team serves."""

    lock = threading.Lock()
    memory = np.zeros(WORDS + 8, np.int64)
    words = memory[-(address(memory) // 8) % 8:]
    place = address(words)

    @classmethod
    def forget(cls) -> None:
        """Start anew in a forked process, which has no helpers."""
        cls.lock = threading.Lock()
        cls.words[:] = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Team.forget)


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


@cache
def _helping() -> tuple[Any, Compiled]:
    """The native function that helpers run, and the module that has it."""
    code = compiled(help_module(Module(host())).text(), True)
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.addresses["help"]), code
