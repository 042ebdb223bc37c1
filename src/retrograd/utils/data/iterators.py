"""One pass of a `DataLoader` over its dataset: in this process, or with worker processes."""

from __future__ import annotations

import multiprocessing
import weakref
from itertools import cycle
from typing import Any, Self

from ...autograd.profiler import record_function
from ...foundations.errors import warn
from ..caught import ExceptionWrapper
from ._utils.crew import Crew
from ._utils.fetch import _DatasetKind
from ._utils.worker import Task, _IterableDatasetStopIteration
from .sampler import drawn_seed


class _BaseDataLoaderIter:
    """An iterator of batches."""

    def __init__(self, loader: Any) -> None:
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._index_sampler = loader._index_sampler
        if loader.pin_memory:
            warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                 "used.")
        _BaseDataLoaderIter._reset(self, loader, True)       # a sampler may draw its order now, before the seed
        self._base_seed = drawn_seed(loader.generator)
        self._profile_name = f"enumerate(DataLoader)#{type(self).__name__}.__next__"

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Begin a new pass: the first one, or another one."""
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._length_told: int | None = loader._IterableDataset_len_called

    def __iter__(self) -> Self:
        return self

    def _next_data(self) -> Any:
        """The next batch. Raises StopIteration at the end."""
        raise NotImplementedError

    def __next__(self) -> Any:
        with record_function(self._profile_name):
            data = self._next_data()
        self._num_yielded += 1
        told = self._length_told
        if self._dataset_kind == _DatasetKind.Iterable and told is not None and self._num_yielded > told:
            warn(f"Length of IterableDataset {self._dataset} was reported to be {told}(when accessing "
                 f"len(dataloader)), but {self._num_yielded} samples have been fetched. {self._advice()}")
        return data

    def _advice(self) -> str:
        """What the warning about more samples than announced says besides."""
        return ""

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """An iterator that reads the dataset itself."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if loader.timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetcher = _DatasetKind.create_fetcher(loader._dataset_kind, loader.dataset, loader._auto_collation,
                                                    loader.collate_fn, loader.drop_last)

    def _next_data(self) -> Any:
        return self._fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """An iterator over the batches of worker processes.

    Each batch has a number. A batch is asked of the next worker in turn, and batches are given out in the order of
    their numbers, so the order does not depend on the speed of the workers. There are at most `prefetch_factor` batches
    for each worker on their way.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        count = self._num_workers = loader.num_workers
        if not loader.prefetch_factor:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._most = loader.prefetch_factor * count
        self._in_order, self._persistent = loader.in_order, loader.persistent_workers
        tasks = (Task(loader._dataset_kind, loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last,
                      self._base_seed, loader.worker_init_fn, i, count) for i in range(count))
        self._crew = Crew(loader.multiprocessing_context or multiprocessing, tasks, loader.timeout)
        self._workers = self._crew.processes
        weakref.finalize(self, self._crew.stop)              # also at the end of the program
        self._reset(loader, True)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._asked = self._given = 0                        # the numbers of the next batch to ask for, to give out
        self._asked_of: dict[int, int] = {}                  # the worker of each batch that was not given out
        self._arrived: dict[int, Any] = {}                   # batches that wait for earlier ones
        self._active = [True] * self._num_workers            # whether the worker's dataset has more samples
        self._load = [0] * self._num_workers
        self._turns = cycle(range(self._num_workers))
        if not first_iter:
            self._crew.resume()
        for _ in range(self._most):
            self._ask()

    def _ask(self) -> None:
        """Ask the next worker for the next batch, if there are more indices and active workers."""
        try:
            indices = next(self._sampler_iter)
        except StopIteration:
            return
        worker = self._next_worker()
        if worker is None:
            return
        self._crew.send(worker, (self._asked, indices))
        self._asked_of[self._asked] = worker
        self._load[worker] += 1
        self._asked += 1

    def _next_worker(self) -> int | None:
        """The next active worker in turn. If the order of batches is free, busy workers are left out."""
        for _ in range(self._num_workers):
            worker = next(self._turns)
            if self._active[worker] and (self._in_order or self._load[worker] < self._most // sum(self._active)):
                return worker
        return None

    def _next_data(self) -> Any:
        while self._still_to_come():
            if self._given in self._arrived:
                return self._give(self._given, self._arrived.pop(self._given))
            number, data = self._crew.receive([i for i, active in enumerate(self._active) if active])
            if isinstance(data, _IterableDatasetStopIteration):
                self._active[data.worker_id] = False
                if not self._persistent:
                    self._crew.send(data.worker_id, None)
                self._ask()
            elif number == self._given or not self._in_order:
                return self._give(number, data)
            else:
                self._arrived[number] = data
        if not self._persistent:
            self._shutdown_workers()
        raise StopIteration

    def _still_to_come(self) -> bool:
        """Whether a batch is still to be given out. Goes on to the number of that batch."""
        while self._given < self._asked:
            worker = self._asked_of.get(self._given)
            if worker is not None and (self._active[worker] or self._given in self._arrived):
                return True
            self._asked_of.pop(self._given, None)
            self._given += 1
        return False

    def _give(self, number: int, data: Any) -> Any:
        self._load[self._asked_of.pop(number)] -= 1
        if number == self._given:
            self._given += 1
        self._ask()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _advice(self) -> str:
        return ("For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see https://pytorch.org/docs/stable/data.html#"
                "torch.utils.data.IterableDataset for examples.")

    def _shutdown_workers(self) -> None:
        self._crew.stop()
