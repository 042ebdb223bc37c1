"""Tries each extra of pyproject.toml alone, in a fresh environment with pytest, pytest-xdist and hypothesis beside it.

    python -m trying.extras compile dtypes      # from the folder tests/, or as `make extras` for all

In each environment, the program in tests/programs/extras uses what the extra is for. The programs of absent extras say
what to install. The tests that are marked with `needs` pass, or say why they are skipped. The first environment has no
extra at all, and a part of all tests runs there (`--quick`).

The extras `test`, `parity` and `bench` are those of `make test`, `make parity` and `make bench`.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from trying.environments import BUILD, ROOT, Environment, report, table

NONE = "none"
ELSEWHERE = ("test", "parity", "bench")
PROGRAMS = ROOT / "tests" / "programs" / "extras"
TESTS = ("-m", "pytest", "-n", "auto", "-q", "-p", "no:cacheprovider", "--ignore=tests/parity")


def extras() -> list[str]:
    """The extras to try."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return [NONE, *(name for name in tomllib.load(file)["tool"]["retrograd"]["extras"] if name not in ELSEWHERE)]


def program_of(extra: str) -> Path:
    return PROGRAMS / f"uses_{extra}.py"


def tried(extra: str) -> list[str]:
    """The row of the table for an extra."""
    place = Environment(BUILD / "extras" / extra)
    wanted = str(ROOT) if extra == NONE else f"{ROOT}[{extra}]"
    installed = place.pip_install("install", wanted, "pytest", "pytest-xdist", "hypothesis")
    report(f"{extra}: the installation", installed)
    used, told = _programs(place, extra)
    tests = place.run("tests", place.python, *TESTS, *(["--quick"] if extra == NONE else ["-m", "needs"]))
    report(f"{extra}: the tests", tests)
    return [extra, "yes" if installed.succeeded else "NO", used, told, tests.last if tests.succeeded else "FAILED"]


def _programs(place: Environment, extra: str) -> tuple[str, str]:
    """Whether the program of the extra works, and how many of the others work or say what to install."""
    used, told, others = "-", 0, 0
    for path in sorted(PROGRAMS.glob("uses_*.py")):
        name = path.stem.removeprefix("uses_")
        folder = place.folder / name
        folder.mkdir()
        result = place.run(path.stem, place.python, str(path), cwd=folder)
        if path == program_of(extra):
            report(f"{extra}: its program", result)
            used = "yes" if result.succeeded else "NO"
        else:
            others += 1
            said = result.succeeded or "Install it: pip install " in result.text
            told += said
            if not said:
                report(f"{extra}: the program {name}, which should say what to install", result)
    return used, f"{told} of {others}"


def whole(row: list[str]) -> bool:
    """Whether everything in a row is as it should be."""
    told, _, others = row[3].partition(" of ")
    return not {"NO", "FAILED"} & {*row} and told == others


def main(names: list[str]) -> int:
    """Try these extras, or all. Returns the exit status."""
    rows = [tried(extra) for extra in names or extras()]
    print(table(["extra", "installed", "its program works", "others work or say what to install", "tests"], rows))
    return 0 if all(map(whole, rows)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
