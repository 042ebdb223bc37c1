"""What is switched on in this thread: recording, inference mode, quiet floating point, an observer, watchers.

Each thread has one `Here`, found with a single thread-local look-up on the way into an operation. This module
must not know tensors, nodes or operators: it holds switches, others read them.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Here:
    """The switches of one thread.

    `run` calls a kernel with NumPy's floating-point warnings silent, as PyTorch is on log(0) or 0/0. It enters a
    private `contextvars.Context`, which costs some 40 ns and leaves NumPy's own state as the caller set it. An
    observer (the profiler) replaces `run` by a function of its own, so that it costs nothing while it is off.
    Each of `watchers` is told of every node that is recorded: `watcher(node, results, operands)`, with raw arrays.
    `passes` counts the backward passes that run inside each other.
    """

    __slots__ = ("grad", "inference", "observer", "passes", "quiet", "run", "walk", "watchers")

    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.observer: Any = None
        self.passes = 0
        self.walk: Any = None                              # the backward pass that is under way, the innermost
        self.watchers: tuple[Callable[[Any, Sequence[Any], Sequence[Any]], None], ...] = ()
        self.quiet = contextvars.Context()
        self.quiet.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = self.quiet.run

    def tell(self, node: Any, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Tell the watchers of a node that is complete. Called only where there are any."""
        for watcher in self.watchers:
            watcher(node, results, operands)


class _Local(threading.local):
    here: Here

    def __init__(self) -> None:
        self.here = Here()


local = _Local()
