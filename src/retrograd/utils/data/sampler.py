"""Samplers: iterables of the indices that a `DataLoader` reads. The random ones draw PyTorch's indices for a seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import chain, islice, repeat
from typing import Any, Generic, TypeVar, cast

from ...foundations.dtypes import float64, int64
from ...tensors.arguments.generator import Generator
from ...tensors.face.memory import as_tensor
from ...tensors.functions.creation.creation import empty
from ...tensors.functions.creation.random import multinomial, randint, random_, randperm

__all__ = ["BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
           "WeightedRandomSampler"]

T_co = TypeVar("T_co", covariant=True)
# How many indices one draw with replacement makes. The number decides which words of the random stream are used.
_DRAWN_AT_ONCE = 32


def drawn_seed(generator: Generator | None = None) -> int:
    """A random seed of 63 bits."""
    return int(random_(empty((), dtype=int64), generator=generator).item())


class Sampler(Generic[T_co]):
    """The base class of samplers. A subclass defines `__iter__`, which yields indices or lists of indices.

    If the number of indices is known, the subclass also defines `__len__`.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All indices of a data source, in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Random indices of a data source: permutations of all indices, or with `replacement` independent indices.

    `num_samples` is the number of indices, by default the length of the source. Without a generator, each pass draws a
    seed for a generator of its own from the default generator. Raises TypeError if `replacement` is no bool, ValueError
    if `num_samples` is no positive int.

    >>> import retrograd as torch
    >>> list(torch.utils.data.RandomSampler(range(4), generator=torch.Generator().manual_seed(0)))
    [0, 1, 3, 2]
    """

    def __init__(self, data_source: Sized, replacement: bool = False, num_samples: int | None = None,
                 generator: Generator | None = None) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """The number of indices of one pass."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        source, count = len(self.data_source), self.num_samples
        generator = Generator().manual_seed(drawn_seed()) if self.generator is None else self.generator
        at_once = _DRAWN_AT_ONCE if self.replacement else source
        for size in chain(repeat(at_once, count // at_once), [count % at_once]):
            if self.replacement:
                yield from randint(high=source, size=(size,), dtype=int64, generator=generator).tolist()
            else:
                yield from randperm(source, generator=generator).tolist()[:size]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices, in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, drawn with probabilities proportional to `weights`, which need not sum up to 1.

    Without `replacement` no index comes twice. Raises ValueError for wrong arguments.
    """

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True,
                 generator: Generator | None = None) -> None:
        _check_positive("num_samples", num_samples)
        _check_bool("replacement", replacement)
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise ValueError("weights should be a 1d sequence but given weights have shape "
                             f"{tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler. With `drop_last` a shorter last list is left out.

    Raises ValueError if `batch_size` is no positive int, or `drop_last` no bool.

    >>> import retrograd as torch
    >>> list(torch.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_positive("batch_size", batch_size)
        _check_bool("drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(cast(Sized, self.sampler))
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _check_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")
