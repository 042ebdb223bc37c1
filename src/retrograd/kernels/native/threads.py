"""Threads for kernels on large arrays: parts of a loop run at once while NumPy releases the interpreter's lock, or if
Python has none.

A kernel must do most of its work inside NumPy, and each part must write to memory of its own. The threads start when
they are first needed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import pairwise

from ...foundations.forks import forgotten

# Whether threads run Python at the same time. The build of Python decides, PYTHON_GIL, and each module in C that needs
# the GIL; NumPy does not.
FREE = not getattr(sys, "_is_gil_enabled", lambda: True)()
# The least duration of a part, in nanoseconds, and how many nanoseconds less a helper works than the caller: the helper
# begins later, and a caller that must wait wakes up later. Python 3.13t with PYTHON_GIL=1 and 0, in turns, on two busy
# cores, so that the second thread only costs: the handover of one call of NumPy took 50 us with the GIL and 18 without
# it, that of softmax 70 and 36 (medians of five runs, each the least of 200 calls). So a part may be half as long.
ENOUGH, DELAY = (120_000, 20_000) if FREE else (250_000, 50_000)

Work = Callable[[int, int], object]


class _Part:
    """A part of a kernel's work: its range, and the error that it raised, if any."""

    def __init__(self, context: Context, work: Work, start: int, stop: int) -> None:
        self.context, self.work, self.start, self.stop = context, work, start, stop
        self.error: BaseException | None = None
        self.over, self.done = False, threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.context.run(self.work, self.start, self.stop)
        except BaseException as error:                      # the caller's thread raises it
            self.error = error


class _Helper:
    """A thread that runs parts of other threads' work. Locks hand the parts over in half the time of a queue."""

    def __init__(self) -> None:
        self.free, self._given = threading.Lock(), threading.Lock()
        self._given.acquire()
        self._part: _Part | None = None
        threading.Thread(target=self._serve, name="retrograd", daemon=True).start()

    def begin(self, part: _Part) -> None:
        """Run the part. The caller has acquired `free`."""
        self._part = part
        self._given.release()

    def _serve(self) -> None:
        while True:
            self._given.acquire()
            part, self._part = self._part, None
            assert part is not None
            part.run()
            self.free.release()                             # first, or the waiting thread would find this helper busy
            part.over = True
            part.done.release()
            del part                                        # and with it the arrays of its work


def _count() -> int:
    """How many threads to use: OMP_NUM_THREADS or OPENBLAS_NUM_THREADS if set, or else the number of cores."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        said = os.environ.get(name, "")
        if said.isdigit():
            return max(1, int(said))
    return cores()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Crew:
    """The helpers of the process, and how many threads to use, including the calling thread."""

    lock = threading.RLock()                                # a finalizer may call kernels, too
    count = _count()
    helpers: tuple[_Helper, ...] = ()

    @classmethod
    def idle(cls, most: int) -> list[_Helper]:
        """At most `most` idle helpers, acquired. There are fewer if Python refuses new threads, as at its end."""
        if len(cls.helpers) < most:
            with cls.lock, suppress(RuntimeError):
                while len(cls.helpers) < most:
                    helper = _Helper()
                    cls.helpers += (helper,)
        return [helper for helper in cls.helpers[:most] if helper.free.acquire(blocking=False)]

    @classmethod
    def forget(cls) -> None:
        """Start anew in a forked process, which has none of its parent's threads."""
        cls.lock, cls.helpers = threading.RLock(), ()


class _Lent(_Crew):
    """Other helpers, which may stay for a while after their work. So they are not those of kernels."""

    lock = threading.RLock()
    helpers: tuple[_Helper, ...] = ()


forgotten(_Crew.forget)
forgotten(_Lent.forget)


def available() -> int:
    """How many threads large work may use."""
    return _Crew.count


def use(count: int) -> None:
    """Use this many threads from now on."""
    _Crew.count = count


def in_parts(work: Work, length: int, cost: float) -> None:
    """Run `work(start, stop)` for ranges that cover `length`, in parallel if the total cost in nanoseconds is large.

    Busy helpers are left out, whether they work for another thread or for the caller. Each part runs in the caller's
    context, which also holds NumPy's settings for floating-point errors.
    """
    most = min(length, int(cost) // ENOUGH, _Crew.count) - 1
    if most < 1 or sys.is_finalizing():                     # helpers are daemons, which no longer run at the end
        work(0, length)
        return
    helpers = _Crew.idle(most)
    count = len(helpers) + 1
    ahead = int(min(length * DELAY / cost, (length - count) / 2))       # all parts end together, and none is empty
    bounds = [0, *[ahead + (length - ahead) * i // count for i in range(1, count + 1)]]
    first, *others = pairwise(bounds)
    parts = [_Part(copy_context(), work, *bounds) for bounds in others]
    for helper, part in zip(helpers, parts, strict=True):
        helper.begin(part)
    try:
        try:
            work(*first)
        finally:
            _wait_for(parts)
    finally:                                                # an interrupt may have ended the first wait
        _wait_for(parts)
    for part in parts:
        if part.error is not None:
            raise part.error


def lend(work: Callable[[int], object], place: int, most: int) -> None:
    """Have up to `most` threads run `work(place)`, without waiting for them."""
    for helper in _Lent.idle(most):
        helper.begin(_Part(Context(), lambda start, stop: work(start), place, place))


def _wait_for(parts: list[_Part]) -> None:
    """Wait until parts are over, which write to the caller's memory. This may be called again."""
    for part in parts:
        while not part.over:
            part.done.acquire()


def blocks(start: int, stop: int, most: int) -> list[slice]:
    """The range of a part, in blocks of equal length, which is at most `most` or little more.

    A helper begins after the caller, so the caller's part is a little longer than the others. A short block for the
    rest would take as many calls as a whole one.
    """
    length = stop - start
    count = max(1, -(-(length - most // 8) // most))
    bounds = [start + length * i // count for i in range(count + 1)]
    return [slice(*pair) for pair in pairwise(bounds)]
