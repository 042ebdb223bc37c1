"""What is on in this thread: recording, inference mode, quiet floating point, a transform, watchers, a backward pass.

Each thread has one `ThreadState`, found with a single thread-local look-up on the way into an operation. This module
must not know tensors, nodes or operators: it holds switches, others read them.
"""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# What may stand on the seam: called with an op, the call that the op would make, its arguments, and whether the call
# writes over the first of them. It returns the op's results; `call(*arguments)` computes them, of NumPy arrays only.
Transform = Callable[[Any, Callable[..., Any], tuple[Any, ...], bool], Any]


class ThreadState:
    """The switches of one thread.

    `run` calls a kernel with NumPy's floating-point warnings silent, as PyTorch is on log(0) or 0/0. It enters a
    private `contextvars.Context`, which costs some 40 ns and leaves NumPy's own state as the caller set it.
    `transform` is what stands on the seam, None if nothing does. Every call of an op on arrays, and every write of an
    op's result to memory, is handed to the transform, and the transform decides what the call means. So arrays that
    are not NumPy's may stand behind tensors while a transform is on: no kernel meets them.
    The observer (an open profile) is told of each node that a backward pass runs.
    Each of `watchers` is told of every node that is recorded: `watcher(node, results, operands)`, with tensors.
    `passes` counts the backward passes that run inside each other; `walk` is the innermost of them.
    If anomalies are looked for, `anomalies` keeps what was seen of them.
    """

    __slots__ = ("__weakref__", "anomalies", "grad", "inference", "observer", "passes", "quiet", "run", "transform",
                 "walk", "watchers")

    def __init__(self) -> None:
        self.anomalies: Any = None
        self.grad = True
        self.inference = False
        self.observer: Any = None
        self.passes = 0
        self.transform: Transform | None = None
        self.walk: Any = None                              # the backward pass that is under way, the innermost
        self.watchers: tuple[Callable[[Any, Sequence[Any], Sequence[Any]], None], ...] = ()
        self.quiet = contextvars.Context()
        self.quiet.run(np.seterr, all="ignore")
        self.run: Callable[..., Any] = self.quiet.run

    def on_bad_numbers(self, note: Callable[[str, int], Any] | None) -> None:
        """Have `note(what, flags)` called inside a kernel that divides by zero, overflows or computes a NaN.

        The context is replaced, not changed, since a kernel of the thread may be running in it.
        """
        quiet = contextvars.Context()
        quiet.run(np.seterr, all="ignore")
        if note is not None:
            quiet.run(np.seterr, divide="call", over="call", invalid="call")
            quiet.run(np.seterrcall, note)
        self.quiet, self.run = quiet, quiet.run

    def tell(self, node: Any, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Tell the watchers of a node that is complete. Called only where there are any."""
        for watcher in self.watchers:
            watcher(node, results, operands)


class _Local(threading.local):
    thread: ThreadState

    def __init__(self) -> None:
        self.thread = ThreadState()
        with _arriving:
            _everyone.add(self.thread)
            for arrange in _arrangements:
                arrange(self.thread)


_arriving = threading.Lock()
_everyone: weakref.WeakSet[ThreadState] = weakref.WeakSet()
_arrangements: list[Callable[[ThreadState], None]] = []
local = _Local()


def in_all_threads(arrange: Callable[[ThreadState], None]) -> None:
    """Switch something in every thread, and in those to come; the few modes that PyTorch has once for a process."""
    with _arriving:
        _arrangements[:] = [arrange]
        for thread in [*_everyone]:
            arrange(thread)
