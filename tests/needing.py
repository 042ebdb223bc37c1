"""Tests that need an optional package or a program are skipped where it is absent, and say what to install.

    pytestmark = needs("llvmlite")                   # every test of a file
    @needs("matplotlib")                             # one test
    pytest.param("llvm", marks=needs("llvmlite"))    # one case

    @on_unix                                         # a test of fork, signals or pseudo-terminals

A file that imports the package itself says, above this import:

    if missing := absent("tensorboard", "PIL"):
        pytest.skip(missing, allow_module_level=True)

A test that needs `bfloat16` or the like here and there says nothing. The error of retrograd, which names the package,
skips the test (see tests/conftest.py).

`pytest -m needs` runs the marked tests alone. `make test` has all packages. It runs under `--complete`, and then
nothing is skipped for an absent package: the test runs and fails. Only a package that the extra `test` lacks on this
interpreter may be absent (see pyproject.toml).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import cache
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path

import pytest

from retrograd.compilation.native import available
from retrograd.extras import PACKAGES, remedy

# Packages whose name for pip is another than the name to import, beyond - instead of _.
_PIP_NAMES = {"PIL": "pillow"}
# Programs, with the names under which they are looked for, and the packages of programs that pip installs.
_PROGRAMS = {"mpiexec": ("mpiexec",), "zizmor": ("zizmor",), "chromedriver": ("chromedriver",),
             "chromium": ("chromium", "chromium-browser", "google-chrome")}
_BROUGHT_BY = {"mpiexec": "mpich", "zizmor": "zizmor"}
# What `make docs` needs.
DOCS = ("sphinx", "myst_nb", "furo", "jupytext", "sphinx_copybutton", "sphinx_design", "matplotlib",
        "tensorboard", "mpi4py", "mpiexec", "ml_dtypes")

# The mark of a test that uses what Windows lacks.
on_unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system lacks fork and the signals of Unix")

complete = False                                            # set by tests/conftest.py


def needs(*names: str) -> pytest.MarkDecorator:
    """The mark of a test that needs these packages, by the names to import, or these programs."""
    return pytest.mark.needs(*names)


def needed(item: pytest.Item) -> list[str]:
    """What the marks of a test say that it needs."""
    return [name for mark in item.iter_markers("needs") for name in mark.args]


def absent(*names: str) -> str:
    """Why a test that needs these packages and programs is skipped, '' if the test runs."""
    return "; ".join(filter(None, map(_absent, names)))


def _absent(name: str) -> str:
    if name == "llvmlite" and find_spec(name) and not available():
        return "machine code is turned off"
    package = _PIP_NAMES.get(name, name) if name not in _PROGRAMS else _BROUGHT_BY.get(name, "")
    if _here(name) or not excused(package):
        return ""
    return f"{name} is absent: pip install {package}" if package else f"{name} is absent, which pip does not install"


def _here(name: str) -> bool:
    if name not in _PROGRAMS:
        return find_spec(name) is not None
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return any(shutil.which(each, path=places) for each in _PROGRAMS[name])


def excused(package: str) -> bool:
    """Whether a test may be skipped because this package is absent."""
    return not complete or package.replace("_", "-") not in promised()


def is_excuse(error: ModuleNotFoundError) -> bool:
    """Whether this is retrograd's error about a package that may be absent, and that is absent."""
    extra = next((extra for extra, (package, *_) in PACKAGES.items() if package == error.name), None)
    return (extra is not None and str(error).endswith(remedy(extra)) and find_spec(PACKAGES[extra][0]) is None
            and excused(PACKAGES[extra][0]))


@cache
def promised() -> set[str]:
    """The packages of the extra `test`, by their names for pip."""
    return {re.split(r"[^\w-]", each)[0] for each in requires("retrograd") or () if "extra == 'test'" in each}
