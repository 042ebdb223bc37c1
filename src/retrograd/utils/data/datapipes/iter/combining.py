"""Pipes that make one pipe of several."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from .._decorator import functional_datapipe
from .._length import no_length
from ..datapipe import IterDataPipe

__all__ = ["ConcaterIterDataPipe", "MultiplexerIterDataPipe", "ZipperIterDataPipe"]


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Any]):
    """The samples of several pipes, one pipe after the other (as a method: ``concat``)."""

    datapipes: tuple[Any, ...]

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        if all(isinstance(pipe, Sized) for pipe in self.datapipes):
            return sum(len(pipe) for pipe in self.datapipes)
        raise no_length(self)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Any]):
    """One sample of each pipe in turn, until the shortest pipe ends (as a method: ``mux``).

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(3)).mux(IterableWrapper("ab")))
    [0, 'a', 1, 'b']
    """

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes
        self.buffer: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        for row in zip(*self.datapipes, strict=False):
            self.buffer.extend(row)
            while self.buffer:
                yield self.buffer.pop(0)

    def __len__(self) -> int:
        if all(isinstance(pipe, Sized) for pipe in self.datapipes):
            return min(len(pipe) for pipe in self.datapipes) * len(self.datapipes)
        raise no_length(self)

    def reset(self) -> None:
        """Begin with an empty buffer."""
        self.buffer = []


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[Any]):
    """Tuples with one sample of each pipe (as a method: ``zip``)."""

    datapipes: tuple[Any, ...]

    def __init__(self, *datapipes: Any) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*[iter(pipe) for pipe in self.datapipes], strict=False)

    def __len__(self) -> int:
        if all(isinstance(pipe, Sized) for pipe in self.datapipes):
            return min(len(pipe) for pipe in self.datapipes)
        raise no_length(self)
