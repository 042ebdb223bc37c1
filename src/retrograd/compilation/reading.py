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
USER, OWN, LIBRARY = "user", "own", "library"


class Mentions(NamedTuple):
    """The names in the code of a function and of the functions in it.

    `globals` are those of global variables, and `imports` those of modules that the code imports. `names` are all
    names, also of attributes, and strings that may be names.
    """

    globals: tuple[str, ...]
    imports: tuple[str, ...]
    names: frozenset[str]


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


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
    for part in _codes(code):
        names.update(part.co_names, *[_strings(constant) for constant in part.co_consts])
        for instruction in dis.get_instructions(part):
            if instruction.opname in _GLOBALS:
                globals_[instruction.argval] = None
            elif instruction.opname == "IMPORT_NAME":
                imports[instruction.argval] = None
    return Mentions(tuple(globals_), tuple(imports), frozenset(names))


@lru_cache(maxsize=4096)
def whose(module_name: str | None) -> str:
    """Whose code a module holds: `USER`, `OWN` for this package, or `LIBRARY`."""
    root = (module_name or "").partition(".")[0]
    if root == "__main__":
        return USER
    if root in (PACKAGE, "torch"):
        return OWN
    if root in sys.stdlib_module_names or root in ("numpy", "_frozen_importlib"):
        return LIBRARY
    module = sys.modules.get(module_name or "") or sys.modules.get(root)
    file = getattr(module, "__file__", None) or ""
    return LIBRARY if "site-packages" in file or "dist-packages" in file else USER
