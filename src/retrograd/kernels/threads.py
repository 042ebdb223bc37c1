"""Threads for kernels on large arrays: the parts of a loop at once, where NumPy lets go of the interpreter's lock.

A kernel must do most of its work inside NumPy, and on parts that nobody else writes to; a part must not hand over parts
in turn. The pool is made when it is first needed. Must not know what the work is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

# How long a part takes at least, in nanoseconds: less is done sooner than handed over.
ENOUGH = 250_000


def _count() -> int:
    """How many threads to use: what OMP_NUM_THREADS or OPENBLAS_NUM_THREADS says, or one for each core."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        said = os.environ.get(name, "")
        if said.isdigit():
            return max(1, int(said))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool:
    """The threads beside the one that calls, made when they are first needed."""

    lock = threading.Lock()
    count = _count()
    executor: ThreadPoolExecutor | None = None

    @classmethod
    def get(cls) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # slow to import, and few programs need it

        with cls.lock:
            if cls.executor is None:
                cls.executor = ThreadPoolExecutor(max(1, cls.count - 1), "retrograd")
            return cls.executor

    @classmethod
    def forget(cls) -> None:
        """A forked process has none of the threads of its parent."""
        cls.lock, cls.executor = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Pool.forget)


def available() -> int:
    """How many threads the parts of large work may run on."""
    return _Pool.count


def use(count: int) -> None:
    """Run parts on so many threads from now on."""
    with _Pool.lock:
        _Pool.count, _Pool.executor = count, None     # the threads of the former pool end with it, once nobody waits


def in_parts(work: Callable[[int, int], object], length: int, cost: float) -> None:
    """`work(start, stop)` for ranges that make up `length`, at once if all of it costs enough nanoseconds.

    Each part sees the context of the caller, and with it what NumPy does with floating-point errors.
    """
    parts = min(length, int(cost) // ENOUGH, _Pool.count)
    if parts < 2:
        work(0, length)
        return
    first, *others = pairwise([length * i // parts for i in range(parts + 1)])
    pool = _Pool.get()
    waiting = [pool.submit(copy_context().run, work, start, stop) for start, stop in others]
    try:
        work(*first)
    finally:
        for future in waiting:
            future.result()
