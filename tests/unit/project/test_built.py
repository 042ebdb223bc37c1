"""What the wheel and the sdist hold: the package with its data files, nothing that a test or a build has written."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

from needing import needs
from showing.pages import ROOT

pytestmark = needs("hatchling")

KINDS = {".py", ".pyi", ".typed", ".txt", ".js", ".css", ".html", ".md"}
# Other files of the project, beside those of the package.
MORE_KINDS = {".toml", ".yml", ".svg", ".csv", ".npz", ".json", ".gitignore", "Makefile", "LICENSE", "PKG-INFO"}


def kinds(names: Iterable[str]) -> set[str]:
    return {PurePosixPath(name).suffix or PurePosixPath(name).name for name in names}


def of_the_package(root: Path) -> set[str]:
    """The files of the package as the wheel has them: of both folders below src, and the pages on errors."""
    pages = {f"retrograd/command/errors/{path.name}" for path in (root / "docs" / "errors").iterdir()}
    return pages | {f"retrograd/{path.relative_to(source).as_posix()}" for source in (root / "src").iterdir()
                    for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def built(target: str, root: Path, folder: Path) -> Path:
    """The wheel or the sdist of a project."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sdist unpacks to."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(built("sdist", ROOT, tmp_path_factory.mktemp("sdist"))) as archive:
        archive.extractall(folder, filter="data")
    (found,) = folder.iterdir()
    return found


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {*archive.namelist()}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    found = names(wheel)
    (about,) = {name.partition("/")[0] for name in found} - {"retrograd"}
    package = {name for name in found if not name.startswith(about)}
    assert package == of_the_package(ROOT)
    assert kinds(package) == KINDS
    assert {name.removeprefix(f"{about}/") for name in found - package} == {
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def test_the_wheel_fits_every_system(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_sdist_holds_the_project_and_nothing_else(sdist: Path) -> None:
    found = {path.relative_to(sdist).as_posix() for path in sdist.rglob("*") if path.is_file()}
    assert of_the_package(sdist) == of_the_package(ROOT)
    assert kinds(found) <= KINDS | MORE_KINDS
    assert {"LICENSE", "README.md", "CHANGELOG.md", "Makefile", "hatch_build.py", "pyproject.toml", "PKG-INFO",
            "tests/conftest.py", "docs/conf.py", "examples/digits.py", "benchmarks/__main__.py"} <= found
    written = ("__pycache__", ".venv", "_build", "runs", ".hypothesis", ".pytest_cache", "build", "dist")
    assert [name for name in found if {*PurePosixPath(name).parts} & {*written}] == []


def test_the_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    assert names(built("wheel", sdist, tmp_path)) == names(wheel)


PROGRAM = """
import retrograd as torch
x = torch.tensor([3.0], requires_grad=True)
(x * x).backward()
print(x.grad.item(), torch.__file__)
try:
    torch.relue
except AttributeError as error:                 # the names to suggest stand in a file of the package
    print(error.__notes__[0].startswith("  nearest    relu"))
torch.viz.explore(x * x, "page.html")           # and so do the styles and scripts of the page
from retrograd.command.entries import entries, folder
print(len(entries()) > 100, folder())           # and the entries of the pages on errors
"""


def test_the_wheel_works_outside_of_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    result = subprocess.run([sys.executable, "-W", "error", "-c", f"import sys\nsys.path.insert(0, {str(site)!r})\n"
                             + PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (result.stdout, result.stderr) == (
        f"6.0 {site / 'retrograd' / '__init__.py'}\nTrue\nTrue {site / 'retrograd' / 'command' / 'errors'}\n", "")
    assert (tmp_path / "page.html").stat().st_size > 10_000
