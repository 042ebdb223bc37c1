"""Read from the syntax tree of a program which names of torch it needs. The program is not run.

A name counts if the program certainly means torch's: by an import, by an attribute of something imported, by an alias,
or as an attribute of a tensor that a function of torch made. Parts that cannot run here are left out: what stands below
`if TYPE_CHECKING` or `if torch.cuda.is_available()`. Names whose absence the program handles are optional.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from retrograd.command.looking import ROOTS, certain_answer, look_up, makes_tensor

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_ABSENT_IMPORT = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_TENSOR = "torch.Tensor"


class Use(NamedTuple):
    """A place that needs a name of torch, such as `torch.nn.Linear`."""

    path: str
    line: int


class Uses:
    """What a program needs of torch. `optional` are names without which the program goes on, too."""

    def __init__(self) -> None:
        self.needed: list[Use] = []
        self.optional: set[str] = set()


def uses_in(tree: ast.Module) -> Uses:
    """What the program with this syntax tree needs of torch."""
    reader = _Reader(tree)
    for statement in tree.body:
        reader.visit(statement)
    return reader.uses


class _Scope:
    """What the names of a module, class or function stand for, as far as they stand for something of torch."""

    def __init__(self, node: Any, body: Iterable[ast.AST]) -> None:
        self.of_class = isinstance(node, ast.ClassDef)
        self.paths: dict[str, str] = {}                           # imported names, and what they stand for
        self.values: dict[str, ast.expr] = {}                     # names that are assigned once
        self.tensors: set[str] = set()                            # parameters that are annotated as tensors
        self.stars: list[str] = []
        self.bound: Counter[str] = Counter()
        if isinstance(node, _FUNCTION | ast.Lambda):
            self.bound.update(one.arg for one in _arguments(node))
        for part in body:
            self._bind(part)
        self.values = {name: value for name, value in self.values.items() if self.bound[name] == 1}

    def _bind(self, node: ast.AST) -> None:
        for name, path in _imported(node):
            self.bound[name] += 1
            if path:
                self.paths[name] = path
        if isinstance(node, ast.ImportFrom) and _is_torch(node.module) and node.names[0].name == "*":
            self.stars.append(_torch(node.module))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.bound[node.id] += 1
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.values[node.targets[0].id] = node.value
        if isinstance(node, _FUNCTION | ast.ClassDef):
            self.bound[node.name] += 1
        elif not isinstance(node, ast.Lambda):
            for child in ast.iter_child_nodes(node):
                self._bind(child)


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.arg]:
    """The parameters of a function."""
    every = node.args
    return [*every.posonlyargs, *every.args, *every.kwonlyargs, *(one for one in (every.vararg, every.kwarg) if one)]


def _is_torch(module: str | None) -> bool:
    return (module or "").partition(".")[0] in ROOTS


def _torch(module: str | None) -> str:
    """The name that a program for PyTorch gives a module."""
    _, dot, rest = (module or "").partition(".")
    return f"torch{dot}{rest}"


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with what it stands for in torch; "" if that is nothing of torch."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            yield alias.asname or whole, _torch(whole) if _is_torch(whole) else ""
    elif isinstance(node, ast.ImportFrom):
        ours = not node.level and _is_torch(node.module)
        for alias in node.names:
            if alias.name != "*":
                yield alias.asname or alias.name, f"{_torch(node.module)}.{alias.name}" if ours else ""


class _Reader(ast.NodeVisitor):
    """Walks through a program, and notes the uses."""

    def __init__(self, tree: ast.Module) -> None:
        self.uses = Uses()
        self.scopes = [_Scope(tree, tree.body)]
        self.guarded = False                                      # whether the program goes on if a name is missing
        self.resolving: set[str] = set()
        self.lazy_annotations = any(isinstance(part, ast.ImportFrom) and part.module == "__future__"
                                    and any(alias.name == "annotations" for alias in part.names) for part in tree.body)

    # What an expression stands for

    def path(self, node: ast.AST) -> str:
        """The path below torch that an expression stands for; "" if it stands for nothing of torch."""
        if isinstance(node, ast.Attribute):
            below = self.path(node.value)
            return f"{below}.{node.attr}" if below else ""
        return self.path_of_name(node.id) if isinstance(node, ast.Name) else ""

    def path_of_name(self, name: str) -> str:
        """The path that a name stands for where the reader is."""
        scope = self.scope_of(name)
        if scope is None:
            stars = [space for seen in self.scopes for space in seen.stars]
            known = (f"{space}.{name}" for space in stars if look_up(f"{space}.{name}").in_pytorch)
            return "" if hasattr(builtins, name) else next(known, "")
        if name in scope.paths:
            return scope.paths[name]
        value = scope.values.get(name)
        if value is None or name in self.resolving:
            return ""
        self.resolving.add(name)
        path = self.path(value)
        self.resolving.discard(name)
        return path if path and look_up(path).is_space else ""

    def scope_of(self, name: str) -> _Scope | None:
        """The scope that binds a name where the reader is. A class binds no names for its methods."""
        for scope in reversed(self.scopes):
            if scope.bound[name] and (scope is self.scopes[-1] or not scope.of_class):
                return scope
        return None

    def is_tensor(self, node: ast.AST) -> bool:
        """Whether an expression is certainly a tensor."""
        if isinstance(node, ast.Name):
            scope = self.scope_of(node.id)
            if scope is None or node.id in self.resolving:
                return False
            if node.id in scope.tensors:
                return scope.bound[node.id] == 1
            value = scope.values.get(node.id)
            self.resolving.add(node.id)
            known = value is not None and self.is_tensor(value)
            self.resolving.discard(node.id)
            return known
        if isinstance(node, ast.Call):
            path = self.path(node.func)
            if not path and isinstance(node.func, ast.Attribute) and self.is_tensor(node.func.value):
                path = f"{_TENSOR}.{node.func.attr}"
            return bool(path) and makes_tensor(path) and not any(word.arg == "out" for word in node.keywords)
        return isinstance(node, ast.Subscript) and self.is_tensor(node.value)

    # The walk

    def need(self, path: str, line: int) -> None:
        """Note a use."""
        if self.guarded:
            self.uses.optional.add(path)
        self.uses.needed.append(Use(path, line))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if _is_torch(alias.name):
                self.need(_torch(alias.name), node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if not node.level and _is_torch(node.module):
            for alias in node.names:
                rest = "" if alias.name == "*" else f".{alias.name}"
                self.need(_torch(node.module) + rest, getattr(alias, "lineno", node.lineno))

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and self.scope_of(node.id) is None and (path := self.path_of_name(node.id)):
            self.need(path, node.lineno)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self.path(node)
        if path and isinstance(node.ctx, ast.Store):
            if look_up(path).path == path:                        # afterwards the name is there
                self.uses.optional.add(path)
        elif path:
            self.need(path, node.end_lineno or node.lineno)
            return
        if isinstance(node.ctx, ast.Load) and self.is_tensor(node.value):
            self.need(f"{_TENSOR}.{node.attr}", node.end_lineno or node.lineno)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        asked = node.func.id if isinstance(node.func, ast.Name) else ""
        if asked in ("getattr", "hasattr") and len(node.args) > 1:
            space = self.path(node.args[0]) or (_TENSOR if self.is_tensor(node.args[0]) else "")
            name = getattr(node.args[1], "value", None)
            if space and isinstance(name, str):
                path = f"{space}.{name}"
                if asked == "getattr" and len(node.args) == 2:
                    self.need(path, node.lineno)
                else:
                    self.uses.optional.add(path)
        self.generic_visit(node)

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        answer = self.answer(node.test)
        self.visit(node.test)
        parts: list[list[Any]] = [[] if answer is False else [node.body], [] if answer else [node.orelse]]
        for part in parts:
            for one in part:
                for statement in one if isinstance(one, list) else [one]:
                    self.visit(statement)

    visit_IfExp = visit_If

    def visit_While(self, node: ast.While) -> None:
        self.visit_all([node.test, *([] if self.answer(node.test) is False else node.body), *node.orelse])

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for value in node.values:
            self.visit(value)
            if self.answer(value) is isinstance(node.op, ast.Or):
                return

    def answer(self, test: ast.expr) -> bool | None:
        """What a condition is here; None if that depends on the run."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            other = self.answer(test.operand)
            return None if other is None else not other
        if isinstance(test, ast.BoolOp):
            decisive = isinstance(test.op, ast.Or)
            return decisive if any(self.answer(value) is decisive for value in test.values) else None
        if isinstance(test, ast.Call):
            return certain_answer(self.path(test.func))
        return False if getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING" else None

    def visit_Try(self, node: ast.Try) -> None:
        imports = any(_goes_on(handler, _ABSENT_IMPORT) for handler in node.handlers)
        names = any(_goes_on(handler, {"AttributeError"}) for handler in node.handlers if handler.type is not None)
        for statement in node.body:
            before = self.guarded
            self.guarded |= imports if isinstance(statement, ast.Import | ast.ImportFrom) else names
            self.visit(statement)
            self.guarded = before
        for part in [*node.handlers, *node.orelse, *node.finalbody]:
            self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        around: list[ast.AST | None] = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
        if not self.lazy_annotations:
            around += [node.returns, *(one.annotation for one in _arguments(node))]
        self.visit_all(around)
        scope = _Scope(node, node.body)
        plain = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        scope.tensors = {one.arg for one in plain if one.annotation and self.path(one.annotation) == _TENSOR}
        self.visit_inside(scope, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit_all([*node.args.defaults, *node.args.kw_defaults])
        self.visit_inside(_Scope(node, []), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all([*node.decorator_list, *node.bases, *(word.value for word in node.keywords)])
        self.visit_inside(_Scope(node, node.body), node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit_all([node.target, node.value, None if self.lazy_annotations else node.annotation])

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_inside(self, scope: _Scope, body: Iterable[ast.AST]) -> None:
        self.scopes.append(scope)
        self.visit_all(body)
        self.scopes.pop()


def _goes_on(handler: ast.ExceptHandler, errors: set[str]) -> bool:
    """Whether an `except` catches one of these errors and does not raise an error itself."""
    kinds = [handler.type] if handler.type is not None else []
    names = {getattr(kind, "id", getattr(kind, "attr", "")) for each in kinds
             for kind in (each.elts if isinstance(each, ast.Tuple) else [each])}
    return (not kinds or bool(names & errors)) and not any(isinstance(part, ast.Raise) for part in handler.body)


