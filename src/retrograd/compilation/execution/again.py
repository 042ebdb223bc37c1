"""Plans that run as often as something asks for it, each for one thread after the other."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np

from ...foundations.forks import forgotten
from .numpy_code import Ready
from .plan import Plan


def quiet() -> contextvars.Context:
    """A context without NumPy's floating-point warnings. Kernels enter that of the thread, so plans have others."""
    context = contextvars.Context()
    context.run(np.seterr, all="ignore")
    return context


class Again:
    """Runs a plan for one thread after the other. A call takes arrays in the order of `given` of the plan.

    `ready` makes the plan ready for a run. `anew` makes such a function of a plan with memory of its own. This is
    needed if a finalizer or a handler of a signal asks for a run while the same thread runs the plan. It is also needed
    in a forked process, if another thread of its parent was running the plan, since nobody ends that run.
    """

    every: ClassVar[WeakSet[Again]] = WeakSet()

    def __init__(self, ready: Callable[..., Ready], anew: Callable[[], Callable[..., Ready]]) -> None:
        self.ready: Callable[..., Ready] | None = ready
        self.anew, self.context = anew, quiet()
        self.lock, self.runs = threading.RLock(), False
        Again.every.add(self)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return self.run(arrays)

    def run(self, arrays: tuple[Any, ...], *sizes: Any) -> tuple[Any, ...]:
        """Run the plan for arrays, and for `sizes`, which `ready` takes."""
        found: tuple[Any, ...]
        with self.lock:
            if self.runs:
                found = quiet().run(self.anew()(*sizes).run, *arrays)
                return found
            try:
                self.runs = True
                ready = self.ready = self.ready or self.anew()
                found = self.context.run(ready(*sizes).run, *arrays)
            finally:
                self.runs = False
        return found

    @classmethod
    def forget(cls) -> None:
        """Let go of the plans that other threads were running, in a forked process, which lacks these threads."""
        for each in [*cls.every]:
            if each.lock.acquire(blocking=False):
                each.lock.release()
            else:
                each.lock, each.runs, each.ready, each.context = threading.RLock(), False, None, quiet()


forgotten(Again.forget)


def again(plan: Plan, anew: Callable[[], Plan]) -> Again:
    """What runs a plan again and again. `anew` makes the plan once more."""
    return Again(_readying(plan), lambda: _readying(anew()))


def _readying(plan: Plan) -> Callable[[], Ready]:
    """What makes a plan ready for a run."""
    begun = list[Ready]()

    def ready() -> Ready:
        if begun:
            begun[0].leases.take_back()
        else:
            begun.append(plan.begin())
        return begun[0]

    return ready
