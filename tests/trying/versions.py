"""Runs the demonstration and all tests with each of several interpreters, in fresh environments, and makes a table.

    python -m trying.versions /path/to/python3.14 /path/to/python3.13t      # from the folder tests/
    make versions PYTHONS="/path/to/python3.14 /path/to/python3.13t"

The comparison with PyTorch runs if PyTorch has a wheel for the interpreter. Everything that is printed lies below
build/versions, in a folder for each interpreter.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter

from trying.environments import BUILD, ROOT, Environment, Result, report, table

HEAD = ["interpreter", "NumPy", "GIL", "make demo", "make test", "make parity"]
FACTS = """import json, sys, sysconfig
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print(json.dumps([".".join(map(str, sys.version_info[:3])) + "t" * free, sys.version_info >= (3, 11)]))"""
# After the import of the package, which must not turn the GIL on where it is off.
STATE = """import json, sys, numpy, retrograd
print(json.dumps([numpy.__version__, "on" if getattr(sys, "_is_gil_enabled", lambda: True)() else "off"]))"""


def pytorch() -> str:
    """The requirement on PyTorch of the extra `parity`."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["tool"]["retrograd"]["extras"]["parity"]
    return next(each for each in wanted if each.startswith("torch=="))


def cell(result: Result) -> str:
    """What the table says of a step: how many tests passed, if there were tests, and the time."""
    found = Counter[str]()                                 # a target may run pytest several times
    for summary in re.findall(r"^.*\d (?:passed|failed|errors?)\b.* in [\d.]+s.*$", result.text, re.MULTILINE):
        for number, what in re.findall(r"(\d+) (passed|failed|error|skipped)", summary):
            found[what] += int(number)
    counts = ", ".join([f"{number} {what}" for what, number in found.items()])
    took = f"{result.seconds:.0f} s"
    return ("" if result.succeeded else "FAILED: ") + (f"{counts}, {took}" if counts else took)


def tried(interpreter: str) -> list[str]:
    """The row of the table for an interpreter."""
    version = _version(interpreter)
    place = Environment(BUILD / "versions" / version, interpreter)
    python, cells = place.python, []
    for target in ("demo", "test"):
        cells.append(_made(place, version, target))
    state = place.run("state", python, "-c", STATE)
    numpy, gil = json.loads(state.last) if state.succeeded else ("-", "-")
    look = place.pip_install("wheel", "--dry-run", "--no-deps", "--only-binary", ":all:", "--target",
                             str(place.folder / "none"), pytorch())
    cells.append(_made(place, version, "parity") if look.succeeded else "no PyTorch")
    return [version, numpy, gil, *cells]


def _version(interpreter: str) -> str:
    """The version of an interpreter, with a t at the end if it is free-threaded."""
    found = subprocess.run([interpreter, "-c", FACTS], capture_output=True, text=True, check=True)
    version, new_enough = json.loads(found.stdout)
    if not new_enough:
        raise SystemExit(f"retrograd needs Python 3.11 or newer, and {interpreter} is {version}")
    return str(version)


def _made(place: Environment, version: str, target: str) -> str:
    result = place.run(target, "make", f"VENV={place.venv}", target)
    report(f"{version}: make {target}", result)
    return cell(result)


def main(interpreters: list[str]) -> int:
    """Try these interpreters. Returns the exit status."""
    if not interpreters:
        print('Name interpreters: make versions PYTHONS="/path/to/python3.14 /path/to/python3.15"', file=sys.stderr)
        return 2
    rows = [tried(each) for each in interpreters]
    print(table(HEAD, rows))
    return 1 if any(entry.startswith("FAILED") for row in rows for entry in row) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
