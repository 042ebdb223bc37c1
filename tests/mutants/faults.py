"""Where faults can be planted in a file, and the text of the file with one planted. Knows syntax and no tests."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
}
_COMPARISONS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}
_Change = tuple[str, ast.expr | ast.stmt, ast.AST | str]


class Fault(NamedTuple):
    """A piece of text in a file that another takes the place of."""

    path: str           # below the folder of the package
    kind: str
    function: int       # the line where the innermost function around it begins; 0 outside of functions
    line: int
    start: int          # in bytes, as Python counts columns
    end: int
    old: str
    new: str
    around: str         # the line where it begins

    def planted(self, source: bytes) -> bytes:
        """The file with the fault."""
        return source[:self.start] + self.new.encode() + source[self.end:]

    @property
    def key(self) -> str:
        """What the fault does, whatever the number of its line."""
        return f"{self.path}: {' '.join(self.old.split())} => {self.new}"

    @property
    def entry(self) -> str:
        """What names the fault in the list of survivors: the same text in another line is another fault."""
        return f"{self.key} | {self.around}"


class _File:
    def __init__(self, folder: Path, path: str) -> None:
        self.path = path
        self.source = (folder / path).read_bytes()
        self.tree = ast.parse(self.source)

    @cached_property
    def _lines(self) -> list[int]:
        """For each line, where it begins."""
        starts = [0]
        for line in self.source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def fault(self, kind: str, node: ast.expr | ast.stmt, new: ast.AST | str, function: int) -> Fault:
        start = self._lines[node.lineno - 1] + node.col_offset
        end = self._lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = new if isinstance(new, str) else ast.unparse(new)
        if isinstance(new, ast.expr) and not isinstance(new, ast.Call | ast.Constant):
            text = f"({text})"
        around = " ".join(self.source[self._lines[node.lineno - 1]:self._lines[node.lineno]].decode().split())
        return Fault(self.path, kind, function, node.lineno, start, end, self.source[start:end].decode(), text, around)


def faults_of(folder: Path, path: str) -> Iterator[Fault]:
    """Every fault that this module knows how to plant in one file."""
    file = _File(folder, path)
    nodes = list[tuple[ast.expr | ast.stmt, int]]()
    _within(file.tree, 0, nodes)
    for node, function in nodes:
        for kind, place, new in _changes(node):
            yield file.fault(kind, place, new, function)


def _within(node: ast.AST, function: int, found: list[tuple[ast.expr | ast.stmt, int]]) -> None:
    """Find the nodes below this one that a program runs, each with the function around it."""
    for field, value in ast.iter_fields(node):
        inside = function
        if isinstance(node, ast.FunctionDef | ast.Lambda) and field == "body":
            inside = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_out(child, field):
                if isinstance(child, ast.expr | ast.stmt):
                    found.append((child, inside))
                _within(child, inside, found)


def _is_left_out(node: ast.AST, field: str) -> bool:
    """Whether only type checkers and readers see it, or the text of messages."""
    if isinstance(node, ast.If):
        test = node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test
        return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        first = node.targets[0]
        return isinstance(first, ast.Name) and first.id in ("__all__", "__slots__")
    return field in ("annotation", "returns") or isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom)


def _changes(node: ast.expr | ast.stmt) -> Iterator[_Change]:
    """For each fault that fits a node, its kind, the place, and what is to stand there."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _OPERATORS:
        yield "operator", node, _with(node, op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield "sign", node, node.operand
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARISONS:
        yield "comparison", node, _with(node, ops=[_COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.Constant):
        yield from _constants(node)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.If | ast.IfExp):
        yield "condition", node.test, ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "return", node, "return None"
    elif _acts_alone(node):
        yield "statement", node, "pass"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _acts_alone(node: ast.expr | ast.stmt) -> bool:
    """Whether it is a statement that may be left out and the file still runs."""
    if isinstance(node, ast.Assign):
        return not isinstance(node.targets[0], ast.Name | ast.Tuple)
    return isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _constants(node: ast.Constant) -> Iterator[_Change]:
    if isinstance(node.value, bool):
        yield "constant", node, repr(not node.value)
    elif isinstance(node.value, int | float):
        yield "constant", node, repr(node.value + 1)


def _calls(node: ast.Call) -> Iterator[_Change]:
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    if plain and len(node.args) >= 2:
        first, second = node.args[:2]
        if type(first) is not type(second) or ast.dump(first) != ast.dump(second):
            yield "exchanged", node, _with(node, args=[node.args[1], node.args[0], *node.args[2:]])
        yield "dropped", node, _with(node, args=node.args[:-1])
    for i, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield "dropped", node, _with(node, keywords=node.keywords[:i] + node.keywords[i + 1:])


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
