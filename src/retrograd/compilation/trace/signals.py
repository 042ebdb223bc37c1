"""Signals that arrive while the compiler looks at a call of the program. They are handled after the look.

While a run is traced, a profile function looks at each call. Python handles signals between the instructions of the
main thread, so Ctrl-C could raise KeyboardInterrupt in the profile function, before the call is made. If the call
releases a lock, as the end of `with lock:` does, the lock would stay locked for ever. So a signal that arrives during a
look waits until the end of the look, and if the call releases a lock, until the look that follows the call. Python
ignores an error in the callback of a weak reference, so a signal that arrives in a callback of the compiler waits, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Any

from ..program.undoing import Undo

_Handler = Callable[[int, FrameType | None], Any]
_RELEASING = ("__exit__", "release", "release_lock")


class Signals:
    """The handlers of signals that are written in Python. A handler that would interrupt a look waits for its end.

    `looks` are the codes of the profile function and of callbacks. `waiting` holds the signals that have arrived during
    looks.
    """

    def __init__(self, *looks: CodeType) -> None:
        self.looks, self.waiting = looks, list[tuple[_Handler, int, FrameType | None]]()

    def put(self, undo: Undo) -> None:
        """Stand before the handlers until the exit of `undo`. Python handles signals in the main thread alone."""
        if threading.current_thread() is not threading.main_thread():
            return
        undo.note(self.handle)
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                own = partial(self._arrived, handler)
                undo.note(partial(_give_back, number, own, handler))
                signal.signal(number, own)

    def handle(self) -> None:
        """Handle the signals that wait."""
        while self.waiting:
            handler, number, frame = self.waiting.pop(0)
            handler(number, frame)

    def handle_before(self, call: str, frame: FrameType) -> None:
        """Handle the signals that wait, unless a call is next that releases a lock, by its name, or a callback runs."""
        if call not in _RELEASING and not self._lasts(frame):
            self.handle()

    def _arrived(self, handler: _Handler, number: int, frame: FrameType | None) -> None:
        """Handle a signal, or let it wait if a look lasts."""
        if self._lasts(frame):
            self.waiting.append((handler, number, frame))
        else:
            handler(number, frame)

    def _lasts(self, frame: FrameType | None) -> bool:
        """Whether a look or a callback has led to a frame."""
        while frame is not None and frame.f_code not in self.looks:
            frame = frame.f_back
        return frame is not None


def _give_back(number: int, own: _Handler, handler: _Handler) -> None:
    """Put a handler back, unless the program has installed another one."""
    if signal.getsignal(number) is own:
        signal.signal(number, handler)
