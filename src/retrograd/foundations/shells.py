"""Names of PyTorch that programs import, though retrograd has nothing behind them.

A program may import such a name and ask `isinstance` about it. A call says what retrograd lacks. The names are rows of
one table, the text file beside this module. A module that is only such names has no file: `ShellFinder` makes it.
"""

import enum
import importlib
import re
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import names

_CLASS = re.compile(r"(\w+)\(([\w.]*)\)")
_ENUMERATION = re.compile(r"(\w+)\{([\w,]+)\}")


@cache
def rows() -> dict[str, dict[str, str]]:
    """The entries of each module of the table, by their names. The entry of "" names the module whose names it has."""
    found: dict[str, dict[str, str]] = {}
    for line in names.lines("pytorch_shells.txt"):
        space, colon, entries = line.partition(":")
        if not colon:
            continue
        alias = entries.partition("= ")[2]
        found[space] = {"": alias} if alias else {re.split(r"[({]", entry)[0]: entry for entry in entries.split()}
    return found


@cache
def shell(space: str, name: str) -> Any:
    """What stands behind a name of the table."""
    row = rows()[space]
    if alias := row.get(""):
        return getattr(importlib.import_module(_own(alias)), name)
    entry, path = row[name], f"{space}.{name}"
    if found := _CLASS.fullmatch(entry):
        return names.refused_class(path, _base(found[2]))
    if found := _ENUMERATION.fullmatch(entry):
        return enum.Enum(name, found[2].split(","), module=space)
    return names.refused(path)


def listed(space: str) -> list[str]:
    """The names that the table has for a module."""
    row = rows().get(space, {})
    if "" not in row:
        return [*row]
    return [*dict.fromkeys([*importlib.import_module(_own(row[""])).__all__, *listed(row[""])])]


def _base(path: str) -> type:
    """The class at a path such as "torch.nn.Module", or a class of Python; object for an empty path."""
    space, _, name = path.rpartition(".")
    module = importlib.import_module(_own(space) if space else "builtins")
    base: type = getattr(module, name or "object")
    return base


def _own(space: str) -> str:
    """The name that a module of PyTorch has here."""
    return names.PACKAGE + space.removeprefix("torch")


class ShellFinder:
    """Finds the modules of the table that have no file. Python asks it after all others."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module of the table, a package; None for all others."""
        if not fullname.startswith(f"{names.PACKAGE}.") or names.public(fullname) not in rows():
            return None
        return ModuleSpec(fullname, ShellFinder(), is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python create the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Give a module its names, which are made when a program first names them."""
        space = names.public(module.__name__)
        module.__doc__ = f"{space}: names that programs import. retrograd has nothing behind them."
        all_names = [name for name in listed(space) if not name.startswith("_")]
        vars(module).update(__all__=all_names, __getattr__=names.missing(module.__name__, all_names)[0],
                            __dir__=lambda: [*vars(module), *all_names])
