"""The worker processes of a `DataLoader`: starting them, speaking with them, noticing their end, stopping them."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterable
from pickle import PicklingError
from time import monotonic
from typing import Any

from ....foundations.errors import noted, warn
from .worker import Task, _ResumeIteration, _worker_loop

# How many seconds pass between two looks at whether the workers still run, and how many seconds a worker has to end.
_PERIOD, _GRACE = 0.5, 5.0


class Crew:
    """Worker processes with a queue of indices for each, and one queue for the batches of all."""

    def __init__(self, context: Any, tasks: Iterable[Task], timeout: float) -> None:
        self.timeout, self.stopped = timeout, False
        self.owner = os.getpid()
        self.results, self.done = context.Queue(), context.Event()
        self.queues: list[Any] = []
        self.processes: list[Any] = []
        try:
            for task in tasks:
                self._start(context, task)
        except BaseException:
            self.stop()
            raise

    def _start(self, context: Any, task: Task) -> None:
        indices = context.Queue()
        indices.cancel_join_thread()                         # what nobody reads any more must not keep us waiting
        process = context.Process(target=_worker_loop, args=(task, indices, self.results, self.done), daemon=True)
        try:
            process.start()
        except (TypeError, AttributeError, PicklingError):
            warn("Got pickle error when attempting to start a worker Process. This might be because the worker Process "
                 "arguments are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX "
                 "platforms to 'forkserver', which requires the worker Process arguments to be picklable. You can also "
                 "try multiprocessing.set_start_method('fork').")
            raise
        self.queues.append(indices)
        self.processes.append(process)

    def send(self, worker: int, message: Any) -> None:
        """Put a message into the queue of a worker."""
        self.queues[worker].put(message)

    def receive(self, expected: Iterable[int]) -> Any:
        """The next pair of a number and a batch, from any worker.

        `expected` are the workers that should still run. Raises RuntimeError if one of them has ended, or if nothing
        comes within the timeout.
        """
        expected, end = list(expected), monotonic() + self.timeout
        while True:
            wait = min(_PERIOD, max(end - monotonic(), 0)) if self.timeout else _PERIOD
            try:
                return self.results.get(timeout=wait)
            except queue.Empty:
                ended = [self.processes[worker] for worker in expected if not self.processes[worker].is_alive()]
                if ended:
                    raise _unexpected_end(ended) from None
                if self.timeout and monotonic() >= end:
                    raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None

    def resume(self) -> None:
        """Let all workers begin their datasets anew. Batches that are still on their way are thrown away."""
        everyone = range(len(self.processes))
        for worker in everyone:
            self.send(worker, _ResumeIteration())
        missing = len(self.processes)
        while missing:
            number, _ = self.receive(everyone)
            missing -= isinstance(number, _ResumeIteration)

    def stop(self) -> None:
        """End the workers. A worker that does not end in time is terminated."""
        if self.stopped or os.getpid() != self.owner:        # a forked child must not stop the workers of its parent
            return
        self.stopped = True
        self.done.set()
        for indices in self.queues:
            indices.put(None)
        try:
            for process in self.processes:
                process.join(timeout=_GRACE)
        finally:
            for process in self.processes:
                if process.is_alive():
                    process.terminate()
                    process.join(timeout=_GRACE)
            for closed in (*self.queues, self.results):
                closed.cancel_join_thread()
                closed.close()


def _unexpected_end(processes: list[Any]) -> RuntimeError:
    """The error for processes that ended by themselves. It names their numbers and why they ended."""
    pids = ", ".join(str(process.pid) for process in processes)
    codes = ", ".join(f"signal {-process.exitcode}" if process.exitcode < 0 else f"exit status {process.exitcode}"
                      for process in processes)
    return noted(
        RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly"), given=codes,
        instead="if memory ran out, fewer workers or smaller batches")
