"""Which calls of a traced run depend on their arguments alone. Any other call ends the trace, with its name and line.

A repetition does not run the program, so a call that reads or changes anything but its arguments would be frozen or
lost. While a traced run lasts, a profile function sees each call that code outside of the package makes: of functions
in C, of Python's library, and of functions of the package that read a state. A call is known if it is one of the
program's own functions, whose own calls are seen, if it is one of the package's, or if the tables here have it.

A profile function sees neither calls of types nor of functions that Cython made, and calls of the package's functions
only from the inside. So the walk asks about such things if code names them (`hidden`).
"""

from __future__ import annotations

import builtins
import cmath
import collections
import functools
import gc
import math
import re
import sys
import types
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..errors import Site
from ..names import PACKAGE
from .reading import LIBRARY, OWN, USER, is_type, whose

# Builtin functions and types that depend on their arguments alone. `getattr` and `setattr` are here because the walk
# looks at all attributes if the code names them.
_BUILTINS = (
    "abs all any ascii bin bool bytes callable chr classmethod complex delattr dict divmod enumerate filter float "
    "frozenset getattr hasattr hex int isinstance issubclass iter len list map max min next object oct ord pow "
    "property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type zip "
    "__build_class__ __import__ NotImplemented dir vars")
_PURE = {id(getattr(builtins, name)) for name in _BUILTINS.split()}
# Modules of functions in C, and of types, that depend on their arguments alone.
_C_MODULES = frozenset({
    math.__name__, cmath.__name__, "_operator", "_functools", "_collections", "itertools", "_bisect", "_heapq", "_abc",
    "_struct", "_statistics", "_sre", "typing", "_typing", "types"})
# Types whose methods read and change the object alone.
_OWN_STATE: tuple[type[Any], ...] = (
    list, dict, tuple, set, frozenset, str, bytes, int, float, complex, bool, range, slice, type(None), type,
    collections.deque, types.MappingProxyType, types.GeneratorType, types.CoroutineType, BaseException, re.Pattern,
    re.Match, property, functools.partial, type({}.keys()), type({}.values()), type({}.items()), BuiltinFunctionType,
    FunctionType, MethodType, types.GenericAlias, super, np.ndarray, np.generic, np.dtype)
# Their methods that read more than the object, or write somewhere else.
_NOT_OF_TYPES = frozenset({"format", "format_map", "tofile", "dump", "dumps", "setflags", "__subclasses__", "mro",
                           "__reduce__", "__reduce_ex__", "__sizeof__", "__dir__"})
# Modules of Python's library whose functions depend on their arguments alone, but for the names below.
_LIBRARY = frozenset({
    "abc", "bisect", "collections", "collections.abc", "_collections_abc", "contextlib", "copy", "copyreg",
    "dataclasses", "enum", "fractions", "functools", "heapq", "inspect", "itertools", "keyword", "numbers",
    "operator", "re", "re._compiler", "re._parser", "reprlib", "statistics", "string", "textwrap", "types", "typing",
    "_py_abc", "importlib", "importlib._bootstrap", "importlib._bootstrap_external", "_frozen_importlib",
    "_frozen_importlib_external", "__future__", "json", "json.encoder", "json.decoder", "json.scanner"})
_NOT_OF_LIBRARY = ("UserDict", "UserList", "UserString", "ChainMap", "singledispatch", "redirect_", "chdir", "register")
_IMPORTING = frozenset({"importlib._bootstrap", "_frozen_importlib", "importlib"})
# Functions and types of NumPy that read or write something else than their arguments.
_NOT_OF_NUMPY = frozenset({
    "fromfile", "frombuffer", "load", "loadtxt", "genfromtxt", "memmap", "save", "savez", "savez_compressed", "savetxt",
    "seterr", "geterr", "errstate", "set_printoptions", "get_printoptions", "printoptions", "fromregex",
    "open_memmap", "seterrcall", "geterrcall", "setbufsize", "getbufsize", "DataSource", "may_share_memory",
    "shares_memory", "nditer"})
