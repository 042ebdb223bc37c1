"""Passes inside passes, deeper than Python's stack: every `NESTED` levels continue in a thread of their own.

A `backward` that calls `backward` needs some ten frames for each level, and Python allows a thousand. PyTorch's engine
does the same with its own stack.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

from ..foundations.modes import local

# This number leaves room for the frames of users' functions between the passes.
NESTED = 32


def on_a_fresh_stack(function: Callable[[], Any]) -> Any:
    """Call `function` in a new thread that shares the switches of this thread, and wait for the result."""
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
