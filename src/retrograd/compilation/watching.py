"""What a program does while it is traced that operators do not show: it prints, reads, or restarts random numbers."""

from __future__ import annotations

import builtins
import datetime
import logging
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..kernels.random.twister import Twister
from .state import State

_PRINTING = ("print", "input", "open")
_CLOCKS: tuple[Any, ...] = (time, datetime, datetime.datetime, datetime.date, secrets, uuid, logging)


def clock(state: State) -> str | None:
    """Why what a function can reach gives another value in each call; None if nothing does."""
    for item in state.items:
        value = item.value
        if any([value is one for one in _CLOCKS]) or isinstance(value, logging.Logger):
            return f"{item.words} may do something else in each call"
        if callable(value) and getattr(value, "__module__", None) == "time":
            return f"{item.words} gives another value in each call"
    return None


@contextmanager
def watched(give_up: Callable[[str], None]) -> Iterator[None]:
    """Give up if this thread prints, opens a file, or restarts a stream of random numbers."""
    thread, restarts = threading.get_ident(), Twister.restarts
    former = {name: getattr(builtins, name) for name in _PRINTING}

    def watching(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == thread:
                give_up(f"the program calls {name}()")
            return function(*args, **kwargs)
        return call

    for name, function in former.items():
        setattr(builtins, name, watching(name, function))
    try:
        yield
        if Twister.restarts != restarts:
            give_up("the program restarts a stream of random numbers")
    finally:
        for name, function in former.items():
            setattr(builtins, name, function)
