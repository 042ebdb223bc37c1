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
import types
from collections.abc import Callable, Mapping
from functools import partial
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..errors import Site
from ..names import PACKAGE
from .known import C_MODULES, LIBRARY_MODULES, MADE, NOT_OF_TYPES, OWN_STATE, PURE, of_library, of_numpy
from .reading import LIBRARY, OWN, USER, is_made_in_c, is_type, made_by_c, whose
from .undoing import Undo

_IMPORTING = frozenset({"importlib._bootstrap", "_frozen_importlib", "importlib"})
# Functions of the package that read or change a state that is no tensor, by module and name.
_STATES = {
    "tensors.arguments.generator": ("initial_seed",),
    "tensors.face.threading": ("get_num_threads", "set_num_threads"),
    "tensors.face.settings": ("get_num_interop_threads", "set_num_interop_threads"),
    "tensors.face.memory": ("frombuffer", "from_file"),
    "tensors.face.printing": ("get_printoptions", "set_printoptions"),
    "serialization.loading": ("load",),
    "serialization.saving": ("save",),
    "distributed.groups": ("get_node_local_rank", "get_pg_count", "is_backend_available", "is_mpi_available",
                           "is_torchelastic_launched"),
}
_OF_STATES = {(f"{PACKAGE}.{module}", name) for module, names in _STATES.items() for name in names}
_OWN_STATE, _MADE = tuple(OWN_STATE), (*OWN_STATE, *MADE)
# The compiler itself, and its module that runs the program.
_COMPILER, _RUN = f"{PACKAGE}.compilation.", f"{PACKAGE}.compilation.run_once"


def unknown(thing: Any) -> bool:
    """Whether a call of `thing` may depend on more than its arguments, or may change more than them."""
    if isinstance(thing, MethodType):
        thing = thing.__func__
    if isinstance(thing, FunctionType):
        return _python_is_unknown(thing.__module__, thing.__qualname__)
    if id(thing) in PURE:
        return False
    if is_type(thing):
        return _type_is_unknown(thing)
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", "")
    module = module if isinstance(module, str) else ""
    if isinstance(thing, np.ufunc) or whose(module) == OWN:
        return False
    if whose(type(thing).__module__) != LIBRARY:             # a call of an object by Python code is seen
        return whose(type(thing).__module__) == USER and made_by_c(type(thing))
    holder = getattr(thing, "__self__", None)
    if holder is None or isinstance(holder, types.ModuleType):
        holder = getattr(thing, "__objclass__", None)
    if holder is not None:
        kind = holder if is_type(holder) else type(holder)
        known = kind is object or issubclass(kind, _OWN_STATE) or whose(kind.__module__) in (OWN, USER)
        known = known and not is_made_in_c(kind)
        return name in NOT_OF_TYPES or not known
    if module.partition(".")[0] == "numpy":
        return not of_numpy(module, name)
    return callable(thing) and module not in C_MODULES


def hidden(thing: Any) -> bool:
    """Whether calls of an unknown thing are not seen while it runs."""
    if isinstance(thing, FunctionType):
        return whose(thing.__module__) == OWN and unknown(thing)
    return callable(thing) and not isinstance(thing, BuiltinFunctionType) and unknown(thing)


def _python_is_unknown(module: str | None, name: str) -> bool:
    """Whether a function written in Python is one of Python's or NumPy's library that may depend on more."""
    owner = whose(module)
    if owner == USER:
        return False                                         # its own calls are seen
    module = module or ""
    if owner == OWN:
        return (module, name) in _OF_STATES
    if module.partition(".")[0] == "numpy":
        return not of_numpy(module, name)
    return not of_library(module, name)


def _type_is_unknown(kind: type[Any]) -> bool:
    """Whether objects of a type may hold a state that the walk does not compare."""
    module = kind.__module__
    if any([whose(base.__module__) == LIBRARY and base.__module__ in LIBRARY_MODULES
            and not of_library(base.__module__, base.__qualname__) for base in kind.__mro__]):
        return True
    if whose(module) != LIBRARY:
        return is_made_in_c(kind)
    if module.partition(".")[0] == "numpy":
        return not of_numpy(module, kind.__name__)
    return not (issubclass(kind, _MADE) or module in LIBRARY_MODULES or module in C_MODULES)


class Watch:
    """Sees the calls of one traced run in this thread. `found` says which call was the first unknown one, and where.

    `read` is the code that the walk has read: if other code of the program runs, nobody knows what it uses. `returned`
    is called with each value that a function of the package returns to other code. `imported` says whether the program
    has imported a module that was not there before.
    """

    def __init__(self, read: Mapping[int, CodeType], returned: Callable[[FrameType, Any], None] | None) -> None:
        self.read, self.returned, self.imported = read, returned, False
        self.found: tuple[str, Site | None] | None = None
        self.codes: set[CodeType] = set()                    # of the program's functions that have run
        self.aside: FrameType | None = None                  # an import, or what is no part of the program's run
        self.callbacks = {getattr(call, "__code__", None) for call in gc.callbacks}      # of Python's garbage collector
        self.former: Any = None

    def put(self, undo: Undo) -> None:
        """Watch until the exit of `undo`."""
        self.former = sys.getprofile()
        if self.former is not None and not callable(self.former):            # the profiler of Python's library
            self.found = "a profiler watches the program", None
            return
        undo.note(partial(sys.setprofile, self.former))
        sys.setprofile(self._seen)

    def _seen(self, frame: FrameType, event: str, value: Any) -> None:
        if self.former is not None:
            self.former(frame, event, value)
        if self.aside is not None:
            if event == "return" and frame is self.aside:
                self.aside = None
        elif event == "c_call":
            if self.found is None and _is_users(frame) and unknown(value):
                module, name = getattr(value, "__module__", None), value.__qualname__
                self._end(name if module in (None, "builtins") else f"{module}.{name}", frame)
        elif event == "call":
            self._called(frame)
        elif event == "return" and self.returned is not None:
            self.returned(frame, value)

    def _called(self, frame: FrameType) -> None:
        """See a call of a function written in Python."""
        module = frame.f_globals.get("__name__")
        if whose(module) == USER:
            self.codes.add(frame.f_code)
        caller = None if frame.f_back is None else frame.f_back.f_globals.get("__name__")
        if _is_import(module, caller) or frame.f_code in self.callbacks or (
                module in ("weakref", "_weakrefset") and frame.f_code.co_name in ("remove", "_remove")) or (
                caller is not None and caller.startswith(_COMPILER) and caller != _RUN and whose(module) == USER):
            self.aside = frame
            self.imported = self.imported or (frame.f_code.co_name == "_find_and_load" and whose(caller) == USER)
        elif self.found is None and whose(module) == USER:
            if id(frame.f_code) not in self.read and frame.f_builtins:       # a named tuple's function has none
                name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
                self._end(name, frame.f_back or frame, "which was not found before the call")
        elif self.found is None and (caller in LIBRARY_MODULES or whose(caller) == USER):
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            if _python_is_unknown(module, name):
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
