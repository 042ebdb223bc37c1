"""The source of derivative rules: the statement of an operator with its rules, or the backward of a Function.

A statement is found by reading the file in which it stands. Functions that the statement names as rules follow it.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..autograd.function_node import FunctionNode
from ..foundations.errors import OWN
from ..foundations.names import contents
from ..graph.node import Node, OpNode
from ..ops.framework import Op
from ..tensors.recording.inplace import CopySlices


class Statement(NamedTuple):
    """The source of a rule. `op` is the name of its operator or Function, and `at` is where it stands: "file:line"."""

    op: str
    text: str
    at: str


def statement_of(node: Node) -> Statement | None:
    """The source of what a node runs; None if it cannot be read, or if the node is the end of the graph."""
    if isinstance(node, CopySlices) and node.inner is not None:
        return statement_of(node.inner)
    if isinstance(node, OpNode):
        return statement_of_op(node.op)
    if isinstance(node, FunctionNode):
        function: Any = node.context_class._forward_cls
        return source_of(function.__name__, function._backward_or_vjp())
    return source_of(node.name(), type(node).apply)


@cache
def statement_of_op(op: Op) -> Statement | None:
    """The statement of an operator with its rules, and the functions that the statement names as rules."""
    found = next(_statements(op), None)
    parts = [] if found is None else [found]
    for rule in dict.fromkeys(op.rules.values()):
        place = _place(rule)
        if place is not None and not any([part.holds(place) for part in parts]):
            parts.append(place)
    texts = [part.text for part in parts]
    return Statement(op.name, "\n\n".join(texts), f"{shown(parts[0].file)}:{parts[0].first}") if parts else None


class _Lines(NamedTuple):
    """Lines of a file, the first and the last counted from 1."""

    file: str
    first: int
    last: int

    def holds(self, other: _Lines) -> bool:
        return (other.file == self.file
                and self.first <= other.first and other.last <= self.last)

    @property
    def text(self) -> str:
        lines = _source(self.file)[self.first - 1:self.last]
        indent = min([len(line) - len(line.lstrip()) for line in lines if line.strip()], default=0)
        return "\n".join([line[indent:].rstrip() for line in lines])


def shown(file: str) -> str:
    """The name of a file: from the package or from the working folder, if the file is below one of them."""
    for folder in OWN:
        if file.startswith(folder):
            return file[len(folder):].replace(os.sep, "/")
    here = os.getcwd() + os.sep
    return file[len(here):] if file.startswith(here) else file


@cache
def _source(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read().split("\n")              # splitlines would also split at a form feed
    except (OSError, UnicodeDecodeError):
        return []


@cache
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("\n".join(_source(file)))
    except SyntaxError:
        return ast.Module([], [])


@cache
def _assignments(file: str) -> dict[str, ast.stmt]:
    """The statements of a module that assign to a name, by the name."""
    found: dict[str, ast.stmt] = {}
    for statement in _tree(file).body:
        targets = (statement.targets if isinstance(statement, ast.Assign)
                   else [statement.target] if isinstance(statement, ast.AnnAssign) else [])
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    found[name.id] = statement
    return found


@lru_cache(maxsize=1)
def _homes(imported: int) -> dict[int, list[tuple[str, str]]]:
    """Where operators stand: for the identity of each, the files and the names that modules give to it.

    A program imports further modules while it runs. `imported` is the number of modules, so that they are looked at.
    """
    homes: dict[int, list[tuple[str, str]]] = {}
    package = __name__.partition(".")[0]
    for module in [*sys.modules.values()]:
        if isinstance(module, ModuleType) and module.__name__.startswith(package + ".") and (
                file := contents(module).get("__file__")):
            for name, value in contents(module).items():
                if isinstance(value, Op):
                    for op in dict.fromkeys((value, value.written)):
                        homes.setdefault(id(op), []).append((file, name))
    return homes


def _statements(op: Op) -> Iterator[_Lines]:
    """The statements that assign an operator to a name, or else those around its rules."""
    for file, name in _homes(len(sys.modules)).get(id(op), ()):
        statement = _assignments(file).get(name)
        if statement is not None:
            yield _Lines(file, statement.lineno, statement.end_lineno or statement.lineno)
    for rule in op.rules.values():
        place = _place(rule)
        if place is not None:
            yield place


def bare(function: Any) -> Any:
    """A function below partial applications and decorators."""
    while True:
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, FunctionType) and "__wrapped__" in vars(function):
            function = vars(function)["__wrapped__"]
        else:
            return function


def _code(rule: Callable[..., Any]) -> CodeType | None:
    code = getattr(bare(rule), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _place(rule: Callable[..., Any]) -> _Lines | None:
    """The smallest statement that holds the definition of a rule."""
    code = _code(rule)
    if code is None:
        return None
    file, line = code.co_filename, code.co_firstlineno
    around = [(last - first, first, last) for first, last in _statements_in(file) if first <= line <= last]
    return _Lines(file, *min(around)[1:]) if around else None


@cache
def _statements_in(file: str) -> list[tuple[int, int]]:
    """The first and the last line of each statement of a file, with those inside of others."""
    return [(min([statement.lineno, *[decorator.lineno for decorator in getattr(statement, "decorator_list", ())]]),
             statement.end_lineno or statement.lineno)
            for statement in ast.walk(_tree(file)) if isinstance(statement, ast.stmt)]


def source_of(name: str, function: Callable[..., Any]) -> Statement | None:
    """The source of a function, under a name; None if it is not written in Python or cannot be read."""
    code = _code(function)
    place = None if code is None else _place(function)
    return None if place is None else Statement(name, place.text, f"{shown(place.file)}:{place.first}")
