"""The pipe that reads the samples of a map in a random order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Self

from ...sampler import drawn_seed
from ..datapipe import IterDataPipe, MapDataPipe

__all__ = ["ShufflerIterDataPipe"]


class ShufflerIterDataPipe(IterDataPipe[Any]):
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
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()
        self._shuffled_indices: list[Any] = self.indices

    def set_shuffle(self, shuffle: bool = True) -> Self:
        """Shuffle from now on, or keep the order of the indices."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """Set the seed of the next pass."""
        self._seed = seed
        return self

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
