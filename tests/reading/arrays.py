"""Follows arrays through a function and what it calls, and notes each place that uses their numbers.

What stands behind an array may have no numbers to show: it may be a batch, or write down a program. It has a shape and
a dtype, and ops compute with it. So a rule may not branch on an array, and a function may not compute with one itself.

Functions of the package are read with the kinds of their arguments; ops are known, and so what a call of one makes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from reading.kinds import ARRAY, PLAIN, element, holds_arrays, joined
from reading.source import Function, positional, sources
from retrograd.ops.framework import Op

KNOWN_TO_ALL = {"shape", "dtype", "ndim", "size", "itemsize"}
# Python's functions that look at a number, and NumPy's whose result has a shape that numbers decide.
LOOKING: tuple[Any, ...] = (bool, int, float, complex, str, any, all, min, max, range, len, sorted, iter, abs, round)
OF_ANY_SHAPE = (np.nonzero, np.flatnonzero, np.unique, np.argwhere)


class Fault(NamedTuple):
    """A place in the source and what is wrong there."""

    module: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.text}"


def says(test: ast.expr, word: type[ast.cmpop]) -> bool:
    """Whether a test is, or is false unless, `….transform is None`, or `is not` where that is the word."""
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.And if word is ast.Is else ast.Or) and any(says(v, word) for v in test.values)
    return (isinstance(test, ast.Compare) and isinstance(test.left, ast.Attribute) and test.left.attr == "transform"
            and isinstance(test.ops[0], word))


class Reader:
    """Reads functions. `strict` allows an array to be handed on only: to ops, and to what `passes` says."""

    def __init__(self, *, strict: bool, follows: Callable[[FunctionType], bool],
                 passes: Callable[[Any], Any] = lambda callee: None) -> None:
        self.strict, self.follows, self.passes = strict, follows, passes
        self.results: dict[Any, tuple[Any, frozenset[Fault]]] = {}

    def read(self, function: FunctionType, kinds: dict[str, Any]) -> tuple[Any, frozenset[Fault]]:
        """What a function returns when given arguments of these kinds, and the faults in it and in what it calls."""
        key = (function, repr(sorted(kinds.items(), key=lambda item: item[0])))
        if key not in self.results:
            self.results[key] = PLAIN, frozenset()           # as long as it is being read, for what calls itself
            returned, faults = [], set[Fault]()
            for node in sources(function):
                one = Reading(self, function, kinds)
                returned.append(one.whole(node))
                faults |= one.faults
            self.results[key] = joined(returned), frozenset(faults)
        return self.results[key]


class Reading:
    """One function, read with arguments of certain kinds."""

    def __init__(self, reader: Reader, function: FunctionType, kinds: dict[str, Any]) -> None:
        self.reader, self.function = reader, function
        self.kinds, self.faults, self.returned = dict(kinds), set[Fault](), list[Any]()
        cells = function.__closure__ or ()
        names = function.__code__.co_freevars
        self.scope = {**function.__globals__, **{n: c.cell_contents for n, c in zip(names, cells) if _filled(c)}}
        self.nested: dict[str, ast.FunctionDef] = {}
        self.plainly = False                                 # while no transform is on, arrays are NumPy's

    def whole(self, node: Function) -> Any:
        if isinstance(node, ast.Lambda):
            return self.kind(node.body)
        self.run(node.body)
        return joined(self.returned)

    def fault(self, node: ast.AST, text: str) -> None:
        if not self.plainly:
            self.faults.add(Fault(self.function.__module__, getattr(node, "lineno", 0), text))

    # Statements

    def run(self, body: list[ast.stmt]) -> None:
        for statement in body:
            getattr(self, f"_{type(statement).__name__}", self._other)(statement)

    def _other(self, node: ast.stmt) -> None:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.kind(part)

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        self.nested[node.name] = node

    def _Return(self, node: ast.Return) -> None:
        self.returned.append(PLAIN if node.value is None else self.kind(node.value))

    def _Assign(self, node: ast.Assign) -> None:
        kind = self.kind(node.value)
        for target in node.targets:
            self.bind(target, kind)

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.kind(node.value))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self.bind(node.target, self.kind(ast.BinOp(node.target, node.op, node.value, lineno=node.lineno)))

    def _If(self, node: ast.If) -> None:
        self.test(node.test)
        before, plainly = dict(self.kinds), self.plainly
        self.plainly = plainly or says(node.test, ast.Is)
        self.run(node.body)
        after, self.kinds = self.kinds, before
        self.plainly = plainly or says(node.test, ast.IsNot)
        self.run(node.orelse)
        returns = isinstance(node.body[-1], ast.Return)      # what follows is then the other branch
        self.plainly = plainly or (returns and says(node.test, ast.IsNot))
        self.kinds = {n: joined((after.get(n, PLAIN), self.kinds.get(n, PLAIN))) for n in {*after, *self.kinds}}

    def _While(self, node: ast.While) -> None:
        for _ in range(2):                                   # what the body changes, its test sees
            self.test(node.test)
            self.run(node.body)

    def _For(self, node: ast.For) -> None:
        for _ in range(2):
            self.bind(node.target, self.through(node.iter))
            self.run(node.body)

    def _Try(self, node: ast.Try) -> None:
        for body in (node.body, *[handler.body for handler in node.handlers], node.orelse, node.finalbody):
            self.run(body)

    def _With(self, node: ast.With) -> None:
        for item in node.items:
            self.kind(item.context_expr)
        self.run(node.body)

    def _Assert(self, node: ast.Assert) -> None:
        self.test(node.test)

    def bind(self, target: ast.expr, kind: Any) -> None:
        if isinstance(target, ast.Name):
            self.kinds[target.id] = kind
        elif isinstance(target, ast.Tuple | ast.List):
            if kind == ARRAY:
                self.fault(target, "goes through the elements of an array")
            exact = isinstance(kind, tuple) and len(kind) == len(target.elts)
            for i, part in enumerate(target.elts):
                part = part.value if isinstance(part, ast.Starred) else part
                self.bind(part, kind[i] if exact else element(kind))
        elif isinstance(target, ast.Subscript | ast.Attribute) and self.kind(target.value) == ARRAY:
            self.fault(target, "writes to an array")

    # Expressions

    def test(self, node: ast.expr) -> None:
        if self.kind(node) == ARRAY:
            self.fault(node, "tests the numbers of an array")

    def through(self, node: ast.expr) -> Any:
        """The kind of each element of what a loop goes through."""
        kind = self.kind(node)
        if kind == ARRAY:
            self.fault(node, "goes through the elements of an array")
        return element(kind)

    def kind(self, node: ast.expr | None) -> Any:
        if node is None:
            return PLAIN
        read = getattr(self, f"_{type(node).__name__}", None)
        if read is not None:
            return read(node)
        kinds = [self.kind(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return joined(kinds)

    def _Name(self, node: ast.Name) -> Any:
        return self.kinds.get(node.id, PLAIN)

    def _Constant(self, node: ast.Constant) -> Any:
        return PLAIN

    def _Lambda(self, node: ast.Lambda) -> Any:
        return PLAIN

    def _Tuple(self, node: ast.Tuple | ast.List) -> Any:
        if any(isinstance(part, ast.Starred) for part in node.elts):
            return [joined([element(self.kind(p.value)) if isinstance(p, ast.Starred) else self.kind(p)
                            for p in node.elts])]
        kinds = tuple([self.kind(part) for part in node.elts])
        return kinds if any(map(holds_arrays, kinds)) else PLAIN

    _List = _Tuple

    def _Starred(self, node: ast.Starred) -> Any:
        return self.kind(node.value)

    def _Attribute(self, node: ast.Attribute) -> Any:
        if node.attr == "_array":
            self.kind(node.value)
            return ARRAY
        if self.kind(node.value) == ARRAY and node.attr not in KNOWN_TO_ALL:
            self.fault(node, f".{node.attr} is not known to every array")
        return PLAIN

    def _Subscript(self, node: ast.Subscript) -> Any:
        kind, index = self.kind(node.value), self.kind(node.slice)
        if kind == ARRAY and self.reader.strict:
            self.fault(node, "takes elements of an array without an op")
        if kind == PLAIN and index == ARRAY:
            self.fault(node, "looks something up by an array")
        if isinstance(kind, tuple) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return kind[node.slice.value] if node.slice.value < len(kind) else PLAIN
        if isinstance(kind, tuple | list):
            return kind if isinstance(node.slice, ast.Slice) else element(kind)
        return kind

    def _Compare(self, node: ast.Compare) -> Any:
        kinds = [self.kind(part) for part in (node.left, *node.comparators)]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops) or ARRAY not in kinds:
            return PLAIN
        if len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn):
            self.fault(node, "tests the numbers of an array")
        elif self.reader.strict:
            self.fault(node, "compares an array without an op")
        return ARRAY

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        plainly, word = self.plainly, ast.Is if isinstance(node.op, ast.And) else ast.IsNot
        for part in node.values[:-1]:
            self.test(part)
            self.plainly = self.plainly or says(part, word)
        kind, self.plainly = self.kind(node.values[-1]), plainly
        return kind

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            self.test(node.operand)
            return PLAIN
        return self._BinOp(node)

    def _BinOp(self, node: ast.BinOp | ast.UnaryOp) -> Any:
        parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        kind = joined(map(self.kind, parts))
        if kind == ARRAY and self.reader.strict:
            self.fault(node, "computes with an array without an op")
        return kind

    def _IfExp(self, node: ast.IfExp) -> Any:
        self.test(node.test)
        plainly, kinds = self.plainly, []
        for part, word in ((node.body, ast.Is), (node.orelse, ast.IsNot)):
            self.plainly = plainly or says(node.test, word)
            kinds.append(self.kind(part))
        self.plainly = plainly
        return joined(kinds)

    def _NamedExpr(self, node: ast.NamedExpr) -> Any:
        kind = self.kind(node.value)
        self.bind(node.target, kind)
        return kind

    def _JoinedStr(self, node: ast.JoinedStr) -> Any:
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and holds_arrays(self.kind(part.value)):
                self.fault(node, "writes numbers of an array into a text")
        return PLAIN

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
        before = dict(self.kinds)
        for part in node.generators:
            self.bind(part.target, self.through(part.iter))
            for condition in part.ifs:
                self.test(condition)
        kind = self.kind(node.elt)
        self.kinds = before
        return [kind] if holds_arrays(kind) else PLAIN

    _GeneratorExp = _SetComp = _ListComp

    # Calls

    def _Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id in self.nested:
            return self.within(self.nested[node.func.id], node)
        kinds, rest = list[Any](), None                      # those whose place is known; what all others are
        for argument in node.args:
            kind = self.kind(argument)
            several = kind if isinstance(kind, tuple) else [kind]
            if rest is not None or (isinstance(argument, ast.Starred) and not isinstance(kind, tuple)):
                rest = joined((rest or PLAIN, element(kind)))
            else:
                kinds += several if isinstance(argument, ast.Starred) else [kind]
        named = {k.arg: self.kind(k.value) for k in node.keywords}
        callee = self.resolve(node.func)
        if callee is None:
            kind = self.kind(node.func.value) if isinstance(node.func, ast.Attribute) else PLAIN
            if kind == ARRAY:
                self.kind(node.func)                         # which has the fault
            return joined((kind, *kinds, rest or PLAIN, *named.values())) if not self.reader.strict else PLAIN
        return self.made(node, callee, kinds, named, rest)

    def within(self, definition: ast.FunctionDef, call: ast.Call) -> Any:
        """What a function that is defined in this one returns."""
        names = [a.arg for a in definition.args.args]
        outer, returned = dict(self.kinds), self.returned
        self.kinds |= {name: self.kind(argument) for name, argument in zip(names, call.args)}
        self.returned, self.nested = [], {n: d for n, d in self.nested.items() if d is not definition}
        self.run(definition.body)
        kind = joined(self.returned)
        self.kinds, self.returned = outer, returned
        self.nested[definition.name] = definition
        return kind

    def resolve(self, node: ast.expr) -> Any:
        """The object that an expression stands for, as far as names and modules tell."""
        if isinstance(node, ast.Name) and node.id not in self.kinds:
            return self.scope.get(node.id, getattr(__builtins__, node.id, None) if not isinstance(__builtins__, dict)
                                  else __builtins__.get(node.id))
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            if isinstance(owner, ModuleType | Op | type):
                return getattr(owner, node.attr, None)
        return None

    def made(self, node: ast.Call, callee: Any, kinds: list[Any], named: dict[Any, Any], rest: Any) -> Any:
        """The kind of what a call makes."""
        given = [*kinds, *named.values(), PLAIN if rest is None else rest]
        arrays = any(map(holds_arrays, given))
        passed = self.reader.passes(callee)
        if passed is not None:
            return passed
        op = callee if isinstance(callee, Op) else getattr(callee, "__self__", None)
        if isinstance(op, Op):
            return (ARRAY if op.outputs == ("out",) else [ARRAY]) if arrays or not self.reader.strict else PLAIN
        if callee in (tuple, list, reversed, set):
            return kinds[0] if kinds else PLAIN
        if callee is zip:
            return [tuple(map(element, kinds))] if arrays else PLAIN
        if callee is enumerate:
            return [(PLAIN, element(kinds[0]))] if arrays else PLAIN
        if callee is map and arrays:
            return [ARRAY]
        if callee in (isinstance, type, getattr, hasattr, id, print):
            return PLAIN
        if callee is sum and arrays and ARRAY not in kinds[:1]:
            return ARRAY
        module = getattr(callee, "__module__", None) or ""
        if isinstance(callee, FunctionType) and self.reader.follows(callee):
            return self.followed(callee, kinds, named, rest)
        if not arrays:
            return PLAIN
        if _of_numpy(callee) and not self.reader.strict:
            if callee in OF_ANY_SHAPE:
                self.fault(node, "its shape depends on the numbers of an array")
            return ARRAY
        if (ARRAY in given and callee in LOOKING) or module == math.__name__:
            self.fault(node, f"{callee.__name__}() looks at the numbers of an array")
        elif module.startswith("retrograd.kernels") or _of_numpy(callee):
            self.fault(node, f"{module}.{callee.__name__} is called with an array, and not by way of an op")
        return PLAIN

    def followed(self, callee: FunctionType, kinds: list[Any], named: dict[Any, Any], rest: Any) -> Any:
        found = sources(callee)
        if not found:
            return PLAIN
        names, others = positional(found[0]), found[0].args.vararg
        if rest is not None:                                 # which of the other arguments is which is not known
            kinds = kinds + [rest] * (len(names) - len(kinds))
        given = dict(zip(names, kinds)) | {n: k for n, k in named.items() if n is not None}
        if others is not None and (rest is not None or kinds[len(names):]):
            given[others.arg] = [joined((rest or PLAIN, *kinds[len(names):]))]
        returned, faults = self.reader.read(callee, {n: k for n, k in given.items() if k != PLAIN})
        self.faults |= faults
        return returned


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _of_numpy(callee: Any) -> bool:
    return isinstance(callee, np.ufunc) or (getattr(callee, "__module__", None) or "").startswith("numpy")
