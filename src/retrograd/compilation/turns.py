"""One thread at a time traces, since other arrays stand behind the tensors of all threads meanwhile."""

from __future__ import annotations

from contextlib import suppress
from threading import RLock, get_ident
from typing import ClassVar

from .program.undoing import Undo

# How many seconds a call waits while another thread traces.
PATIENCE = 10


class Tracing:
    """The thread that traces, and the lock that it holds."""

    lock = RLock()
    thread: ClassVar[int | None] = None


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
        return self._inner or Tracing.lock.acquire(timeout=PATIENCE)

    def take(self) -> bool:
        """Wait for the turn, and take it. Returns whether this thread has it."""
        if not self.wait():
            return False
        if not self._inner:
            Tracing.thread = get_ident()
            Undo.finish()
        return True
