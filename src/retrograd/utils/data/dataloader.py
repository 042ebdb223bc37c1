"""The `DataLoader`: it reads a dataset in batches, in this process or in worker processes.

With the same seed, it gives PyTorch's batches in PyTorch's order. `_utils` has what fetches and collates samples.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import BaseContext
from typing import Any, Generic, Protocol, TypeVar, cast

from ...foundations.errors import warn
from ...kernels.native.threads import cores
from ...tensors.arguments.generator import Generator
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import _DatasetKind
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .iterators import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter
from .sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_collate_fn_t = Callable[[list[Any]], Any]
T_co = TypeVar("T_co", covariant=True)
# What decides the order of the batches, and so cannot change any more.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Samples(Protocol[T_co]):
    """What gives samples: a dataset, or another object with indices, such as a list."""

    def __getitem__(self, index: Any, /) -> T_co: ...


class _InfiniteConstantSampler:
    """None again and again: an `IterableDataset` needs no indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """An iterable of batches of a dataset.

    - `batch_size`: the number of samples of a batch; with None, each sample comes alone. `drop_last` leaves a shorter
      last batch out.
    - `shuffle`: read in a new random order in each pass. Instead, `sampler` may give the indices, or `batch_sampler`
      the lists of indices.
    - `collate_fn` makes a batch of a list of samples; by default `default_collate`.
    - `num_workers`: how many processes read; with 0, this process reads. Each worker prepares `prefetch_factor` batches
      in advance, by default 2. With `persistent_workers` the processes stay alive between the passes.
      `worker_init_fn(i)` runs in each worker first. `timeout`: the seconds to wait for a batch; 0 is for ever.
      `multiprocessing_context`: how processes are started, such as "spawn". Without `in_order`, batches come as soon as
      they are ready.
    - `generator`: the random numbers for the order and for the seeds of the workers.

    Raises ValueError for options that contradict each other. An exception in a worker is raised again here, with its
    traceback in the message; a worker that ends by itself raises RuntimeError.

    >>> import retrograd as torch
    >>> data = torch.utils.data.TensorDataset(torch.arange(5.))
    >>> _ = torch.manual_seed(0)
    >>> [batch.tolist() for (batch,) in torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)]
    [[1.0, 4.0], [2.0, 3.0], [0.0]]
    """

    def __init__(
        self, dataset: _Samples[T_co], batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None, batch_sampler: Iterable[Any] | None = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False, drop_last: bool = False,
        timeout: float = 0, worker_init_fn: Callable[[int], Any] | None = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = cast(Any, dataset)      # programs ask for its length, which not every dataset has
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn, self.in_order = timeout, worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        if self._dataset_kind == _DatasetKind.Iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        _check_order(batch_size, bool(shuffle), sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size = None
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = (RandomSampler(self.dataset, generator=generator) if shuffle
                           else SequentialSampler(self.dataset))
        if batch_size is not None:
            batch_sampler = BatchSampler(cast(Iterable[int], sampler), batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called: int | None = None
        self._iterator: _BaseDataLoaderIter | None = None
        self.check_worker_number_rationality()
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and "_initialized" in self.__dict__:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """How worker processes are started: a context of `multiprocessing`, or None for the default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None and not self.num_workers:
            raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), "
                             f"but got num_workers={self.num_workers}")
        if isinstance(context, str):
            known = multiprocessing.get_all_start_methods()
            if context not in known:
                raise ValueError(f"multiprocessing_context option should specify a valid start method in {known!r}, "
                                 f"but got multiprocessing_context={context!r}")
            context = multiprocessing.get_context(context)
        if context is not None and not isinstance(context, BaseContext):
            raise TypeError("multiprocessing_context option should be a valid context object or a string specifying "
                            f"the start method, but got multiprocessing_context={context}")
        self._context = context

    def __iter__(self) -> _BaseDataLoaderIter:
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self) -> _BaseDataLoaderIter:
        self.check_worker_number_rationality()
        return (_MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter)(self)

    @property
    def _auto_collation(self) -> bool:
        """Whether batches are made of lists of samples."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        """The indices, or the lists of indices, that are read."""
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        count = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are to be more workers than cores that this process may use."""
        if self.num_workers > cores():
            warn(f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number "
                 f"of worker in current system is {cores()}, which is smaller than what this DataLoader is going to "
                 "create. Please be aware that excessive worker creation might get DataLoader running slow or even "
                 "freeze, lower the worker number to avoid potential slowness/freeze if necessary.")


def _check_workers(num_workers: int, timeout: float, prefetch_factor: int | None, persistent: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to "
                         "enable multiprocessing, otherwise set prefetch_factor to None.")
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Refuse options about the order of an `IterableDataset`, which has its own order."""
    for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
        if value is not None:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                             f"{name}={value}")


def _check_order(batch_size: int | None, shuffle: bool, sampler: Any, batch_sampler: Any, drop_last: bool) -> None:
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                             "drop_last")
    elif batch_size is None and drop_last:
        raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
