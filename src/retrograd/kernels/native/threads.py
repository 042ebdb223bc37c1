"""Threads for kernels on large arrays: the parts of a loop at once, where NumPy lets go of the interpreter's lock.

A kernel must do most of its work inside NumPy, and on parts that nobody else writes to. The threads are made when they
are first needed. Must not know what the work is.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from itertools import pairwise

# How long a part takes at least, in nanoseconds: less is done sooner than handed over.
ENOUGH = 250_000
# How long after the caller a helper begins.
DELAY = 10_000

Work = Callable[[int, int], object]


class _Part:
    """A range of somebody's work, and what came of it."""

    def __init__(self, context: Context, work: Work, start: int, stop: int) -> None:
        self.context, self.work, self.start, self.stop = context, work, start, stop
        self.error: BaseException | None = None
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.context.run(self.work, self.start, self.stop)
        except BaseException as error:                      # for the thread whose work it is to raise
            self.error = error


class _Helper:
    """A thread for parts of others' work. They are handed over by locks, in half the time that a queue takes."""

    def __init__(self) -> None:
        self.free, self._given = threading.Lock(), threading.Lock()
        self._given.acquire()
        self._part: _Part | None = None
        threading.Thread(target=self._serve, name="retrograd", daemon=True).start()

    def begin(self, part: _Part) -> None:
        """Run it, for who has acquired `free`."""
        self._part = part
        self._given.release()

    def _serve(self) -> None:
        while True:
            self._given.acquire()
            part, self._part = self._part, None
            assert part is not None
            part.run()
            self.free.release()                             # first, or who waits would find it busy in its next work
            part.done.release()
            del part                                        # with the arrays that its work holds


def _count() -> int:
    """How many threads to use: what OMP_NUM_THREADS or OPENBLAS_NUM_THREADS says, or one for each core."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        said = os.environ.get(name, "")
        if said.isdigit():
            return max(1, int(said))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Crew:
    """The helpers of the process, and how many threads to use, the caller among them."""

    lock = threading.Lock()
    count = _count()
    helpers: tuple[_Helper, ...] = ()

    @classmethod
    def idle(cls, most: int) -> list[_Helper]:
        """At most so many helpers that nobody uses, acquired."""
        if len(cls.helpers) < most:
            with cls.lock:
                cls.helpers += tuple([_Helper() for _ in range(most - len(cls.helpers))])
        return [helper for helper in cls.helpers[:most] if helper.free.acquire(blocking=False)]

    @classmethod
    def forget(cls) -> None:
        """A forked process has none of the threads of its parent."""
        cls.lock, cls.helpers = threading.Lock(), ()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Crew.forget)


def available() -> int:
    """How many threads the parts of large work may run on."""
    return _Crew.count


def use(count: int) -> None:
    """Run parts on so many threads from now on."""
    _Crew.count = count


def in_parts(work: Work, length: int, cost: float) -> None:
    """`work(start, stop)` for ranges that make up `length`, at once if all of it costs enough nanoseconds.

    Helpers that are busy, with another thread's work or because this is part of some, are done without. Each part sees
    the context of the caller, and with it what NumPy does with floating-point errors.
    """
    most = min(length, int(cost) // ENOUGH, _Crew.count) - 1
    if most < 1:
        work(0, length)
        return
    helpers = _Crew.idle(most)
    count = len(helpers) + 1
    ahead = int(min(length * DELAY / cost, (length - count) / 2))       # so that all end together, and none has nothing
    bounds = [0, *[ahead + (length - ahead) * i // count for i in range(1, count + 1)]]
    first, *others = pairwise(bounds)
    parts = [_Part(copy_context(), work, *bounds) for bounds in others]
    for helper, part in zip(helpers, parts, strict=True):
        helper.begin(part)
    try:
        work(*first)
    finally:
        for part in parts:
            part.done.acquire()
    for part in parts:
        if part.error is not None:
            raise part.error
