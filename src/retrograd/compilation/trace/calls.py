"""Which calls of a traced run depend on their arguments alone. Any other call ends the trace, with its name and line.

A repetition does not run the program, so a call that reads or changes anything but its arguments would be frozen or
lost. While a traced run lasts, a profile function sees each call that code outside of the package makes: of functions
in C, of Python's library, and of functions of the package that read a state. A call is known if it is one of the
program's own functions, whose own calls are seen, if it is one of the package's, or if the tables of `known` have it.

A profile function sees neither calls of types nor of functions that Cython made, and calls of the package's functions
only from the inside. So the walk asks about such things if code names them (`hidden`).
"""

from __future__ import annotations

import gc
import sys
from collections import Counter, deque
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType, FrameType
from typing import Any

from ...foundations.errors import Site
from ...foundations.names import PACKAGE
from ..program.origins import OWN, RUN, USER, whose
from ..program.undoing import Undo
from ..reach.judging import python_is_unknown, unknown
from ..reach.known import LIBRARY_MODULES
from .memories import Memories
from .signals import Signals

_IMPORTING = frozenset({"importlib._bootstrap", "_frozen_importlib", "importlib"})
_COMPILER = f"{PACKAGE}.compilation."


class Watch:
    """Sees the calls of one traced run in this thread. `found` says which call was the first unknown one, and where.

    `read` is the code that the walk has read: if other code of the program runs, nobody knows what it uses. `returned`
    is called with each value that a function of the package returns to other code. `imported` says whether the program
    has imported a module that was not there before. `appended` counts calls of `append` of deques, by their identity.
    """

    def __init__(self, read: Mapping[int, CodeType], returned: Callable[[FrameType, Any], None] | None,
                 appended: Counter[int]) -> None:
        self.read, self.returned, self.imported, self.appended = read, returned, False, appended
        self.found: tuple[str, Site | None] | None = None
        self.codes: set[CodeType] = set()                    # of the program's functions that have run
        self.aside: FrameType | None = None                  # an import, or what is no part of the program's run
        # The callbacks of Python's garbage collector, by identity: Python hashes a code by all that is in it.
        self.callbacks = {id(code): code for code in [getattr(call, "__code__", None) for call in gc.callbacks]}
        self.former: Any = None
        self.signals = Signals(Watch._seen.__code__, Memories._disown.__code__)

    def put(self, undo: Undo) -> None:
        """Watch until the exit of `undo`."""
        self.former = sys.getprofile()
        if self.former is not None and not callable(self.former):            # the profiler of Python's library
            self.found = "a profiler watches the program", None
            return
        self.signals.put(undo)
        undo.note(partial(sys.setprofile, self.former))
        sys.setprofile(self._seen)

    def _seen(self, frame: FrameType, event: str, value: Any) -> None:
        if self.former is not None:
            self.former(frame, event, value)
        if self.aside is not None:
            if event == "return" and frame is self.aside:
                self.aside = None
        elif event == "call":
            caller = frame.f_back
            if caller is None or whose(frame.f_globals.get("__name__")) != OWN or (
                    whose(caller.f_globals.get("__name__")) != OWN):         # most calls are the package's, to itself
                self._called(frame)
        elif event == "c_call":
            if type(getattr(value, "__self__", None)) is deque:
                self._count(value, 1)
            if self.found is None and whose(frame.f_globals.get("__name__")) == USER and unknown(value):
                module, name = getattr(value, "__module__", None), value.__qualname__
                self._end(name if module in (None, "builtins") else f"{module}.{name}", frame)
        elif event == "c_exception":
            self._count(value, -1)
        elif event == "return" and self.returned is not None:
            self.returned(frame, value)
        if self.signals.waiting:
            function = frame.f_code.co_name if event == "call" else value.__name__ if event == "c_call" else ""
            self.signals.handle_before(function, frame)

    def _count(self, function: Any, times: int) -> None:
        """Count calls of a function, if it appends to a deque."""
        owner = getattr(function, "__self__", None)
        if type(owner) is deque and function.__name__ == "append":
            self.appended[id(owner)] += times

    def _called(self, frame: FrameType) -> None:
        """See a call of a function written in Python."""
        module = frame.f_globals.get("__name__")
        if whose(module) == USER:
            self.codes.add(frame.f_code)
        caller = None if frame.f_back is None else frame.f_back.f_globals.get("__name__")
        if _is_import(module, caller) or id(frame.f_code) in self.callbacks or (
                module in ("weakref", "_weakrefset") and frame.f_code.co_name in ("remove", "_remove")) or (
                caller is not None and caller.startswith(_COMPILER) and caller != RUN and whose(module) == USER):
            self.aside = frame
            self.imported = self.imported or (frame.f_code.co_name == "_find_and_load" and whose(caller) == USER)
        elif self.found is None and whose(module) == USER:
            if id(frame.f_code) not in self.read and frame.f_builtins:       # a named tuple's function has none
                name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
                self._end(name, frame.f_back or frame, "which was not found before the call")
        elif self.found is None and (caller in LIBRARY_MODULES or whose(caller) == USER):
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            if python_is_unknown(module, name):
                self._end(f"{module}.{name}", frame)

    def _end(self, name: str, frame: FrameType, why: str = "which may read or change more than its arguments") -> None:
        """Note an unknown call, and the line of the program that leads to it."""
        at: FrameType | None = frame
        while at is not None and not _is_users(at):
            at = at.f_back
        site = None if at is None else Site(at.f_code, at.f_lasti)
        self.found = f"the program calls {name}(), {why}", site


def _is_import(module: str | None, caller: str | None) -> bool:
    """Whether a call is part of an import statement, or of an import by the package."""
    return module in _IMPORTING and (module != "importlib" or whose(caller) != USER)


def _is_users(frame: FrameType) -> bool:
    return whose(frame.f_globals.get("__name__")) == USER
