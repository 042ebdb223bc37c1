"""Threads for kernels on large arrays: the parts of a loop at once, where NumPy lets go of the interpreter's lock.

A kernel must do most of its work inside NumPy, on parts that nobody else writes to, and must not need NumPy's
floating-point flags, which are off in the threads. The pool is made when it is first needed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

# How long a part takes at least, in nanoseconds: less is done sooner than handed over.
ENOUGH = 250_000


def available() -> int:
    """How many threads to use: OMP_NUM_THREADS, where it is set, or the cores that this process may use."""
    told = os.environ.get("OMP_NUM_THREADS", "")
    if told.isdigit() and int(told):
        return int(told)
    cores: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)
    return cores() or 1


class _Pool:
    """The threads beside the one that calls; None where there are none, and before they are needed."""

    lock = threading.Lock()
    executor: ThreadPoolExecutor | None = None
    size = 0

    @classmethod
    def get(cls) -> ThreadPoolExecutor | None:
        with cls.lock:
            if not cls.size:
                cls.size = available()
                if cls.size > 1:
                    cls.executor = ThreadPoolExecutor(cls.size - 1, "retrograd", lambda: np.seterr(all="ignore"))
        return cls.executor

    @classmethod
    def forget(cls) -> None:
        """A forked process has none of the threads of its parent."""
        cls.lock, cls.executor, cls.size = threading.Lock(), None, 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Pool.forget)


def in_parts(work: Callable[[int, int], object], length: int, cost: float) -> None:
    """`work(start, stop)` for ranges that make up `length`, at once if all of it costs enough nanoseconds."""
    parts = min(length, int(cost) // ENOUGH)
    pool = _Pool.get() if parts > 1 else None
    if pool is None:
        work(0, length)
        return
    parts = min(parts, _Pool.size)
    ends = [length * i // parts for i in range(parts + 1)]
    waiting = [pool.submit(work, start, stop) for start, stop in pairwise(ends[1:])]
    try:
        work(0, ends[1])
    finally:
        for future in waiting:
            future.result()
