"""A package as its syntax trees: its modules, what each of them imports, and the names that each of them uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Import(NamedTuple):
    """One module that another imports, where, and how."""

    importer: str
    imported: str
    line: int
    in_function: bool
    for_types_only: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


@cache
def parsed(path: Path, words: str = "") -> ast.Module:
    """The syntax tree of a file, an empty one if the file does not have these words."""
    text = path.read_bytes()
    return ast.parse(text if words.encode() in text else b"")


def statements_of(node: ast.AST) -> Iterator[ast.AST]:
    """The statements directly inside of one. Imports and functions stand nowhere else."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(node, part, ())


def statements_below(node: ast.AST) -> Iterator[ast.AST]:
    """All statements inside of one."""
    for child in statements_of(node):
        yield child
        yield from statements_below(child)


class Package:
    """The modules of a package on disk, by their name without the package's own; "" is its __init__.

    The first folder has the name of the package. Further folders have more of its modules; `beside` has their names.
    Files without the words, if words are given, count as empty: to read all files takes seconds.
    """

    def __init__(self, *folders: Path, words: str = "") -> None:
        self.name = folders[0].name
        self.trees: dict[str, ast.Module] = {}
        self.beside: set[str] = set()
        reaching = set[str]()                              # to walk all trees takes longer than to read the files
        for folder in folders:
            files = {self._module(path.relative_to(folder)): path for path in sorted(folder.rglob("*.py"))}
            self.trees |= {name: parsed(path, words) for name, path in files.items()}
            self.beside |= {*files} if folder is not folders[0] else set()
            reaching |= {name for name, path in files.items() if b"reached(" in path.read_bytes()}
        self.packages = {"", *self.trees.keys() & {above for name in self.trees for above in _above(name)}}
        self.imports = [found for name, tree in self.trees.items() for found in self._imports(name, tree)]
        self.reached = [found for name in self.trees if name in reaching
                        for found in reached_by(name, self.trees[name])]

    @staticmethod
    def _module(path: Path) -> str:
        return ".".join(path.with_suffix("").parts).removesuffix("__init__").removesuffix(".")

    def _imports(self, importer: str, tree: ast.Module) -> Iterator[Import]:
        def walk(node: ast.AST, in_function: bool, for_types_only: bool) -> Iterator[Import]:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in self._targets(importer, node):
                    yield Import(importer, name, node.lineno, in_function, for_types_only)
            in_function |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for child in statements_of(node):
                yield from walk(child, in_function, for_types_only or (guarded and child in node.body))

        return walk(tree, False, False)

    def _targets(self, importer: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            bases = [alias.name for alias in node.names]
            yield from (self._inside(base) for base in bases if self._is_ours(base))
            return
        base = node.module or ""
        if node.level:
            parts = f"{self.name}.{importer}".rstrip(".").split(".")
            parts = parts[: len(parts) - node.level + (importer in self.packages)]
            base = ".".join(parts + ([base] if base else []))
        if self._is_ours(base):
            within = self._inside(base)
            for alias in node.names:  # `from package import module` imports the module, not the package
                inner = f"{within}.{alias.name}".lstrip(".")
                yield inner if inner in self.trees else within

    def _is_ours(self, name: str) -> bool:
        return name == self.name or name.startswith(f"{self.name}.")

    def _inside(self, name: str) -> str:
        return name.removeprefix(self.name).removeprefix(".")


def _above(name: str) -> Iterator[str]:
    """The names of the packages around a module."""
    while name := name.rpartition(".")[0]:
        yield name


def reached_by(importer: str, tree: ast.Module) -> Iterator[Import]:
    """The modules that a module imports by `names.reached("module")`, at a program's first need."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="reached"), args=[ast.Constant(value=str(name))]):
                yield Import(importer, name, node.lineno, True, False)


def below(name: str, prefix: str) -> bool:
    """Whether a module is the one of this name, or lies below it."""
    return prefix == "" or name == prefix or name.startswith(f"{prefix}.")


def cycles(package: Package) -> list[str]:
    """Circles of modules that import each other when the program runs."""
    edges: dict[str, set[str]] = {name: set() for name in package.trees}
    for found in package.imports:
        if found.imported in edges and not found.for_types_only:
            edges[found.importer].add(found.imported)
    found_cycles: list[str] = []
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            found_cycles.append(" -> ".join([*path[path.index(name) :], name]))
        elif name not in done:
            for target in sorted(edges[name]):
                visit(target, [*path, name])
            done.add(name)

    for name in edges:
        visit(name, [])
    return found_cycles


def names_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every identifier that a module uses or imports, and every string that is one; an f-string is a message."""
    pieces = set[int]()
    for node in ast.walk(tree):                            # what is around a node comes before the node
        match node:
            case ast.JoinedStr(values=values):
                pieces |= {*map(id, values)}
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name, node.lineno
            case ast.Constant(value=str(name)) if id(node) not in pieces:
                yield name, node.lineno
            case ast.alias(name=name):
                yield name.rpartition(".")[2], node.lineno


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function, from its `def` on, without its docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines
