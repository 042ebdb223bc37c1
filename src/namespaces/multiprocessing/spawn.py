"""Starting several processes that run one function, and waiting for all of them."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..foundations.errors import warn
from ..foundations.launching import Everyone

__all__ = ["ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
           "spawn", "start_processes"]


class ProcessException(Exception):
    """A process failed: its number among the processes, and its number in the system."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception in a process. The message has the traceback."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process ended without an exception, but with an exit code or by a signal."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int,
                 signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], error_file: str) -> None:
    """What a process does: call the function, and write the traceback of an exception into a file."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass                                             # the process that started this one was interrupted, too
    except Exception as error:
        Path(error_file).write_bytes(pickle.dumps(traceback.format_exc()))
        if Everyone.left_by is not None:                 # the others might wait for this process
            Everyone.left_by(error)
        sys.exit(1)


class ProcessContext:
    """The processes that `start_processes` started with `join=False`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes in the system."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends, or for `timeout` seconds. Returns whether all processes have ended well.

        If a process has failed, the others are stopped. They have `grace_period` seconds to end by themselves. Raises
        ProcessRaisedException or ProcessExitedException for the process that failed.
        """
        if not self.sentinels:
            return True
        ended = [self.sentinels.pop(sentinel)
                 for sentinel in multiprocessing.connection.wait([*self.sentinels], timeout=timeout)]
        for index in ended:
            self.processes[index].join()
        failed = next((index for index in ended if self.processes[index].exitcode != 0), None)
        if failed is None:
            return not self.sentinels
        self._stop(grace_period)
        raise self._failure(failed)

    def _stop(self, grace_period: float | None) -> None:
        """End the processes that still run: by a request, then by force."""
        end = time.monotonic() + (grace_period or 0)
        for process in self.processes:
            process.join(max(0, end - time.monotonic()) if grace_period else 0)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        end = time.monotonic() + 30
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _failure(self, index: int) -> ProcessException:
        process = self.processes[index]
        error_file = Path(self.error_files[index])
        if error_file.exists() and error_file.stat().st_size:
            text = pickle.loads(error_file.read_bytes())
            return ProcessRaisedException(f"\n\n-- Process {index} terminated with the following error:\n{text}", index,
                                          process.pid)
        code = process.exitcode
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"<Unknown signal {-code}>"
            return ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code,
                                          name)
        return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """The processes that `spawn` started with `join=False`."""


def start_processes(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True,
                    daemon: bool = False, start_method: str = "spawn") -> Any:
    """Start `nprocs` processes that call `fn(i, *args)`, where `i` is the number of the process.

    With `join`, wait until all processes have ended. If one fails, the others are stopped, and the exception says which
    process failed and how. Without `join`, return a `ProcessContext`.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, error_files = [], []
    for i in range(nprocs):
        handle, error_file = tempfile.mkstemp(prefix="process-errors-", suffix=".pickle")
        os.close(handle)
        os.unlink(error_file)                            # the file appears only if the process has an error to tell
        process = context.Process(target=_run, args=(fn, i, args, error_file), daemon=daemon)
        process.start()
        processes.append(process)
        error_files.append(error_file)
    started = ProcessContext(processes, error_files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> Any:
    """`start_processes`, each process in a new interpreter. Another `start_method` gives a warning, and is ignored."""
    if start_method != "spawn":
        warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method "
             "use:\n\t\t torch.multiprocessing.start_processes(...)", FutureWarning)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
