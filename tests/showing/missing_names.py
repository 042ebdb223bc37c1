"""Writes docs/missing-names.md: what PyTorch has and retrograd has not, by how many packages of a page import it.

    PYTHONPATH=tests python -m showing.missing_names

The interpreter must have PyTorch, retrograd and the packages of docs/packages.md; `make field` sets it up. The program
imports PyTorch's modules down to the second below `torch`, private ones too, so that names are three levels deep. It
reads the source of the packages, and does not run it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import pkgutil
import re
import sys
import types
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    distributions,
    packages_distributions,
    version,
)
from pathlib import Path
from typing import Any

from retrograd.foundations.names import only_refuses

PAGE = Path(__file__).parents[2] / "docs" / "missing-names.md"
PACKAGES = PAGE.with_name("packages.md")
VISION = str(Path(sys.prefix) / "vision")                 # packages that `make field` keeps apart
BEGINNING = "<!-- The tables, written by `make field`. -->\n"
# Modules of PyTorch whose import starts something, or that are the tests and the tools of PyTorch's own build.
_LEFT_OUT = re.compile(r"torch\.(testing\._internal|_vendor|contrib|utils\.(tensorboard|hipify)|_inductor\.runtime)\b")


# What packages use

def used(source: str) -> set[str]:
    """The paths below `torch` that a source imports, or reaches from a module that it imports.

    >>> sorted(used("import torch.nn as nn; from torch import fx as f; nn.init.ones_(f.Graph)"))
    ['torch.fx', 'torch.fx.Graph', 'torch.nn', 'torch.nn.init.ones_']
    """
    tree = ast.parse(source)
    names: dict[str, str] = {}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name.partition(".")[0] == "torch":
                    names[each.asname or "torch"] = each.name if each.asname else "torch"
                    found.add(each.name)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "torch":
            for each in node.names:
                names[each.asname or each.name] = path = f"{node.module}.{each.name}"
                found.add(path)
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inside:
            parts, root = [node.attr], node.value
            while isinstance(root, ast.Attribute):
                inside.add(id(root))
                parts, root = [root.attr, *parts], root.value
            if isinstance(root, ast.Name) and root.id in names:
                found.add(".".join([names[root.id], *parts]))
    return found


def sources(package: Distribution) -> Iterator[str]:
    """The Python files of a package, but for its tests."""
    for file in package.files or ():
        if file.suffix == ".py" and not {"test", "tests", "testing"} & {*file.parts[:-1]}:
            with contextlib.suppress(FileNotFoundError, UnicodeDecodeError):
                yield Path(str(file.locate())).read_text(encoding="utf-8")


def packages() -> dict[str, Distribution]:
    """The packages of the page that are installed, by their names on the page."""
    vision = {each.metadata["Name"].lower().replace("-", "_"): each for each in distributions(path=[VISION])}
    imported = packages_distributions()                    # the page has some packages by the names of their modules
    found: dict[str, Distribution] = {}
    page = PACKAGES.read_text(encoding="utf-8")
    for name in dict.fromkeys(re.findall(r"^\| \[([\w-]+)\]\(\.\./examples", page, re.MULTILINE)):
        module = name.lower().replace("-", "_")
        for other in (name, *imported.get(module, ())):
            with contextlib.suppress(PackageNotFoundError):
                found.setdefault(name, distribution(other))
        if name not in found and module in vision:
            found[name] = vision[module]
    return found


def users() -> dict[str, set[str]]:
    """The packages that use each path below `torch`."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, package in packages().items():
        for source in sources(package):
            with contextlib.suppress(SyntaxError):
                for path in used(source):
                    found[path].add(name)
    return found


# What PyTorch has, and retrograd has not

def modules() -> dict[str, types.ModuleType]:
    """PyTorch's modules that can be imported, down to the second below `torch`."""
    found: dict[str, types.ModuleType] = {}
    waiting = ["torch"]
    said = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        warnings.simplefilter("ignore")
        for path in waiting:
            with contextlib.suppress(Exception, SystemExit):
                found[path] = import_module(path)
                if path.count(".") < 2:
                    waiting += [f"{path}.{each.name}" for each in pkgutil.iter_modules(
                        getattr(found[path], "__path__", ())) if not _LEFT_OUT.match(f"{path}.{each.name}")]
    return found


def own(module: types.ModuleType) -> list[str]:
    """The classes and functions that a module of PyTorch defines."""
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("__")
            and getattr(value, "__module__", None) == module.__name__]


def at(path: str) -> Any:
    """What is at a path. Raises AttributeError or ImportError if there is nothing."""
    parts = path.split(".")
    found: Any = import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(found, part) and isinstance(found, types.ModuleType):
            with contextlib.suppress(ImportError):
                import_module(".".join(parts[:i]))
        found = getattr(found, part)
        if not isinstance(found, types.ModuleType):
            return found
    return found


def state(path: str) -> str:
    """What retrograd has at a path of PyTorch: "" for all, or what is to be said of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = at(f"retrograd{path.removeprefix('torch')}")
        except (AttributeError, ImportError):
            return "missing"
    return "can be imported, and refuses calls" if only_refuses(found) else ""


def first_object(path: str) -> str | None:
    """The part of a path up to the first object that is no module; None if PyTorch has no such path."""
    try:
        found: Any = import_module("torch")
        for i, part in enumerate(path.split(".")[1:], 2):
            with contextlib.suppress(ImportError):
                if isinstance(found, types.ModuleType) and not hasattr(found, part):
                    import_module(".".join(path.split(".")[:i]))
            found = getattr(found, part)
            if not isinstance(found, types.ModuleType):
                return ".".join(path.split(".")[:i])
    except (AttributeError, ImportError, RuntimeError):
        return None
    return path


def used_and_absent() -> list[tuple[str, str, list[str]]]:
    """The names that packages use and retrograd has not, each with what is there and the packages, the most first.

    Operators below `torch.ops` are left out: packages register them.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for path, names in users().items():
        known = first_object(path)
        if known is not None and not known.startswith("torch.ops."):
            found[known] |= names
    rows = [(path, state(path), sorted(names)) for path, names in found.items()]
    return sorted([row for row in rows if row[1]], key=lambda row: (-len(row[2]), row[0]))


def by_module() -> list[tuple[str, int, int, int]]:
    """For each module of PyTorch below `torch`: the names that it and those below it define, missing and refusing."""
    total, absent, refusing = Counter[str](), Counter[str](), Counter[str]()
    for path, module in modules().items():
        space = ".".join(path.split(".")[:2])
        for name in own(module):
            total[space] += 1
            said = state(f"{path}.{name}")
            absent[space] += said == "missing"
            refusing[space] += said.startswith("can")
    return sorted([(space, count, absent[space], refusing[space]) for space, count in total.items() if absent[space]],
                  key=lambda row: (-row[2], row[0]))


def tables() -> str:
    """The tables of the page."""
    names = used_and_absent()
    lines = [f"PyTorch {version('torch').partition('+')[0]}, and {len(packages())} packages. {len(names)} names:", "",
             "| name | packages | in retrograd | imported by |", "|---|---|---|---|"]
    lines += [f"| `{path}` | {len(by)} | {said} | {', '.join(by[:6])}{' …' if len(by) > 6 else ''} |"
              for path, said, by in names]
    lines += ["", "## By module", "", "| module | classes and functions in PyTorch | missing | refuse calls |",
              "|---|---|---|---|"]
    lines += [f"| `{space}` | {count} | {absent} | {refusing} |" for space, count, absent, refusing in by_module()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text[:text.index(BEGINNING)] + BEGINNING + "\n" + tables(), encoding="utf-8")
