"""The statements of operators as they stand in the source, and which operators a function calls."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import sys
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from reference.docstrings import joined
from reference.namespaces import PACKAGE
from retrograd.ops.framework import Op
from retrograd.tensors.recording.public import Public

DEPTH = 3           # how far the functions that a function calls are followed


class Statement(NamedTuple):
    """Where an operator is stated, and the text: the rules that have a name, then the statement itself."""

    path: str
    line: int
    text: str


class Module(NamedTuple):
    """The source of a module, its lines, and its statements by the names that they define."""

    path: str
    lines: list[str]
    defined: dict[str, ast.stmt]
    body: list[ast.stmt]


@cache
def module(file: str) -> Module:
    """The parsed source of a file of the package."""
    text = Path(file).read_text(encoding="utf-8")
    tree = ast.parse(text)
    defined: dict[str, ast.stmt] = {}
    for node in tree.body:
        for name in _names_of(node):
            defined.setdefault(name, node)
    return Module(Path(file).relative_to(PACKAGE).as_posix(), text.splitlines(), defined, tree.body)


def _names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name):
                yield part.id


@cache
def _stated() -> dict[Op, tuple[str, str]]:
    """For each operator that a module names, the file and the name."""
    found: dict[Op, tuple[str, str]] = {}
    for name, here in sorted(sys.modules.items()):
        if name.startswith("retrograd.") and getattr(here, "__file__", None):
            for key, value in [*vars(here).items()]:
                if isinstance(value, Op) and key in module(here.__file__).defined:
                    found.setdefault(value, (here.__file__, key))
    return found


@cache
def statement(op: Op) -> Statement | None:
    """The statement of an operator; None for an operator that a function makes."""
    if op in _stated():
        file, name = _stated()[op]
        node = module(file).defined[name]
    else:
        codes = [rule.__code__ for rule in op.rules.values() if hasattr(rule, "__code__")]
        codes = [code for code in codes if code.co_filename.startswith(str(PACKAGE / "ops"))]
        if not codes:
            return None
        file = codes[0].co_filename
        around = [node for node in module(file).body
                  if node.lineno <= codes[0].co_firstlineno <= (node.end_lineno or node.lineno)]
        if not around:
            return None
        node = around[0]
    source = module(file)
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    rules = [source.defined[name] for name in sorted(used) if isinstance(source.defined.get(name), ast.FunctionDef)]
    rules = sorted((rule for rule in rules if rule is not node), key=lambda rule: rule.lineno)
    texts = ["\n".join(source.lines[each.lineno - 1:each.end_lineno]) for each in rules]
    texts.append(joined(source.lines[node.lineno - 1:node.end_lineno]))
    return Statement(source.path, node.lineno, "\n\n".join(texts))


def plain(function: Any) -> Any:
    """The Python function behind a public function, a property, or one twin of two."""
    facts = getattr(function, "public", None)
    found = facts.body if isinstance(facts, Public) else function
    if isinstance(found, property):
        found = found.fget
    found = getattr(found, "body", found)
    while isinstance(found, functools.partial):
        found = found.func
    return inspect.unwrap(found) if inspect.isroutine(found) else found


def operators(function: Any) -> list[Op]:
    """The operators that a function calls, by itself or by the functions that it calls."""
    found: dict[Op, None] = {}
    _search(function, found, set(), DEPTH)
    return [*found]


def _search(value: Any, found: dict[Op, None], seen: set[int], depth: int) -> None:
    if isinstance(value, Op):
        found[value] = None
        return
    value = plain(value)
    if not isinstance(value, types.FunctionType) or id(value) in seen or not depth:
        return
    seen.add(id(value))
    if not value.__module__.startswith("retrograd") and not value.__globals__["__name__"].startswith("retrograd"):
        return
    held = _held(value)
    direct = [each for each in held.values() if isinstance(each, Op)]
    if direct:                                             # a recorded call holds its operator
        found.update(dict.fromkeys(direct))
        return
    for each in (*held.values(), *(_at(place, value.__globals__) for place in _named(value.__code__))):
        if isinstance(each, Op) or "kernels" not in (getattr(each, "__module__", None) or ""):
            _search(each, found, seen, depth - 1)


def _held(function: types.FunctionType) -> dict[str, Any]:
    """What the closure of a function holds."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:                                 # a name that is not yet bound
            continue
    return found


def _at(place: tuple[str, str], scope: dict[str, Any]) -> Any:
    """The global of a module, or the member of a global of the package, that a name means."""
    found = scope.get(place[0])
    if place[1] and isinstance(found, types.ModuleType):
        return vars(found).get(place[1]) if found.__name__.startswith("retrograd") else None
    return found


@cache
def _named(code: types.CodeType) -> tuple[tuple[str, str], ...]:
    """The globals that the code names, each with the attribute that is taken from the global ('' for none)."""
    found: dict[tuple[str, str], None] = {}
    last = ""
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            last = step.argval
            found[last, ""] = None
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if last:
                found[last, step.argval] = None
            last = ""
        else:
            last = ""
            if step.opname == "LOAD_CONST" and isinstance(step.argval, types.CodeType):
                found.update(dict.fromkeys(_named(step.argval)))
    return tuple(found)
