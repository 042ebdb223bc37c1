"""The locks that keep together what no other thread may come between.

Most of what threads share needs no lock: nodes do not change once they are made, a pass keeps its state to itself, and
one operation of a dict, a set or an `itertools.count` is whole. A lock is for the rest, off the hot paths.

The locks are reentrant, since a finalizer or a signal handler may run inside, and may call the package. A thread that
needs several takes `histories` first and `moment` last. A process that is forked gets them free.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..foundations.forks import held
from ..kernels.native.threads import FREE

F = TypeVar("F", bound=Callable[..., Any])

# For adding to the gradient of a leaf, or of a value that retains its gradient.
accumulating = threading.RLock()
# For a change of the history of a tensor: its edge, its view's edge, its hooks. It may be held while a kernel runs.
histories = threading.RLock()
# For a change that is over at once, and calls nothing that waits: a count, a table of hooks, an attribute made at the
# first use.
moment = threading.RLock()
# `with moment` for hot paths: enter(), and in the end leave(). A `with` statement takes twice as long.
enter, leave = moment.acquire, moment.release


def whole(function: F) -> F:
    """A function that reads, compares and stores an attribute in one step, at its end.

    With the GIL, no other thread comes between a comparison and a store in the next line, since neither is a call.
    Without the GIL, the function runs under `moment`.
    """
    if not FREE:
        return function

    @wraps(function)
    def alone(*args: Any) -> Any:
        with moment:
            return function(*args)

    return alone  # type: ignore[return-value]


for lock in (moment, accumulating, histories):             # what is said first is taken last
    held(lock)
