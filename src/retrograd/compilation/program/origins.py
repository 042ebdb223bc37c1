"""Whose code it is: the user's, this package's, or that of another library; and whether it is written in C."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any

from ...foundations.names import PACKAGE, contents

USER, OWN, LIBRARY = "user", "own", "library"
_LIBRARIES = frozenset({"numpy", "_frozen_importlib", "_frozen_importlib_external"})
# The module of the compiler that runs the program while a call is traced.
RUN = f"{PACKAGE}.compilation.trace.recording"
_OF_C = (type(str.join), type(str.__len__), type(len))
_ON_THE_HEAP = 1 << 9                                        # a flag of classes: Py_TPFLAGS_HEAPTYPE


def is_type(value: Any) -> bool:
    """Whether a value is a class. An object may say by its `__class__` that it is one, and `isinstance` believes it."""
    return issubclass(type(value), type)


def is_made_in_c(kind: type[Any]) -> bool:
    """Whether an installed package has written a class, or a base of it, in C, so that nobody sees what it keeps."""
    return any([made_by_c(base) for base in kind.__mro__ if whose(base.__module__) == USER])


@lru_cache(maxsize=4096)
def whose(module_name: Any) -> str:
    """Whose code a module holds: `OWN` for this package, `LIBRARY` for Python's library and NumPy, or `USER`.

    A package that is installed is the user's: its functions and objects may change like all others.
    """
    if not isinstance(module_name, str):                     # of a class that C has made
        return LIBRARY if module_name is not None else USER
    root = module_name.partition(".")[0]
    if root in (PACKAGE, "torch"):
        return OWN
    return LIBRARY if (root in sys.stdlib_module_names and root != "__main__") or root in _LIBRARIES else USER


def whose_class(cls: type[Any]) -> str:
    """Whose class it is. A class that a program makes with `types.new_class` only says that it is of that module."""
    name: Any = cls.__module__
    owner = whose(name)
    if owner != LIBRARY or made_by_c(cls):
        return owner
    found: Any = sys.modules.get(name)
    for part in cls.__qualname__.split("."):
        found = None if found is None else contents(found).get(part)
    return LIBRARY if found is cls or name in ("typing", "abc") else USER


def made_by_c(cls: type[Any]) -> bool:
    """Whether C has defined a class, so that nobody sees what its objects hold and do."""
    own = [part for part in vars(cls).values() if isinstance(part, _OF_C)]
    return not cls.__flags__ & _ON_THE_HEAP or any(
        [getattr(part, "__objclass__", getattr(part, "__self__", None)) is cls for part in own])
