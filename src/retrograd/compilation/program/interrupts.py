"""Errors that come from outside of the code that runs, such as KeyboardInterrupt and the errors of signal handlers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from types import CodeType
from typing import Any


def interrupts(error: BaseException) -> bool:
    """Whether an error says nothing about the code that it ended: it is no `Exception`, or the handler of a signal has
    raised it. Such a handler may raise TimeoutError between any two instructions.
    """
    if not isinstance(error, Exception):
        return True
    codes = {code for number in signal.valid_signals() for code in _codes(signal.getsignal(number))}
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code not in codes:
        trace = trace.tb_next
    return trace is not None


def _codes(handler: Any) -> Iterator[CodeType]:
    """The code that Python runs when it calls a handler. A trace puts functions around handlers (`trace.signals`)."""
    if isinstance(handler, partial):
        for each in (handler.func, *handler.args):
            yield from _codes(each)
    code = getattr(handler, "__code__", None) or getattr(getattr(handler, "__call__", None), "__code__", None)  # noqa: B004
    if isinstance(code, CodeType):
        yield code
