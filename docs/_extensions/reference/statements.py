"""The statements of operators as they stand in the source, and which operators a function calls."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import types
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from reference.docstrings import joined
from retrograd.ops.framework import Op
from retrograd.tensors.recording.public_facts import Public
from retrograd.viz.statements import statement_of_op

DEPTH = 4           # how far the functions that a function calls are followed


class Statement(NamedTuple):
    """Where an operator is stated, and the text: the statement itself, then the rules that have a name."""

    path: str
    line: int
    text: str


@cache
def statement(op: Op) -> Statement | None:
    """The statement of an operator; None for an operator that a function makes."""
    found = statement_of_op(op)
    path, _, line = found.at.rpartition(":") if found is not None else ("", "", "")
    if found is None or not path.startswith("ops/"):
        return None
    first, empty, rules = found.text.partition("\n\n")
    return Statement(path, int(line), joined(first.split("\n")) + empty + rules)


@cache
def lines_of_classes(file: str) -> dict[str, int]:
    """The lines on which the classes of a file begin."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {node.name: node.lineno for node in tree.body if isinstance(node, ast.ClassDef)}


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
    """The operators that a function calls, by itself or by the functions that it calls: the nearest ones first."""
    found: dict[Op, None] = {}
    seen: set[int] = set()
    level: list[Any] = [function]
    for _ in range(DEPTH + 1):
        below: list[Any] = []
        for value in level:
            if isinstance(value, Op):
                found[value] = None
            else:
                below += _called(plain(value), seen)
        level = below
    return [*found]


def _called(function: Any, seen: set[int]) -> list[Any]:
    """The operators and functions that a function of the package names; those of a recorded call are its operator."""
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return []
    seen.add(id(function))
    if not function.__globals__["__name__"].startswith("retrograd"):
        return []
    held = [*_held(function).values()]
    direct = [each for each in held if isinstance(each, Op)]
    if direct:
        return direct
    named = [_at(place, function.__globals__) for place in _named(function.__code__)]
    return [each for each in (*held, *named) if isinstance(each, (Op, types.FunctionType, functools.partial))
            and ".kernels" not in (getattr(each, "__module__", None) or "")]


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
        return getattr(found, place[1], None) if found.__name__.startswith("retrograd") else None
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