# Further types of Python's library that a call may make objects of.
_MADE = (types.SimpleNamespace, functools.cached_property, functools.partialmethod, staticmethod, classmethod)
# Functions of the package that read or change a state that is no tensor, by module and name.
_STATES = {
    "tensors.arguments.generator": ("initial_seed",),
    "tensors.face.threading": ("get_num_threads", "set_num_threads"),
    "tensors.face.settings": ("get_num_interop_threads", "set_num_interop_threads"),
    "tensors.face.memory": ("frombuffer", "from_file"),
    "tensors.face.printing": ("get_printoptions", "set_printoptions"),
    "serialization.loading": ("load",),
    "serialization.saving": ("save",),
}
_OF_STATES = {(f"{PACKAGE}.{module}", name) for module, names in _STATES.items() for name in names}
# The compiler itself, and its module that runs the program.
_COMPILER, _RUN = f"{PACKAGE}.compilation.", f"{PACKAGE}.compilation.run_once"


def unknown(thing: Any) -> bool:
    """Whether a call of `thing` may depend on more than its arguments, or may change more than them."""
    if isinstance(thing, MethodType):
        thing = thing.__func__
    if isinstance(thing, FunctionType):
        return _python_is_unknown(thing.__module__, thing.__qualname__)
    if id(thing) in _PURE:
        return False
    if is_type(thing):
        return _type_is_unknown(thing)
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", "")
    module = module if isinstance(module, str) else ""
    if isinstance(thing, np.ufunc) or whose(module) == OWN or whose(type(thing).__module__) != LIBRARY:
        return False                                         # calls of Python's own objects are seen
    holder = getattr(thing, "__self__", None)
    if holder is None or isinstance(holder, types.ModuleType):
        holder = getattr(thing, "__objclass__", None)
    if holder is not None:
        kind = holder if is_type(holder) else type(holder)
        known = kind is object or issubclass(kind, _OWN_STATE) or whose(kind.__module__) in (OWN, USER)
        return name in _NOT_OF_TYPES or not known
    if module.partition(".")[0] == "numpy":
        return name in _NOT_OF_NUMPY or module.startswith("numpy.random")
    return callable(thing) and module not in _C_MODULES


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
        return name in _NOT_OF_NUMPY or module.startswith(("numpy.random", "numpy.lib._npyio", "numpy.lib.npyio"))
    return module not in _LIBRARY or any([part in name for part in _NOT_OF_LIBRARY])


def _type_is_unknown(kind: type[Any]) -> bool:
    """Whether objects of a type may hold a state that the walk does not compare."""
    module = kind.__module__
    if any([base.__name__ in _NOT_OF_LIBRARY and whose(base.__module__) == LIBRARY for base in kind.__mro__]):
        return True
    if whose(module) != LIBRARY:
        return False
    if module.partition(".")[0] == "numpy":
        return kind.__name__ in _NOT_OF_NUMPY or module.startswith("numpy.random")
    return not (issubclass(kind, (*_OWN_STATE, *_MADE)) or module in _LIBRARY or module in _C_MODULES)


class Watch:
    """Sees the calls of one traced run in this thread. `found` says which call was the first unknown one, and where.

    `returned` is called with each value that a function of the package returns to other code.
    """

    def __init__(self, returned: Callable[[FrameType, Any], None] | None) -> None:
        self.returned = returned
        self.found: tuple[str, Site | None] | None = None
        self.codes: set[CodeType] = set()                    # of the program's functions that have run
        self.aside: FrameType | None = None                  # an import, or what is no part of the program's run
        self.callbacks = {getattr(call, "__code__", None) for call in gc.callbacks}      # of Python's garbage collector
        self.former: Any = None

    def __enter__(self) -> None:
        self.former = sys.getprofile()
        if self.former is not None and not callable(self.former):            # the profiler of Python's library
            self.found = "a profiler watches the program", None
            return
        sys.setprofile(self._seen)

    def __exit__(self, *error: object) -> None:
        if self.former is None or callable(self.former):
            sys.setprofile(self.former)

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
        if module in _IMPORTING or frame.f_code in self.callbacks or (
                module == "weakref" and frame.f_code.co_name == "remove") or (
                caller is not None and caller.startswith(_COMPILER) and caller != _RUN and whose(module) == USER):
            self.aside = frame
        elif caller in _LIBRARY or whose(caller) == USER:
            name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
            if self.found is None and _python_is_unknown(module, name):
                self._end(f"{module}.{name}", frame)

    def _end(self, name: str, frame: FrameType) -> None:
        """Note an unknown call, and the line of the program that leads to it."""
        at: FrameType | None = frame
        while at is not None and not _is_users(at):
            at = at.f_back
        site = None if at is None else Site(at.f_code, at.f_lasti)
        self.found = f"the program calls {name}(), which may read or change more than its arguments", site


def _is_users(frame: FrameType) -> bool:
    return whose(frame.f_globals.get("__name__")) == USER
