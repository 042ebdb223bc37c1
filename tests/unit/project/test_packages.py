"""The programs for other packages: what can be known about them without the packages. `make field` runs them."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "packages"
PAGE = ROOT / "docs" / "packages.md"


def runner() -> ModuleType:
    """The script that runs the programs."""
    spec = importlib.util.spec_from_file_location("compare_packages", FOLDER / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare = runner()
PROGRAMS = compare.programs()


def test_there_are_programs() -> None:
    assert PROGRAMS
    assert all((FOLDER / name).exists() and FOLDER / name not in PROGRAMS for name in compare.RUNNERS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_is_one_for_pytorch_and_a_package(program: Path) -> None:
    tree = ast.parse(program.read_text(encoding="utf-8"))
    modules = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    modules += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported = {module.partition(".")[0] for module in modules}
    package, what = compare.subject(program)
    assert "torch" in imported
    assert "retrograd" not in imported
    assert package.replace("-", "_").lower() in {name.lower() for name in imported}
    assert len(what) > 20
    # A program of the name of its package would import itself.
    assert program.stem not in imported


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_stands_in_the_table_and_agrees(program: Path) -> None:
    package, what = compare.subject(program)
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"]({compare.link(program)})" in line]
    assert len(rows) == 1
    assert rows[0].startswith(f"| [{package}](")
    assert f"| {what} |" in rows[0]
    assert re.search(r"\| (none|rounding, \de-\d\d) \|$", rows[0])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_the_package_of_a_program_is_installed_by_the_version_of_the_table(program: Path) -> None:
    package, _ = compare.subject(program)
    files = [(FOLDER / name).read_text(encoding="utf-8") for name in ("requirements.txt", "requirements-vision.txt")]
    wanted = "".join(files).lower().replace("-", "_")
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"]({compare.link(program)})" in line]
    version = row.split(" | ")[1]
    name = compare.DISTRIBUTIONS.get(package, package).lower().replace("-", "_")
    assert f"\n{name}=={version}\n" in wanted


def test_every_row_of_the_table_has_its_program() -> None:
    rows = re.findall(r"^\| \[.*?\]\(\.\./examples/packages/(.*?)\)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [program.name for program in PROGRAMS]


@pytest.mark.parametrize(
    ("expected", "found", "verdict"),
    [
        ("loss 0.25\n", "loss 0.25\n", "none"),
        ("loss 0.25000\n", "loss 0.25001\n", "rounding, 4e-05"),
        ("loss 0.25\n", "loss 0.26\n", "not the same"),
        ("loss 0.25\n", "risk 0.25\n", "not the same"),
        ("loss 0.25\n", "loss nan\n", "not the same"),
        ("loss 0.25\n", "", "not the same"),
    ],
)
def test_the_words_for_a_difference(expected: str, found: str, verdict: str) -> None:
    assert compare.verdict(expected, found) == verdict


def test_the_table_is_replaced_and_the_text_around_it_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for after in ("", "\nBehind.\n"):
        page.write_text(f"Before.\n\n{compare.HEAD}| old |\n{after}", encoding="utf-8")
        compare.write_table(page, compare.HEAD, ["| new |\n", "| newer |\n"])
        assert page.read_text(encoding="utf-8") == f"Before.\n\n{compare.HEAD}| new |\n| newer |\n{after}"
