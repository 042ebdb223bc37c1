"""What Python code names, and whose code it is: the user's, this package's, or that of another library."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"}
# Code with one of these names may look at any attribute of an object.
ANY_ATTRIBUTE = frozenset({"__delattr__", "__dict__", "__getattribute__", "__getstate__", "__setattr__", "attrgetter",
                           "delattr", "dir", "getattr", "methodcaller", "setattr", "vars"})
# What code names, from a global or captured variable on: ("np", "random", "default_rng").
_ROOTS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})
# Methods of lists that look for an element by its identity first.
_BY_IDENTITY = frozenset({"index", "remove", "count"})


class Mentions(NamedTuple):
    """The names in the code of a function and of the functions in it.

    `globals` are those of global variables, and `imports` those of modules that the code imports, with the dots before
    the name. `names` are all names, also of attributes, and strings that may be names. `identity` says whether the code
    may ask which of several equal things a thing is: by `is` or by `in`.
    """

    globals: tuple[str, ...]
    imports: tuple[tuple[int, str], ...]
    names: frozenset[str]
    identity: bool


class Chain(NamedTuple):
    """What code names from a variable from outside on, such as ("np", "pi"), and whether it is called."""

    names: tuple[str, ...]
    called: bool


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of the functions and classes in it."""
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
    imports: dict[tuple[int, str], None] = {}
    names: set[str] = set()
    identity, before, loaded = False, "", [0, 0]             # the last two values that were loaded
    for part in codes(code):
        names.update(part.co_names, *[_strings(constant) for constant in part.co_consts])
        for instruction in dis.get_instructions(part):
            name = instruction.opname
            identity = identity or name == "CONTAINS_OP" or (name == "IS_OP" and before != "LOAD_CONST")
            before = name
            if name in _GLOBALS:
                globals_[instruction.argval] = None
            elif name == "IMPORT_NAME":                      # the level, and which names, were loaded before
                imports[int(loaded[0]), instruction.argval] = None
            elif name == "MATCH_CLASS":
                names.add("__match_args__")
            loaded = [loaded[1], instruction.argval if name.startswith("LOAD_") else 0]
    return Mentions(tuple(globals_), tuple(imports), frozenset(names), identity or not _BY_IDENTITY.isdisjoint(names))


@lru_cache(maxsize=1024)
def chains(code: CodeType) -> tuple[Chain, ...]:
    """The variables from outside that a function, and the functions in it, name, with their attributes."""
    found: dict[Chain, None] = {}
    for part in codes(code):
        names: tuple[str, ...] = ()
        pushed = False                                       # what is called next is on the stack
        instructions = [*dis.get_instructions(part)]
        for instruction, after in zip(instructions, [*instructions[1:], None], strict=True):
            name = instruction.opname
            if name in _ROOTS:
                names = (instruction.argval,)
            elif names and name in _ATTRIBUTES:
                names = (*names, instruction.argval)
            else:
                names, pushed = (), name == "PUSH_NULL"
            if names:
                pushed = pushed or _is_called(instruction, after)              # what follows is called, too
                found[Chain(names, pushed)] = None
    return tuple(found)


def _is_called(instruction: dis.Instruction, after: dis.Instruction | None) -> bool:
    """Whether what an instruction loads is called, as the code says: a null lies below it, or comes next."""
    if instruction.opname == "LOAD_METHOD" or (after is not None and after.opname in ("PUSH_NULL", "RAISE_VARARGS")):
        return True
    with_null = ("LOAD_GLOBAL", "LOAD_ATTR") if sys.version_info >= (3, 12) else ("LOAD_GLOBAL",)
    return instruction.opname in with_null and bool((instruction.arg or 0) & 1)
