"""What a program does while it is traced that operators do not show: it prints, reads, or restarts random numbers."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..kernels.random.twister import Twister
from .calls import Watch
from .numbers.appended import Grown, disturbed
from .sized.sizes import Uses
from .state import State
from .surroundings import modes
from .tracing import Tape

_PRINTING = ("print", "input", "open")
# Modules and classes that give another value in each call. What no program has imported cannot be reached.
_CLOCKS = ("time", "datetime", "secrets", "uuid", "logging")
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
        if callable(value) and getattr(value, "__module__", None) == "time":
            return f"{item.words} gives another value in each call"
    return None


@contextmanager
def watched(tape: Tape, uses: Uses | None, grown: Grown) -> Iterator[None]:
    """Give up if this thread prints, calls what is unknown, leaves a mode changed, or restarts random numbers.

    `uses` notes what the program does with sizes, and the plain numbers that functions of the package give it. `grown`
    are lists that the program must not read.
    """
    thread, restarts, before = threading.get_ident(), Twister.restarts.count, modes()
    former = {name: getattr(builtins, name) for name in _PRINTING}
    calls = Watch(None if uses is None else uses.returned)

    def watching(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if threading.get_ident() == thread:
                tape.give_up(f"the program calls {name}()")
            return function(*args, **kwargs)
        return call

    for name, function in former.items():
        setattr(builtins, name, watching(name, function))
    try:
        with calls, uses or nullcontext():
            yield
        if disturbed(grown, calls.codes):
            tape.give_up("the program reads a list that it appends to under another name")
        if calls.found is not None:
            tape.give_up(calls.found[0], site=calls.found[1])
        if Twister.restarts.count != restarts:
            tape.give_up("the program restarts a stream of random numbers")
        if modes() != before:
            tape.give_up("the program leaves a mode changed, such as the grad mode or the default dtype")
    finally:
        for name, function in former.items():
            setattr(builtins, name, function)
