"""Pipes that make batches and groups of samples, or take them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from .._batching import Batching
from .._decorator import functional_datapipe
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import _check_unpickable_fn

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(Batching, IterDataPipe[Any]):
    """Makes batches of samples (as a method: ``batch``). ``drop_last`` leaves a shorter last batch out."""

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """Takes batches apart (as a method: ``unbatch``), one level, or ``unbatch_level`` levels; -1 means all levels."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        if self.unbatch_level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, unbatch_level: int) -> Iterator[Any]:
        if unbatch_level == 0 or (unbatch_level == -1 and not isinstance(element, list)):
            yield element
        elif isinstance(element, list):
            for item in element:
                yield from self._dive(item, unbatch_level if unbatch_level == -1 else unbatch_level - 1)
        else:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Any]):
    """Makes groups of the samples with the same key (as a method: ``groupby``).

    A group is given out when it has ``group_size`` samples. If ``buffer_size`` samples wait, the biggest group is given
    out, if it has ``guaranteed_group_size`` samples; it is dropped with ``drop_remaining``, and otherwise RuntimeError
    is raised. The other groups come at the end. With ``keep_key`` an item is the key with the group.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(["a", "bb", "c"]).groupby(len, keep_key=True))
    [(1, ['a', 'c']), (2, ['bb'])]
    """

    def __init__(self, datapipe: Any, group_key_fn: Callable[[Any], Any], *, keep_key: bool = False,
                 buffer_size: int = 10000, group_size: int | None = None, guaranteed_group_size: int | None = None,
                 drop_remaining: bool = False) -> None:
        _check_unpickable_fn(group_key_fn)
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size = buffer_size
        self.buffer_elements: defaultdict[Any, list[Any]] = defaultdict(list)
        self.curr_buffer_size = 0
        self.group_size = group_size
        self.guaranteed_group_size = None
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
            self.guaranteed_group_size = guaranteed_group_size
        self.drop_remaining = drop_remaining
        self.wrapper_class = DataChunk

    def _remove_biggest_key(self) -> Any:
        """Take the biggest group out of the buffer: None if it is dropped."""
        key = max(self.buffer_elements, key=lambda one: len(self.buffer_elements[one]))
        size = len(self.buffer_elements[key])
        enough = self.guaranteed_group_size is None or size >= self.guaranteed_group_size
        if not enough and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(self.buffer_elements[key]))
        group = self._taken(key)
        return group if enough else None

    def _taken(self, key: Any) -> Any:
        group = self.buffer_elements.pop(key)
        self.curr_buffer_size -= len(group)
        return self.wrapper_class(group)

    def _given(self, key: Any, group: Any) -> Any:
        return (key, group) if self.keep_key else group

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            self.buffer_elements[key].append(sample)
            self.curr_buffer_size += 1
            if self.group_size is not None and self.group_size == len(self.buffer_elements[key]):
                yield self._given(key, self._taken(key))
            if self.curr_buffer_size == self.max_buffer_size:
                group = self._remove_biggest_key()
                if group is not None:
                    yield self._given(key, group)       # PyTorch gives the key of the latest sample, too
        for key in tuple(self.buffer_elements):
            yield self._given(key, self._taken(key))

    def reset(self) -> None:
        """Begin with an empty buffer."""
        self.curr_buffer_size = 0
        self.buffer_elements = defaultdict(list)
