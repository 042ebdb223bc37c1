"""The pipe that reads the samples of a map in a random order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...sampler import drawn_seed
from .._batching import Shuffling
from ..datapipe import IterDataPipe, MapDataPipe

__all__ = ["ShufflerIterDataPipe"]


class ShufflerIterDataPipe(Shuffling, IterDataPipe[Any]):
    """Gives the samples of a map in a random order (as a method: ``shuffle``). ``indices`` are the keys of the map.

    >>> from retrograd.utils.data.datapipes.map import SequenceWrapper
    >>> sorted(SequenceWrapper([3, 4, 5]).shuffle())
    [3, 4, 5]
    """

    datapipe: Any

    def __init__(self, datapipe: Any, *, indices: list[Any] | None = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self._shuffled_indices: list[Any] = self.indices

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        """Begin a pass in a new order."""
        if self._enabled and self._seed is None:
            self._seed = drawn_seed(None)
        self._rng.seed(self._seed)
        self._seed = None
        self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
