"""The state of each thread: grad mode, inference mode, floating-point errors, a transform, watchers, backward passes.

Each thread has one `ThreadState`. An operation finds it with a single thread-local look-up. This module only holds the
switches; other modules read them.
"""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

import numpy as np

from .forks import held

# A transform. It is called with an op, the function `call` that the op would call, the arguments, and whether `call`
# writes over the first argument. It returns the op's results. `call(*arguments)` computes them from NumPy arrays only.
Transform = Callable[[Any, Callable[..., Any], tuple[Any, ...], bool], Any]


class ThreadState:
    """The switches of one thread.

    `grad` says whether operations are recorded. Inside of inference mode, nothing is: there `enabled` keeps what grad
    mode says.
    `run` calls a kernel without NumPy's floating-point warnings, since PyTorch gives none for log(0) or 0/0. It enters
    a private `contextvars.Context`, which costs some 40 ns and leaves NumPy's own state as the caller set it.
    `transform` stands on the seam; it is None if no transform is on. Every call of an op on arrays, and every write of
    an op's result to memory, is handed to the transform, which decides what the call means. So while a transform is on,
    tensors may have arrays that are not NumPy's, and no kernel meets such an array.
    `observer`, an open profile, is told of each node that a backward pass runs.
    Each of `watchers` is told of every recorded node: `watcher(node, results, operands)`, with tensors.
    `below` writes down the calls that levels of transforms make on NumPy arrays, while a compiler traces; or None.
    `passes` counts the nested backward passes that are running, and `walk` is the innermost pass.
    `passing` makes the passes of this thread in place of the engine's classes; it is None unless somebody observes.
    `anomalies` keeps what anomaly detection has seen, if it is on.
    `hooks_refused` says why hooks on saved tensors may not be used, or is None.
    """

    __slots__ = ("__weakref__", "anomalies", "below", "enabled", "functions", "grad", "hooks_refused", "inference",
                 "levels", "observer", "passes", "passing", "quiet", "run", "transform", "walk", "watchers")

    def __init__(self) -> None:
        self.anomalies: Any = None
        self.below: Any = None
        self.enabled = False
        self.functions = 0                                 # transforms of functions that run now
        self.grad = True
        self.hooks_refused: str | None = None
        self.inference = False
        self.levels: tuple[Any, ...] = ()                  # of transforms, outermost first
        self.observer: Any = None
        self.passes = 0
        self.passing: Callable[..., Any] | None = None
        self.transform: Transform | None = None
        self.walk: Any = None                              # the innermost backward pass that is running
        self.watchers: tuple[Callable[[Any, Sequence[Any], Sequence[Any]], None], ...] = ()
        self.on_bad_numbers(None)

    def on_bad_numbers(self, note: Callable[[str, int], Any] | None) -> None:
        """Call `note(what, flags)` inside a kernel that divides by zero, overflows or computes a NaN.

        The context is replaced, not changed, since a kernel of this thread may be running in it.
        """
        quiet = contextvars.Context()
        quiet.run(np.seterr, all="ignore")
        if note is not None:
            quiet.run(np.seterr, divide="call", over="call", invalid="call")
            quiet.run(np.seterrcall, note)
        self.quiet = quiet
        self.run: Callable[..., Any] = quiet.run

    def renewed(self, error: BaseException) -> bool:
        """Whether a call failed since code that Python runs at any line (a handler of a signal, a finalizer) made the
        call inside of a kernel of this thread. Then kernels get another context, and the call can be made again.
        """
        if type(error) is not RuntimeError or not str(error).startswith("cannot enter context"):
            return False
        self.quiet = self.quiet.copy()
        self.run = self.quiet.run
        return True

    def quietly(self, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call a kernel as `run` does, also inside of another kernel."""
        try:
            return self.run(kernel, *args, **options)
        except RuntimeError as error:
            if not self.renewed(error):
                raise
        return self.run(kernel, *args, **options)

    def tell(self, node: Any, results: Sequence[Any], operands: Sequence[Any]) -> None:
        """Tell the watchers of a complete node. It is called only if there are watchers."""
        for watcher in self.watchers:
            watcher(node, results, operands)


class Compiler:
    """How lower layers ask the compiler. It stands in a higher layer, and `wiring` says how it is asked."""

    compile: ClassVar[Callable[..., Any]]                      # `torch.compile`


class Waiting:
    """Whether calls on large arrays wait for machine code that is not made yet. Otherwise NumPy computes meanwhile, and
    a run of a program may have other bits than the next.
    """

    on = True


class kept_switches:
    """The context at whose end the switches of transforms of this thread are as they were at the beginning.

    It stands around contexts that change these switches. Ctrl-C may raise KeyboardInterrupt where such a context begins
    or ends, before its exit has given anything back. Then the exit of this context gives it back.
    """

    __slots__ = ("before", "levels", "transform")

    def __enter__(self) -> None:
        thread = local.thread
        self.before = thread.hooks_refused, thread.functions, thread.watchers
        self.levels, self.transform = thread.levels, thread.transform

    def __exit__(self, *error: object) -> None:
        thread = local.thread
        thread.hooks_refused, thread.functions, thread.watchers = self.before
        if thread.levels != self.levels:                   # else a trace that has ended would be put back
            thread.levels, thread.transform = self.levels, self.transform


@contextmanager
def replaced(owner: object, name: str, value: object) -> Iterator[None]:
    """Give an attribute another value inside the block."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def standing(transform: Transform) -> AbstractContextManager[None]:
    """Have a transform stand on the seam of this thread."""
    return replaced(local.thread, "transform", transform)


# The transforms that stand on the seam for calls of the package alone, and not for those of hooks and Functions.
FOR_THE_PACKAGE: set[Any] = set()


def as_program(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of a program, such as a hook, without a transform that stands for the package alone."""
    if local.thread.transform not in FOR_THE_PACKAGE:
        return function(*args)
    with replaced(local.thread, "transform", None):
        return function(*args)


def tape() -> Any:
    """What a compiler writes down the calls of this thread with, to repeat them; None if it traces no call."""
    thread = local.thread
    found = getattr(thread.transform, "__self__", None) if thread.below is None else thread.below.tape
    return found if hasattr(found, "keeps") else None


def before_message(words: str) -> None:
    """Tell the compiler, if it traces a call of this thread, that the program is about to communicate.

    What a process sends, receives or waits for is no part of a plan, so the trace ends here. `words` say what the
    program does.
    """
    written = tape()
    if written is not None:
        written.communicate(words)


class _Local(threading.local):
    thread: ThreadState

    def __init__(self) -> None:
        self.thread = ThreadState()
        with _arriving:
            reference = weakref.ref(self.thread, _leave)
            _everyone[id(reference)] = reference
            for arrange in _arrangements.values():
                arrange(self.thread)


def _leave(reference: weakref.ref[ThreadState]) -> None:
    _everyone.pop(id(reference), None)


_arriving = threading.RLock()                              # a finalizer may be a thread's first use of the package
held(_arriving)
# The states of the threads that there are. Threads end at any time, and a WeakSet cannot be listed meanwhile.
_everyone: dict[int, weakref.ref[ThreadState]] = {}
_arrangements: dict[str, Callable[[ThreadState], None]] = {}
local = _Local()


def in_all_threads(what: str, arrange: Callable[[ThreadState], None]) -> None:
    """Change the state of every thread, present and future, for the few modes that PyTorch has once per process.

    `what` names the mode. A later arrangement of the same mode takes the place of an earlier one.
    """
    with _arriving:
        _arrangements[what] = arrange
        for reference in [*_everyone.values()]:
            thread = reference()
            if thread is not None:
                arrange(thread)
