"""What a traced run may call, each with the reason why a repetition need not call it again. All else ends the trace.

The tables have functions and types by the reason: such a thing depends on its arguments alone, changes nothing but an
object that the guard compares, or only calls what is seen itself. A test calls each of them twice.
"""

from __future__ import annotations

import builtins
import cmath
import collections
import functools
import math
import re
import types
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

# Why a thing may be called.
ALONE = "its result depends on its arguments alone, and it changes nothing"
MAKES = "it makes a new object of its arguments"
CALLS = "it only calls methods of its arguments, and calls of functions in Python are seen"
LOOKS = "the walk notes all attributes of objects if code names it"
CHANGES = "it changes its argument alone: what exists before the call is compared, and what does not is the call's own"
IMPORTS = "the guard asks for the modules that import statements name"
DEFINES = "it defines classes or functions, or says what they are"


def by_name(reasons: Mapping[str, str]) -> dict[str, str]:
    """The reason for each name, from the names for each reason."""
    return {name: reason for reason, names in reasons.items() for name in names.split()}


BUILTINS = by_name({
    ALONE: "abs all any ascii bin bool bytes chr complex divmod float hash hex int len max min oct ord pow range "
           "round slice str sum NotImplemented",
    MAKES: "classmethod dict enumerate filter frozenset list map object property reversed set staticmethod super "
           "tuple zip",
    CALLS: "callable isinstance issubclass iter next repr sorted",
    LOOKS: "delattr dir getattr hasattr setattr vars",
    DEFINES: "type __build_class__",
    IMPORTS: "__import__"})
PURE = {id(getattr(builtins, name)): reason for name, reason in BUILTINS.items()}
# Modules of functions in C, and of types.
C_MODULES = {
    math.__name__: ALONE, cmath.__name__: ALONE, "_statistics": ALONE, "_struct": CHANGES, "_sre": ALONE,
    "_operator": CHANGES, "_functools": CALLS, "_collections": CHANGES, "itertools": MAKES, "_bisect": CHANGES,
    "_heapq": CHANGES, "_abc": DEFINES, "typing": DEFINES, "_typing": DEFINES, "types": DEFINES}
_ITSELF = "its methods read and change the object alone"
_PARTS = "its calls are calls of its parts, which are compared"
# Types whose methods may be called.
OWN_STATE: dict[type[Any], str] = {
    **dict.fromkeys((list, dict, set, collections.deque, np.ndarray), CHANGES),
    **dict.fromkeys((tuple, frozenset, str, bytes, int, float, complex, bool, range, slice, type(None), np.generic,
                     np.dtype, re.Pattern, re.Match, types.MappingProxyType, types.GenericAlias), ALONE),
    **dict.fromkeys((types.GeneratorType, types.CoroutineType, BaseException), _ITSELF),
    **dict.fromkeys((type({}.keys()), type({}.values()), type({}.items())), _PARTS),
    **dict.fromkeys((property, functools.partial, BuiltinFunctionType, FunctionType, MethodType, super), _PARTS),
    type: DEFINES}
# Their methods that read more than the object, or write somewhere else.
NOT_OF_TYPES = frozenset({"format", "format_map", "tofile", "dump", "dumps", "setflags", "__subclasses__", "mro",
                          "__reduce__", "__reduce_ex__", "__sizeof__", "__dir__"})
# Modules of Python's library, and which of their functions and classes may not be called.
LIBRARY_MODULES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("bisect", "heapq", "itertools", "keyword", "numbers", "fractions", "textwrap",
                     "_collections_abc", "collections.abc", "re", "operator"), (ALONE, "")),
    "re._compiler": (ALONE, "dis"), "re._parser": (ALONE, ""),
    "statistics": (ALONE, "NormalDist"),
    "json": (ALONE, "dump load"), "json.encoder": (ALONE, ""), "json.decoder": (ALONE, ""), "json.scanner": (ALONE, ""),
    "reprlib": (CALLS, ""), "string": (CALLS, ""),
    "collections": (MAKES, "UserDict UserList UserString ChainMap"),
    "copy": (CALLS, ""), "copyreg": (CALLS, "pickle constructor add_extension remove_extension clear_extension_cache"),
    "contextlib": (CALLS, "redirect_stdout redirect_stderr _RedirectStream chdir"),
    "functools": (CALLS, "singledispatch singledispatchmethod"),
    "abc": (DEFINES, "ABCMeta.register"), "_py_abc": (DEFINES, "ABCMeta.register"),
    "dataclasses": (DEFINES, ""), "enum": (DEFINES, ""), "types": (DEFINES, ""), "typing": (DEFINES, ""),
    "__future__": (DEFINES, ""), "annotationlib": (DEFINES, ""),         # since Python 3.14
    "inspect": (DEFINES, "currentframe stack trace getouterframes getinnerframes getframeinfo getsource getsourcelines "
                         "getsourcefile getfile findsource getcomments getmodule getgeneratorstate getgeneratorlocals"),
    **dict.fromkeys(("importlib._bootstrap", "importlib._bootstrap_external", "_frozen_importlib",
                     "_frozen_importlib_external"), (IMPORTS, ""))}
_NOT_OF_LIBRARY = {module: frozenset(names.split()) for module, (_, names) in LIBRARY_MODULES.items()}
# Functions and types of NumPy that read or write something else than their arguments.
NOT_OF_NUMPY = frozenset({
    "fromfile", "frombuffer", "load", "loadtxt", "genfromtxt", "memmap", "save", "savez", "savez_compressed", "savetxt",
    "seterr", "geterr", "errstate", "set_printoptions", "get_printoptions", "printoptions", "fromregex",
    "open_memmap", "seterrcall", "geterrcall", "setbufsize", "getbufsize", "DataSource", "may_share_memory",
    "shares_memory", "nditer", "test", "info", "show_config", "show_runtime", "array2string", "array_repr",
    "array_str", "format_float_positional", "format_float_scientific", "get_include", "f2py", "set_string_function"})
# NumPy's modules that read or write files, draw random numbers, or print as options say.
STATES_OF_NUMPY = ("numpy.random", "numpy.lib._npyio", "numpy.lib.npyio", "numpy._core.arrayprint", "numpy.testing",
                   "numpy.f2py", "numpy.ctypeslib", "numpy.lib._utils", "numpy.lib._datasource", "numpy.distutils",
                   "numpy._pytesttester")
# Further types of Python's library that a call may make objects of.
MADE: dict[type[Any], str] = dict.fromkeys(
    (types.SimpleNamespace, functools.cached_property, functools.partialmethod, staticmethod, classmethod), MAKES)


def of_library(module: str, name: str) -> bool:
    """Whether a function or class of Python's library may be called. `name` is its qualified name."""
    if module not in LIBRARY_MODULES:
        return False
    return _NOT_OF_LIBRARY[module].isdisjoint(_beginnings(name))


def of_numpy(module: str, name: str) -> bool:
    """Whether a function or class of NumPy may be called."""
    return name not in NOT_OF_NUMPY and not module.startswith(STATES_OF_NUMPY)


def _beginnings(name: str) -> Iterable[str]:
    """A qualified name, and its beginnings: `a` and `a.b`."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
