"""Pipes that make several pipes of one: copies, or the samples of each class.

The main pipe reads the source. The children ask the main pipe for their next samples, and what other children will need
stays in a buffer.
"""

from __future__ import annotations

import copy as copying
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Literal

from .....foundations.errors import warn
from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


def _check_count(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")


def _check_size(name: str, buffer_size: int) -> None:
    if buffer_size < 0:
        warn(f"Unlimited buffer size is set for `{name}`, please be aware of OOM at random places")


class _Divided(IterDataPipe[Any]):
    """A main pipe: it reads the source, and keeps a buffer for each child."""

    main_datapipe: Any

    def __init__(self, main_datapipe: Any, num_instances: int, buffer_size: int) -> None:
        self.main_datapipe, self.num_instances, self.buffer_size = main_datapipe, num_instances, buffer_size
        self._restart()

    def _restart(self) -> None:
        self._source: Iterator[Any] | None = None
        self._buffers: list[deque[Any]] = [deque() for _ in range(self.num_instances)]
        self._ended = [False] * self.num_instances

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{type(self).__name__} is read through its children")

    def _read(self) -> None:
        """Put the next sample of the source into buffers. Raises StopIteration at the end."""
        raise NotImplementedError

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """The samples of one child."""
        if self._source is None:
            self._source = iter(self.main_datapipe)
        buffer = self._buffers[instance_id]
        while True:
            while not buffer:
                try:
                    self._read()
                except StopIteration:
                    self._ended[instance_id] = True
                    return
            yield buffer.popleft()

    def is_every_instance_exhausted(self) -> bool:
        """Whether all children have come to the end."""
        return all(self._ended)

    def get_length_by_instance(self, instance_id: int) -> int:
        """The number of samples of a child. Raises TypeError if it is unknown."""
        raise TypeError

    def reset(self) -> None:
        """Begin the source anew."""
        self._restart()

    def __getstate__(self) -> Any:
        state = {**self.__dict__, "_source": None}
        hook = IterDataPipe.getstate_hook
        return state if hook is None else hook(state)


class _ForkerIterDataPipe(_Divided):
    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int = 1000,
                 copy: Literal["shallow", "deep"] | None = None) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        _check_size("fork", buffer_size)
        if copy not in (None, "shallow", "deep"):
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        self.copy_fn: Callable[[Any], Any] | None = {"shallow": copying.copy, "deep": copying.deepcopy}.get(copy or "")

    def __len__(self) -> int:
        return len(self.main_datapipe)

    def _read(self) -> None:
        assert self._source is not None
        sample = next(self._source)
        for buffer in self._buffers:
            buffer.append(sample if self.copy_fn is None else self.copy_fn(sample))
        if 0 <= self.buffer_size < max(map(len, self._buffers)):
            raise BufferError(f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient.")

    def get_length_by_instance(self, instance_id: int) -> int:
        """The length of the source."""
        return len(self.main_datapipe)


class _DemultiplexerIterDataPipe(_Divided):
    def __init__(self, datapipe: Any, num_instances: int, classifier_fn: Callable[[Any], int | None], drop_none: bool,
                 buffer_size: int) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        _check_size("demux", buffer_size)
        self.classifier_fn, self.drop_none = classifier_fn, drop_none

    def _read(self) -> None:
        assert self._source is not None
        sample = next(self._source)
        kind = self.classifier_fn(sample)
        if kind is None and self.drop_none:
            return
        if kind is None or not 0 <= kind < self.num_instances:
            raise ValueError("Output of the classification fn should be between 0 and "
                             f"{self.num_instances - 1}. {kind} is returned.")
        self._buffers[kind].append(sample)
        if 0 <= self.buffer_size < sum(map(len, self._buffers)):
            raise BufferError(f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is "
                              "insufficient.")


class _ChildDataPipe(IterDataPipe[Any]):
    """One of the pipes into which a main pipe is divided. All children must be read in the same pass."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: Any, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        samples: Iterator[Any] = self.main_datapipe.get_next_element_by_instance(self.instance_id)
        return samples

    def __len__(self) -> int:
        return int(self.main_datapipe.get_length_by_instance(self.instance_id))

    def _set_main_datapipe_valid_iterator_id(self) -> int:
        """Join the present pass of the main pipe. If this child has joined it before, begin a new pass."""
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif main._valid_iterator_id == self._valid_iterator_id:
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warn("Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and "
                     "each child DataPipe will read from the start again.")
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        return int(main._valid_iterator_id)

    def _check_valid_iterator_id(self, iterator_id: int) -> bool:
        return bool(iterator_id == self._valid_iterator_id == self.main_datapipe._valid_iterator_id)


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """Makes several equal pipes of one (as a method: ``fork``). The samples are copied if ``copy`` says how.

    A child may be ``buffer_size`` samples ahead of another child, or BufferError is raised; -1 means any number.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> left, right = IterableWrapper(range(3)).fork(2)
    >>> list(left), list(right)
    ([0, 1, 2], [0, 1, 2])
    """

    def __new__(cls, datapipe: Any, num_instances: int, buffer_size: int = 1000,
                copy: Literal["shallow", "deep"] | None = None) -> Any:
        _check_count(num_instances)
        if num_instances == 1:
            return datapipe
        main = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(main, i) for i in range(num_instances)]


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """Gives each sample to the pipe whose number ``classifier_fn`` returns (as a method: ``demux``).

    Samples for which the function returns None are left out with ``drop_none``, and raise ValueError without it. At
    most ``buffer_size`` samples wait for other children, or BufferError is raised; -1 means any number.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> even, odd = IterableWrapper(range(4)).demux(2, (2).__rmod__)
    >>> list(even), list(odd)
    ([0, 2], [1, 3])
    """

    def __new__(cls, datapipe: Any, num_instances: int, classifier_fn: Callable[[Any], int | None],
                drop_none: bool = False, buffer_size: int = 1000) -> Any:
        _check_count(num_instances)
        _check_unpickable_fn(classifier_fn)
        main = _DemultiplexerIterDataPipe(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(main, i) for i in range(num_instances)]
