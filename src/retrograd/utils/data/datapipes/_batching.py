"""What both kinds of pipes that make batches share, and both kinds that shuffle."""

import random
from collections.abc import Sized
from typing import Any, Self

from ._length import no_length
from .datapipe import DataChunk


class Batching:
    """The options of a pipe that makes batches, and the number of its batches."""

    datapipe: Any
    batch_size: int
    drop_last: bool

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False,
                 wrapper_class: type[Any] = DataChunk) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__()
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __len__(self) -> int:
        if not isinstance(self.datapipe, Sized):
            raise no_length(self)
        rest = 0 if self.drop_last else self.batch_size - 1
        return (len(self.datapipe) + rest) // self.batch_size


class Shuffling:
    """The switches of a pipe that shuffles, and its random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> Self:
        """Shuffle from now on, or keep the order of the samples."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """Set the seed of the next pass."""
        self._seed = seed
        return self
