"""What a program does while it is traced that operators do not show: it prints, reads, or restarts random numbers."""

from __future__ import annotations

import builtins
import functools
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from ...kernels.random.twister import Twister
from ..program.sizes import Uses
from ..program.undoing import Undo
from ..reach.appended import disturbed
from ..reach.state import State
from ..reach.surroundings import modes, outside_random
from .calls import Watch
from .tracing import Tape

_PRINTING = ("print", "input", "open")
# Modules and classes that give another value in each call. What no program has imported cannot be reached.
_CLOCKS = ("time", "datetime", "secrets", "uuid", "logging", "signal")
_CLASSES = (("datetime", "datetime"), ("datetime", "date"))


def clock(state: State) -> str | None:
    """Why what a function can reach gives another value in each call; None if nothing does."""
    modules = {name: sys.modules[name] for name in _CLOCKS if name in sys.modules}
    clocks = {*map(id, modules.values()), *[id(getattr(modules[m], name)) for m, name in _CLASSES if m in modules]}
    logger = modules["logging"].Logger if "logging" in modules else ()
    for item in state.items:
        value = item.value
        if id(value) in clocks or isinstance(value, logger):
            return f"{item.words} may do something else in each call"
        if callable(value) and getattr(value, "__module__", None) in ("time", "signal", "_signal"):
            return f"{item.words} gives another value in each call"
    return None


class Watching:
    """Gives up if this thread prints, calls what is unknown, leaves a mode changed, or restarts random numbers, or if
    the random numbers of Python or NumPy move on, or if the program reads a list that only grows.

    `uses` notes what the program does with sizes, and the plain numbers that functions of the package give it.
    `appended` counts what the program appends to deques.
    """

    def __init__(self, tape: Tape, uses: Uses | None, state: State, appended: Counter[int]) -> None:
        self.tape, self.uses, self.grown, self.thread = tape, uses, state.grown, threading.get_ident()
        self.calls = Watch(state.read, None if uses is None else uses.returned, appended)
        self.restarts, self.before, self.random = Twister.restarts.count, modes(), outside_random()

    def put(self, undo: Undo) -> None:
        """Watch until the exit of `undo`. Nothing is put in place after this."""
        for name in _PRINTING:
            undo.put(builtins, name, self._watching(name, getattr(builtins, name)))
        if self.uses is not None:
            undo.put(Uses, "current", self.uses)
        self.calls.put(undo)

    def _watching(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)                           # an error about the arguments names the function
        def call(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == self.thread:
                self.tape.give_up(f"the program calls {name}()")
            return function(*args, **kwargs)
        return call

    def check(self) -> None:
        """Give up if the program has done something that was to be watched for."""
        if disturbed(self.grown, self.calls.codes):
            self.tape.give_up("the program reads a list that it appends to under another name")
        if self.calls.imported:                              # the next call finds the module
            self.tape.give_up("the program imports a module for the first time", passing=True)
        if self.calls.found is not None:
            self.tape.give_up(self.calls.found[0], site=self.calls.found[1])
        if Twister.restarts.count != self.restarts:
            self.tape.give_up("the program restarts a stream of random numbers")
        if modes() != self.before:
            self.tape.give_up("the program leaves a mode changed, such as the grad mode or the default dtype")
        random = outside_random()
        if self.tape.reason is None and random != self.random:
            imported = any([before is None is not now for before, now in zip(self.random, random, strict=True)])
            self.tape.give_up("the program draws numbers from Python's or NumPy's random generators", passing=imported)
