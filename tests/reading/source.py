"""Where in the source a function stands, and which modules a folder has."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from types import FunctionType

Function = ast.FunctionDef | ast.Lambda


@cache
def definitions(module: str) -> dict[str | tuple[str, int], list[Function]]:
    """The functions of a module: those of the module itself by name, others by name and line."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    found: dict[str | tuple[str, int], list[Function]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            key = node.name if node in tree.body else (node.name, node.lineno)
            found.setdefault(key, []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault(("<lambda>", node.lineno), []).append(node)
    return found


def sources(function: FunctionType) -> list[Function]:
    """The syntax trees of a function; of lambdas on one line all that take the same arguments."""
    code, known = function.__code__, definitions(function.__globals__["__name__"])
    if "<" not in function.__qualname__ and function.__name__ in known:
        return known[function.__name__]                      # whose code may stand elsewhere
    own = [*code.co_varnames[: code.co_argcount]]
    return [node for node in known.get((code.co_name, code.co_firstlineno), []) if positional(node) == own]


def positional(node: Function) -> list[str]:
    """The names of the arguments that may be given by position."""
    return [a.arg for a in [*node.args.posonlyargs, *node.args.args]]


def modules_below(folder: Path, package: str) -> list[str]:
    """The names of the modules in a folder of a package."""
    return sorted(".".join((package, *path.relative_to(folder).with_suffix("").parts))
                  for path in folder.rglob("*.py") if path.name != "__init__.py")
