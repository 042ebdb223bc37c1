"""Check a program or a package: which names of torch does it need, and which of these does retrograd lack?"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from retrograd.command.looking import ROOTS, look_up
from retrograd.command.reading import uses_in
from retrograd.foundations.names import instead, nearest

_NOTEBOOK = ".ipynb"
_MAGIC = re.compile(r"^(\s*)([%!?].*|[\w.]+\?+\s*)$")           # a line that IPython alone understands


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd check``."""
    parser.description = "Read programs, without running them, and list the names of torch that retrograd lacks."
    parser.epilog = "examples:\n  retrograd check train.py\n  retrograd check src/ package"
    parser.add_argument("target", nargs="+", metavar="TARGET",
                        help="a file, a notebook, a folder, or the name of a package")


def run(options: argparse.Namespace) -> int:
    """Check the targets. Returns the exit status."""
    return check(options.target)


def check(targets: Iterable[str]) -> int:
    """Print what retrograd lacks of the programs, folders or packages. Returns the exit status.

    The status is 0 if nothing is missing, 1 if something is missing or a file cannot be read as Python, and 2 if a
    target is not there.
    """
    needed: set[str] = set()
    places: dict[str, list[str]] = {}
    unread: list[str] = []
    for target in targets:
        files = _files(target)
        if not files:
            print(f"retrograd: {target!r} is no file, folder or package with Python programs", file=sys.stderr)
            return 2
        for file in files:
            try:
                _read(file, needed, places)
            except (SyntaxError, ValueError, OSError, RecursionError) as error:
                unread.append(_why_unread(file, error))
    for path, found in places.items():
        more = f" ({len(found)} places)" if len(found) > 1 else ""
        print(f"{found[0]}: {path}{more}{_said(path)}")
    for line in unread:
        print(line)
    print(_summary(len(needed), len(places), len(unread)))
    return 1 if places or unread else 0


def _summary(needed: int, missing: int, unread: int) -> str:
    names = f"needs {needed} name{'' if needed == 1 else 's'} of torch"
    ending = f"; {missing} {'is' if missing == 1 else 'are'} missing" if missing else "; all there" if needed else ""
    files = f"; {unread} file{'' if unread == 1 else 's'} could not be read" if unread else ""
    return names + ending + files


def _why_unread(file: Path, error: Exception) -> str:
    """The place in a file, and why the file cannot be read."""
    if isinstance(error, OSError):
        return f"{_shown(file)}: {error.strerror}"
    if isinstance(error, RecursionError):
        return f"{_shown(file)}: expressions are nested too deeply"
    line = "" if file.suffix == _NOTEBOOK else f":{getattr(error, 'lineno', None) or 1}"
    return f"{_shown(file)}{line}: {getattr(error, 'msg', error)}"


def _said(path: str) -> str:
    """What to do about a missing name, after the name itself."""
    space, _, name = path.rpartition(".")
    home = look_up(space).value
    advice = instead(space, name)[2:]
    near = "" if advice else nearest(space, name, getattr(home, "__all__", ()) or dir(home))
    return f": {advice or (f'the nearest: {near}' if near else 'retrograd has no such name')}"


def _read(file: Path, needed: set[str], places: dict[str, list[str]]) -> None:
    """Add the names that a file needs, and the places of missing names."""
    source, lines = _notebook(file) if file.suffix == _NOTEBOOK else (_program(file), [])
    if not any(root in source for root in ROOTS):
        return
    uses = uses_in(ast.parse(source, str(file)))
    optional = {look_up(path).path for path in uses.optional}
    for path, line in uses.needed:
        found = look_up(path)
        if found.path == "torch" or (found.missing and found.path in optional):
            continue
        needed.add(found.path)
        if found.missing:
            place = f"{_shown(file)}:{lines[line - 1] if lines else line}"
            if place not in places.setdefault(found.path, []):
                places[found.path].append(place)


def _program(file: Path) -> str:
    with tokenize.open(file) as stream:
        return stream.read()


def _notebook(file: Path) -> tuple[str, list[str]]:
    """The code of a notebook's cells as one program, and the place of each line. What is for IPython alone is left out.

    Raises ValueError if the file is no notebook.
    """
    found = json.loads(file.read_text("utf-8"))
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        raise ValueError("a notebook of another format than nbformat 4")
    program, places = [], []
    for number, cell in enumerate(cells, 1):
        source = "".join(cell.get("source", ""))
        if cell.get("cell_type") != "code" or source.lstrip().startswith("%%"):
            continue
        for line, text in enumerate(source.splitlines(), 1):
            program.append(_MAGIC.sub(r"\1pass", text))
            places.append(f"cell {number}, line {line}")
    return "\n".join(program), places


def _shown(file: Path) -> str:
    """The name of a file, from the working folder if the file is below it."""
    return os.path.relpath(file) if file.is_absolute() and file.is_relative_to(Path.cwd()) else str(file)


def _files(target: str) -> list[Path]:
    """The Python files of a file, a folder or an importable package. The package is not imported."""
    path = Path(target)
    if path.is_file():
        return [path]
    if path.is_dir():
        return sorted(_below(path))
    first, *rest = target.split(".")
    if not all(part.isidentifier() for part in [first, *rest]):
        return []
    if not sys.flags.safe_path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    spec = find_spec(first) if first != "__main__" else None     # that is this command
    if spec is None:
        return []
    folders = [Path(folder, *rest) for folder in spec.submodule_search_locations or ()]
    files = [file for folder in folders for file in _below(folder)]
    modules = [folder.with_suffix(".py") for folder in folders] if rest else [Path(spec.origin or "")]
    return sorted({*files, *(module for module in modules if module.suffix == ".py" and module.is_file())})


def _below(folder: Path) -> Iterator[Path]:
    """The Python files below a folder, without hidden folders, virtual environments, and links that lead nowhere."""
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))
                      and not Path(here, name, "pyvenv.cfg").exists()]
        yield from (path for name in files if name.endswith(".py") and (path := Path(here, name)).is_file())


