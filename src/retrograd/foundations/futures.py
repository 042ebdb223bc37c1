"""Values that are computed later, and functions that run when such a value is there: `torch.futures`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

from ..foundations.errors import noted
from .devices import device
from .names import PACKAGE

__all__ = ["Future", "collect_all", "wait_all"]
_HOME = f"{PACKAGE}.futures"                               # the module under which programs know what is here

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that some thread sets later, or an error in its place.

    >>> import retrograd as torch
    >>> future = torch.futures.Future()
    >>> doubled = future.then(lambda done: 2 * done.wait())
    >>> future.set_result(3)
    >>> doubled.wait()
    6
    """

    __module__ = _HOME

    def __init__(self, *, devices: list[int | str | device] | None = None) -> None:
        for place in devices or []:
            raise ValueError(f"Expected devices to have indices, got {device(place)}")
        self._changed = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: Exception | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether the value or the error is there."""
        return self._done

    def wait(self) -> T:
        """The value, as soon as a thread has set it. Raises the error that was set in its place."""
        with self._changed:
            self._changed.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """The value of a future that is done. Raises the error that was set in its place; RuntimeError if not done."""
        if not self._done:
            raise noted(
                RuntimeError("completed() INTERNAL ASSERT FAILED at \"/__w/pytorch/pytorch/aten/src/ATen/core/"
                             "ivalue_inl.h\":1016, please report a bug to PyTorch. "),
                because="the future has no value yet", instead="call wait()")
        if self._error is not None:
            raise self._error
        return cast(T, self._result)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """A future of what `callback` returns. `callback` gets this future, as soon as this future is done.

        An error of `callback` is the error of the new future.
        """
        _check_callable("then", callback)
        after: Future[S] = Future()

        def run(done: Future[T]) -> None:
            try:
                after.set_result(callback(done))
            except Exception as error:
                after._finish(error=_of_callback(error))

        self._call_when_done(run)
        return after

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Run `callback` with this future as soon as this future is done. Errors of `callback` are dropped."""
        _check_callable("add_done_callback", callback)

        def run(done: Future[T]) -> None:
            with suppress(Exception):
                callback(done)

        self._call_when_done(run)

    def set_result(self, result: T) -> None:
        """Set the value. Raises RuntimeError if the future is done."""
        self._finish(result)

    def set_exception(self, result: Exception) -> None:
        """Set an error, which `wait` and `value` raise. Raises AssertionError for anything but an exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(error=result)

    def _finish(self, result: Any = None, error: Exception | None = None) -> None:
        with self._changed:
            if self._done:
                raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can "
                                   "only be marked completed once.")
            self._result, self._error, self._done = result, error, True
            self._changed.notify_all()
        for callback in self._callbacks:
            callback(self)

    def _call_when_done(self, callback: Callable[[Future[T]], None]) -> None:
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """A future of the list of all these futures, which is done when the last of them is. An error of one is its error.

    >>> import retrograd as torch
    >>> first, second = torch.futures.Future(), torch.futures.Future()
    >>> both = torch.futures.collect_all([first, second])
    >>> first.set_result(1)
    >>> second.set_result(2)
    >>> [future.value() for future in both.wait()]
    [1, 2]
    """
    together: Future[list[Future[Any]]] = Future()
    left, lock = len(futures), threading.Lock()

    def one_is_done(done: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            last = left == 0
        if last:
            errors = [future._error for future in futures if future._error is not None]
            together._finish(list(futures), *errors[:1])

    for future in futures:
        future._call_when_done(one_is_done)
    if not futures:
        together.set_result([])
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all these futures, when all are there. Raises the first error."""
    return [future.wait() for future in collect_all(futures).wait()]


def _check_callable(name: str, callback: Any) -> None:
    if not callable(callback):
        raise noted(
            TypeError(f"{name}(): incompatible function arguments."),
            because="`callback` is a function of one future", given=type(callback).__name__)


def _of_callback(error: Exception) -> RuntimeError:
    """The error of a future whose function has failed."""
    return RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")


for _each in (collect_all, wait_all):
    _each.__module__ = _HOME
