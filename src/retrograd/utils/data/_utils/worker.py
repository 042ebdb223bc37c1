"""What a worker process of a `DataLoader` does: it waits for indices, and sends back the batches at these indices."""

from __future__ import annotations

import queue
import random
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import parent_process
from typing import Any

import numpy as np

from ....tensors.arguments.generator import manual_seed
from ....tensors.face.threading import set_num_threads
from ...caught import ExceptionWrapper
from .fetch import _DatasetKind

# How many seconds a worker waits for indices before it asks whether its parent still runs.
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself: its number, the number of workers, its seed, and its copy of the dataset.

    `rng` and `worker_method` are there for programs that read them: every worker is a process with the usual
    generators.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """The message that the dataset of a worker has come to its end."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """The message, and the answer to it, that a worker which stays alive begins its dataset anew."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker must know from the beginning. `base_seed` is the random number from which the seeds follow."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], Any] | None
    worker_id: int
    num_workers: int

    def fetcher(self) -> Any:
        """A new fetcher for the dataset."""
        return _DatasetKind.create_fetcher(self.kind, self.dataset, self.auto_collation, self.collate_fn,
                                           self.drop_last)


class _Present:
    """What `get_worker_info` returns in this process."""

    info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What the worker process that runs this call knows of itself; None in the main process."""
    return _Present.info


def _seed(base_seed: int, worker_id: int) -> int:
    """Seed all generators of the process. Python's and ours get the seed that is returned, NumPy's one of its own."""
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(_generate_state(base_seed, worker_id))
    return seed


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """The four words of 32 bits that seed NumPy in a worker."""
    words = np.random.SeedSequence((worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0)).generate_state(4)
    return [int(word) for word in words]


def _worker_loop(task: Task, index_queue: Any, data_queue: Any, done_event: Any) -> None:
    """Answer the messages in `index_queue` by batches in `data_queue`, until None comes or the parent has ended."""
    try:
        set_num_threads(1)
        worker = _Worker(task, data_queue, done_event)
        parent = parent_process()                            # not the server that forked this process
        while parent is None or parent.is_alive():
            try:
                message = index_queue.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            if message is None:
                break
            worker.answer(message)
    except KeyboardInterrupt:
        pass                                                 # the main process is interrupted, too
    if done_event.is_set():
        data_queue.cancel_join_thread()
        data_queue.close()


class _Worker:
    """The state of a worker: its fetcher, or the error that prevented one, and whether its dataset has ended."""

    def __init__(self, task: Task, data_queue: Any, done_event: Any) -> None:
        self.task, self.data_queue, self.done_event = task, data_queue, done_event
        self.ended = False
        self.fetcher: Any = None
        self.error: ExceptionWrapper | None = None
        seed = _seed(task.base_seed, task.worker_id)
        _Present.info = WorkerInfo(task.worker_id, task.num_workers, seed, task.dataset)
        try:
            if task.init_fn is not None:
                task.init_fn(task.worker_id)
            self.fetcher = task.fetcher()
        except Exception:
            self.error = self.caught()

    def caught(self) -> ExceptionWrapper:
        """The exception that is being handled, for the main process."""
        return ExceptionWrapper(where=f"in DataLoader worker process {self.task.worker_id}")

    def answer(self, message: Any) -> None:
        """Send the batch that a message asks for. A message is a number and indices. Late messages are skipped."""
        if isinstance(message, _ResumeIteration):
            self.data_queue.put((message, None))
            self.ended = False
            self.fetcher = self.task.fetcher()
        elif not self.ended and not self.done_event.is_set():
            number, indices = message
            self.data_queue.put((number, self.fetched(indices)))

    def fetched(self, indices: Any) -> Any:
        """The batch at these indices, or the message that says why there is none."""
        if self.error is not None:
            error, self.error = self.error, None
            return error
        try:
            return self.fetcher.fetch(indices)
        except StopIteration:
            if self.task.kind != _DatasetKind.Iterable:
                return self.caught()
            self.ended = True
            return _IterableDatasetStopIteration(self.task.worker_id)
        except Exception:
            return self.caught()
