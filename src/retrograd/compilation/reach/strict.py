"""Whether a function may call something that takes numbers of Python's own types only.

A stand-in for a number is no float. Nearly all code takes it for one, but some functions in C, such as those of `json`,
raise a TypeError, and `type` tells it from a float. No number stands in if the program can reach such functions.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

from ..program.origins import LIBRARY, is_type, whose
from .items import State
from .reading import ANY_ATTRIBUTE

# Modules of Python's library, and NumPy, whose functions take all that behaves like a number.
_LENIENT = frozenset({
    "abc", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses", "enum", "functools",
    "heapq", "itertools", "math", "numpy", "operator", "os", "random", "re", "string", "sys", "textwrap", "types",
    "typing", "warnings", "weakref"})
_MODULES = frozenset({"array", "ctypes", "datetime", "decimal", "fractions", "json", "marshal", "numbers", "pickle",
                      "shelve", "sqlite3", "statistics", "struct"})
_NAMES = frozenset({"type", "vars", "__dict__", "__getstate__", "fromkeys", "__float__", "__add__", "__mul__", "hex",
                    "translate"})
assert {"vars", "__dict__"} <= ANY_ATTRIBUTE


def may_be_strict(state: State) -> bool:
    """Whether code of the program may call a function that takes no stand-in for a number."""
    names = state.mentioned
    return not names.isdisjoint(_NAMES | _MODULES) or any([_is_strict(item.value) for item in state.items])


def _is_strict(value: Any) -> bool:
    """Whether a thing is of Python's library, and not known to be lenient."""
    if isinstance(value, ModuleType):
        name = value.__name__
    elif is_type(value) or type(value) is FunctionType:
        name = value.__module__ or ""
    else:
        return False
    return whose(name) == LIBRARY and name.partition(".")[0].lstrip("_") not in _LENIENT
