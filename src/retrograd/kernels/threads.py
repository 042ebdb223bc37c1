"""Large work in parts, on the threads that this process may use. Must not know what the work is."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import pairwise

# From how many elements on handing over a part costs less than it saves.
LARGE = 1 << 18


def _count() -> int:
    """How many threads to use: what OMP_NUM_THREADS or OPENBLAS_NUM_THREADS says, or one for each core."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        said = os.environ.get(name, "")
        if said.isdigit():
            return max(1, int(said))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_threads = _count()
_making = threading.Lock()
_pool: list[ThreadPoolExecutor] = []


def available() -> int:
    """How many threads the parts of large work may run on."""
    return _threads


def _workers() -> ThreadPoolExecutor:
    with _making:
        if not _pool:
            _pool.append(ThreadPoolExecutor(_threads - 1, "retrograd"))
        return _pool[0]


def _forget() -> None:
    """A child process has none of its parent's threads."""
    global _making
    _making = threading.Lock()
    _pool.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def in_parts(work: Callable[[int, int], None], count: int, elements: int) -> None:
    """`work(start, stop)` over parts of range(count), at once on several threads where there are many `elements`.

    Each part sees the context of the caller, and with it what NumPy does with floating-point errors.
    """
    if _threads == 1 or elements < LARGE or count < _threads:
        work(0, count)
        return
    parts = [*pairwise([count * i // _threads for i in range(_threads + 1)])]
    others = [_workers().submit(copy_context().run, work, start, stop) for start, stop in parts[1:]]
    try:
        work(*parts[0])
    finally:
        for other in others:
            other.result()
