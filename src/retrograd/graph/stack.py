"""Passes inside passes, deeper than Python's stack: each so many of them go on in a thread of their own.

A `backward` that calls `backward` needs some ten frames for each level, and Python allows a thousand. PyTorch's engine
does the same with its own stack. Must not know what runs.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

from ..modes import local

# As many as leave room for what users call between them.
NESTED = 32


def on_a_fresh_stack(function: Callable[[], Any]) -> Any:
    """Call `function` in a new thread, which shares the switches of this one, and wait for what comes of it."""
    thread = local.thread
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        local.thread = thread
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    deeper = threading.Thread(target=contextvars.copy_context().run, args=(run,))
    deeper.start()
    deeper.join()
    if errors:
        raise errors.pop()
    return results.pop()
