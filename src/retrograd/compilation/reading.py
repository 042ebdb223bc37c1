"""What Python code names, and whose code it is: the user's, this package's, or that of another library."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from ..names import PACKAGE

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}
# Code with one of these names may look at any attribute of an object.
ANY_ATTRIBUTE = frozenset({"__dict__", "__getstate__", "attrgetter", "dir", "getattr", "setattr", "vars"})
# Methods of lists that look for an element by its identity first.
_BY_IDENTITY = frozenset({"index", "remove", "count"})
USER, OWN, LIBRARY = "user", "own", "library"


class Mentions(NamedTuple):
    """The names in the code of a function and of the functions in it.

    `globals` are those of global variables, and `imports` those of modules that the code imports. `names` are all
    names, also of attributes, and strings that may be names. `identity` says whether the code may ask which of several
    equal things a thing is: by `is` or by `in`.
    """

    globals: tuple[str, ...]
    imports: tuple[str, ...]
    names: frozenset[str]
    identity: bool


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def _strings(constant: Any) -> Iterator[str]:
    if isinstance(constant, str):
        if constant.isidentifier():
            yield constant
    elif isinstance(constant, tuple):
        for part in constant:
            yield from _strings(part)


@lru_cache(maxsize=1024)
def mentions(code: CodeType) -> Mentions:
    """What the code of a function names."""
    globals_: dict[str, None] = {}
    imports: dict[str, None] = {}
    names: set[str] = set()
    identity, before = False, ""
    for part in codes(code):
        names.update(part.co_names, *[_strings(constant) for constant in part.co_consts])
        for instruction in dis.get_instructions(part):
            identity = identity or instruction.opname == "CONTAINS_OP" or (
                instruction.opname == "IS_OP" and before != "LOAD_CONST")
            before = instruction.opname
            if instruction.opname in _GLOBALS:
                globals_[instruction.argval] = None
            elif instruction.opname == "IMPORT_NAME":
                imports[instruction.argval] = None
    return Mentions(tuple(globals_), tuple(imports), frozenset(names), identity or not _BY_IDENTITY.isdisjoint(names))


def is_type(value: Any) -> bool:
    """Whether a value is a class. An object may say by its `__class__` that it is one, and `isinstance` believes it."""
    return issubclass(type(value), type)


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


_LIBRARIES = frozenset({"numpy", "_frozen_importlib", "_frozen_importlib_external"})


# What code names, from a global or captured variable on: ("np", "random", "default_rng").
Chain = tuple[str, ...]


@lru_cache(maxsize=1024)
def chains(code: CodeType) -> tuple[Chain, ...]:
    """The variables from outside that a function, and the functions in it, name, with their attributes."""
    found: dict[Chain, None] = {}
    for part in codes(code):
        chain: Chain = ()
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
                chain = (instruction.argval,)
            elif chain and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                chain = (*chain, instruction.argval)
            else:
                chain = ()
            if chain:
                found[chain] = None
    return tuple(found)
