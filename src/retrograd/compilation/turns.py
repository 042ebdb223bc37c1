"""One thread at a time traces, since other arrays stand behind the tensors of all threads meanwhile."""

from __future__ import annotations

from contextlib import suppress
from threading import RLock, get_ident
from time import monotonic
from typing import ClassVar

from ..foundations.forks import forgotten
from .program.undoing import Undo

# How many seconds a call waits while another thread traces.
PATIENCE = 10
# Such a wait is made of pieces of so many seconds. On Python 3.11, the thread that traces stops now and then while it
# hands over the interpreter's lock, until another thread wakes. If all others made one long wait, all stood still.
_PIECE = 0.02


class Tracing:
    """The thread that traces, and the lock that it holds."""

    lock = RLock()
    thread: ClassVar[int | None] = None

    @classmethod
    def forget(cls) -> None:
        """Give back what a trace has put in place, in a forked process, which lacks the thread that traces."""
        if cls.thread is not None and cls.thread != get_ident():
            cls.lock, cls.thread = RLock(), None
            Undo.finish()


forgotten(Tracing.forget)


class Turn:
    """The turn of a thread to trace. `with turn, turn` gives it up in any case, as `Undo` does."""

    def __init__(self) -> None:
        self._inner = Tracing.thread == get_ident()        # a trace within a trace has the turn already

    def __enter__(self) -> Turn:
        return self

    def __exit__(self, *error: object) -> None:
        if not self._inner:
            if Tracing.thread == get_ident():
                Tracing.thread = None
            with suppress(RuntimeError):                   # which says that this thread does not hold the lock
                Tracing.lock.release()

    def wait(self) -> bool:
        """Wait until no other thread traces. Returns whether none does."""
        end = monotonic() + PATIENCE
        while not self._inner and not Tracing.lock.acquire(timeout=_PIECE):
            if monotonic() > end:
                return False
        return True

    def take(self) -> bool:
        """Wait for the turn, and take it. Returns whether this thread has it."""
        if not self.wait():
            return False
        if not self._inner:
            Tracing.thread = get_ident()
            Undo.finish()
        return True
