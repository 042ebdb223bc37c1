"""Futures of operations that go on only while a process waits for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..foundations.futures import Future

__all__ = ["Pending"]

T = TypeVar("T")
S = TypeVar("S")


class Pending(Future[T]):
    """A future whose `wait` calls `drive()`, which ends the operation that sets the value."""

    def __init__(self, drive: Callable[[], object]) -> None:
        super().__init__()
        self.drive = drive

    def wait(self) -> T:
        """The value. The operation goes on until the value is there."""
        if not self.done():
            self.drive()
        return super().wait()

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what `callback` returns. Its `wait` ends the same operation."""
        after: Pending[S] = Pending(self.drive)
        made: Future[Any] = super().then(callback)
        made.add_done_callback(lambda done: after._finish(done._result, done._error))
        return after
