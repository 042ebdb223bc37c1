"""What an `IterDataPipe` adds to its iterators: only the latest iterator is valid, samples are counted, and an error
says where it comes from.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

_FEEDBACK = ("\nFor feedback regarding this single iterator per IterDataPipe constraint, feel free to comment on this "
             "issue: https://github.com/pytorch/data/issues/45.")


class _SnapshotState(Enum):
    """Whether a pipe is new, stands where a snapshot put it, or is being read."""

    NotStarted = 0
    Restored = 1
    Iterating = 2


def _shown(value: Any) -> str:
    return value.__name__ if inspect.isfunction(value) else repr(value)


def described(pipe: Any) -> str:
    """The pipe's class with those arguments that the pipe keeps, for messages."""
    known = inspect.signature(type(pipe)).parameters
    kept = [f"{name}={_shown(value)}" for name, value in sorted(vars(pipe).items()) if name in known]
    return f"{type(pipe).__name__}({', '.join(kept)})"


def _check_valid(pipe: Any, iterator_id: int) -> None:
    """Raise RuntimeError if a later iterator has replaced the iterator of this number."""
    if getattr(pipe, "_is_child_datapipe", False):
        if not pipe._check_valid_iterator_id(iterator_id):
            raise RuntimeError("This iterator has been invalidated, because a new iterator has been created from one "
                               f"of the ChildDataPipes of {described(pipe.main_datapipe)}.{_FEEDBACK}")
    elif pipe._valid_iterator_id != iterator_id:
        raise RuntimeError("This iterator has been invalidated because another iterator has been created from the same "
                           f"IterDataPipe: {described(pipe)}\nThis may be caused by multiple references to the same "
                           f"IterDataPipe. We recommend using `.fork()` if that is necessary.{_FEEDBACK}")


def _begin(pipe: Any) -> int:
    """Make the iterators before this one invalid, begin anew, and return the number of this iterator."""
    if getattr(pipe, "_is_child_datapipe", False):
        number: int = pipe._set_main_datapipe_valid_iterator_id()
        return number
    pipe._valid_iterator_id = 0 if pipe._valid_iterator_id is None else pipe._valid_iterator_id + 1
    pipe.reset()
    return int(pipe._valid_iterator_id)


def _name_place(error: Exception, pipe: Any) -> None:
    """Say in an error which pipe raised it. The innermost pipe is named."""
    said = "This exception is thrown by __iter__ of"
    where = f"\n{said} {described(pipe)}"
    if not error.args or not isinstance(error.args[0], str):
        error.args = (where,)
    elif said not in error.args[0] and _FEEDBACK not in error.args[0]:
        error.args = (error.args[0] + where, *error.args[1:])


class IteratorDecorator:
    """The iterator of a pipe whose `__iter__` is no generator."""

    def __init__(self, iterator: Iterator[Any], source_dp: Any, iterator_id: int, counts: bool) -> None:
        self.iterator, self.source_dp, self.iterator_id = iterator, source_dp, iterator_id
        self._counts = counts               # false if the pipe's own `__next__` counts

    def __iter__(self) -> IteratorDecorator:
        return self

    def __next__(self) -> Any:
        _check_valid(self.source_dp, self.iterator_id)
        found = next(self.iterator)
        if self._counts:
            self.source_dp._number_of_samples_yielded += 1
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.iterator, name)


def _resumed(pipe: Any) -> Iterator[Any] | None:
    """The iterator that a snapshot left, once; otherwise None."""
    left: Iterator[Any] | None = pipe._fast_forward_iterator
    pipe._fast_forward_iterator = None
    if left is not None:
        pipe._snapshot_state = _SnapshotState.Iterating
    return left


def _from_generator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def __iter__(pipe: Any) -> Iterator[Any]:
        left = _resumed(pipe)
        if left is not None:
            yield from left
            return
        iterator_id = _begin(pipe)
        source = function(pipe)
        try:
            for sample in source:
                pipe._number_of_samples_yielded += 1
                yield sample
                _check_valid(pipe, iterator_id)
        except Exception as error:
            _name_place(error, pipe)
            raise
        finally:
            source.close()

    return __iter__


def _from_iterator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def __iter__(pipe: Any) -> Iterator[Any]:
        left = _resumed(pipe)
        if left is not None:
            return left
        iterator_id = _begin(pipe)
        iterator = function(pipe)
        if isinstance(iterator, IteratorDecorator) and iterator.source_dp is pipe:
            iterator = iterator.iterator        # the method of a base class has put it on
        return IteratorDecorator(iterator, pipe, iterator_id, counts=iterator is not pipe)

    return __iter__


def _counted(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def __next__(pipe: Any) -> Any:
        found = function(pipe)
        pipe._number_of_samples_yielded += 1
        return found

    return __next__


def _conditional(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method `reset` of a pipe, which does nothing for a pipe that a snapshot has just put to its place."""
    @functools.wraps(function)
    def reset(pipe: Any) -> None:
        if pipe._snapshot_state != _SnapshotState.Restored:
            pipe._number_of_samples_yielded = 0
            function(pipe)
        pipe._snapshot_state = _SnapshotState.Iterating

    return reset


def hook_iterator(cls: Any) -> None:
    """Put the rules of iterators on the methods that the class itself defines."""
    own = vars(cls)
    if "__iter__" in own:
        cls.__iter__ = (_from_generator if inspect.isgeneratorfunction(own["__iter__"]) else _from_iterator)(
            own["__iter__"])
    if "__next__" in own:
        cls.__next__ = _counted(own["__next__"])
    if "reset" in own:
        cls.reset = _conditional(own["reset"])
