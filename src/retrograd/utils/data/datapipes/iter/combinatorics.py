"""Pipes that change the order of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from ...sampler import SequentialSampler, drawn_seed
from .._batching import Shuffling
from .._decorator import functional_datapipe
from .._length import no_length
from ..datapipe import IterDataPipe

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe[Any]):
    """What a sampler makes of a pipe with a length. `SequentialSampler` gives the numbers of the samples."""

    datapipe: Any
    sampler: Any

    def __init__(self, datapipe: Any, sampler: Any = SequentialSampler, sampler_args: tuple[Any, ...] | None = None,
                 sampler_kwargs: dict[str, Any] | None = None) -> None:
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        super().__init__()
        self.datapipe = datapipe
        self.sampler_args = sampler_args or ()
        self.sampler_kwargs = {**(sampler_kwargs or {}), "data_source": self.datapipe}
        self.sampler = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        if isinstance(self.sampler, Sized):
            return len(self.sampler)
        raise no_length(self)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(Shuffling, IterDataPipe[Any]):
    """Gives samples in a random order (as a method: ``shuffle``).

    A buffer of ``buffer_size`` samples is kept, and each next sample is drawn from the buffer. ``unbatch_level`` is the
    number of levels of batches that are taken apart before. The seed of each pass is drawn from the default generator,
    unless `set_seed` has set the seed of the next pass.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).shuffle().set_seed(4))
    [1, 3, 0, 4, 2]
    """

    datapipe: Any
    buffer_size: int

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        super().__init__()
        self._buffer: list[Any] = []
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        for sample in self.datapipe:
            if len(self._buffer) == self.buffer_size:
                place = self._rng.randint(0, len(self._buffer) - 1)
                drawn, self._buffer[place] = self._buffer[place], sample
                yield drawn
            else:
                self._buffer.append(sample)
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self) -> int:
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise no_length(self)

    def reset(self) -> None:
        """Begin a pass with an empty buffer and a new seed."""
        self._buffer = []
        if self._enabled:
            self._rng.seed(drawn_seed(None) if self._seed is None else self._seed)
            self._seed = None

    def __del__(self) -> None:
        self._buffer.clear()
