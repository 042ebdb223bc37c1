"""The optional extras: one table says what to install, and pyproject.toml, the pages and all messages agree with it."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from collections.abc import Callable

import pytest

import retrograd as torch
from needing import needs
from retrograd import extras
from retrograd.compilation.execution.plan import native
from retrograd.compilation.native import host
from retrograd.foundations import dtypes, launching
from retrograd.quasirandom import SobolEngine
from showing.pages import ROOT, text_of

with (ROOT / "pyproject.toml").open("rb") as file:
    EXTRAS = tomllib.load(file)["tool"]["retrograd"]["extras"]
# Extras for people who change retrograd. No part of the package needs them.
TOOLS = {"bench", "demo", "docs", "parity", "test"}


def packages_of(requirements: list[str]) -> tuple[str, ...]:
    return tuple(re.split(r"[>=<; ]", requirement)[0] for requirement in requirements
                 if "!= 'win32'" not in requirement or sys.platform != "win32")


def test_the_table_is_that_of_the_project() -> None:
    said = {name: packages_of(found) for name, found in EXTRAS.items() if name not in TOOLS}
    assert said == extras.PACKAGES


def test_the_page_has_the_same_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", text_of(ROOT / "docs" / "use" / "installing.md"), re.MULTILINE)
    assert {name: tuple(re.findall(r"`(\w+)`", packages)) for name, packages in rows} == extras.PACKAGES


def test_nobody_is_told_to_get_the_package_from_an_index() -> None:
    """It is on none, so `pip install 'retrograd[dtypes]'` would fail."""
    texts = [path for pattern in ("src/**/*.py", "docs/**/*.md", "docs/learn/*.py", "examples/*.md", "README.md")
             for path in ROOT.glob(pattern)]
    assert len(texts) > 900
    assert [path for path in texts if re.search(r"retrograd\[\w", text_of(path))] == []


def as_if_absent(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


PARTS: dict[str, tuple[str, Callable[[], object], str]] = {
    "machine code": ("llvmlite.binding", host.binding.__wrapped__, "Machine code needs the package llvmlite"),
    "processes": ("mpi4py.MPI", launching.mpi.__wrapped__, "Several processes need the package mpi4py"),
    "rare types": ("ml_dtypes", lambda: dtypes._lent(torch.bfloat16),
                   "Tensors of torch.bfloat16 need the package ml_dtypes"),
    "Sobol sequences": ("scipy.stats.qmc", lambda: SobolEngine(2), "torch.quasirandom.SobolEngine needs the package "
                                                                   "scipy"),
    "event files": ("tensorboard", lambda: importlib.import_module("retrograd.utils.tensorboard._needs"),
                    "torch.utils.tensorboard needs the package tensorboard"),
}


@pytest.mark.parametrize("part", [
    pytest.param(part, marks=needs("llvmlite") if part == "machine code" else ()) for part in PARTS])
def test_a_part_names_the_packages_to_install(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, use, sentence = PARTS[part]
    as_if_absent(monkeypatch, module)
    monkeypatch.delitem(sys.modules, "retrograd.utils.tensorboard._needs", raising=False)
    package = module.partition(".")[0]
    extra = next(name for name, (first, *_) in extras.PACKAGES.items() if first == package)
    with pytest.raises(ModuleNotFoundError) as caught:
        use()
    assert str(caught.value) == f"{sentence}. Install it: pip install {' '.join(extras.PACKAGES[extra])}"
    assert caught.value.name == package


@needs("llvmlite")
def test_a_backend_that_is_absent_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    host.available.cache_clear()
    try:
        with pytest.raises(ModuleNotFoundError) as caught:
            native("llvm")
        assert str(caught.value) == ("torch.compile with backend='llvm' needs the package llvmlite. "
                                     "Install it: pip install llvmlite")
        assert not native(None)
    finally:
        host.available.cache_clear()


def test_a_package_that_lacks_something_itself_is_not_said_to_be_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ModuleNotFoundError("No module named 'zlib_ng'", name="zlib_ng")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'zlib_ng'$"):
        extras.imported("plot", "Pictures need")
