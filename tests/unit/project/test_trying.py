"""What `make extras` and `make versions` try and report. Only these targets make the environments themselves."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from retrograd.extras import PACKAGES
from trying import extras, flat, versions
from trying.environments import Result, report, table

GOOD = Result(True, 61.2, "..s\n==== 36 passed, 2 skipped in 60.95s ====\n", Path("tests.log"))
BAD = Result(False, 3.0, "1 failed, 35 passed in 2.95s\n\n", Path("tests.log"))


def test_every_extra_of_users_has_a_program() -> None:
    assert {*PACKAGES} <= {*extras.extras()}
    assert {path.stem.removeprefix("uses_") for path in extras.PROGRAMS.glob("*.py")} == {*PACKAGES}
    assert all(extras.program_of(extra).exists() for extra in PACKAGES)


def test_a_row_is_whole_only_if_everything_is_as_it_should_be() -> None:
    row = ["plot", "yes", "yes", "5 of 5", "36 passed"]
    assert extras.whole(row)
    for column, wrong in [(1, "NO"), (2, "NO"), (3, "4 of 5"), (4, "FAILED")]:
        assert not extras.whole([*row[:column], wrong, *row[column + 1:]])


def test_a_cell_counts_tests_and_says_what_failed() -> None:
    assert versions.cell(GOOD) == "36 passed, 2 skipped, 61 s"
    assert versions.cell(BAD) == "FAILED: 1 failed, 35 passed, 3 s"
    assert versions.cell(GOOD._replace(text="")) == "61 s"
    assert versions.cell(GOOD._replace(text=f"{GOOD.text}\n{GOOD.text}")) == "72 passed, 4 skipped, 61 s"


def test_the_end_of_a_failure_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    report("plot: the tests", GOOD)
    assert capsys.readouterr().out == "plot: the tests: done in 61 s\n"
    report("plot: the tests", BAD)
    assert capsys.readouterr().out.splitlines()[:2] == [
        "plot: the tests: FAILED in 3 s", "    1 failed, 35 passed in 2.95s"]


def test_a_table_has_columns() -> None:
    assert table(["a", "b"], [["long", "1"]]).splitlines() == ["| a    | b   |", "| ---  | --- |", "| long | 1   |"]


def test_an_interpreter_says_its_version() -> None:
    free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    assert versions._version(sys.executable) == ".".join(map(str, sys.version_info[:3])) + free


def test_without_interpreters_there_is_nothing_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert versions.main([]) == 2
    assert "PYTHONS=" in capsys.readouterr().err


def test_the_release_of_pytorch_is_that_of_the_extra() -> None:
    assert versions.pytorch().startswith("torch==2.")


def test_the_package_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte code that is left of a folder which has moved does not stand in the way of the folder."""
    for name in ("retrograd/__init__.py", "retrograd/py.typed", "retrograd/fft/__pycache__/old.pyc",
                 "namespaces/fft/__init__.py", "namespaces/special.py"):
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).touch()
    monkeypatch.setattr(flat, "SOURCE", tmp_path / "src")
    for _ in range(2):                                       # the second time renews the links
        package = flat.laid_out(tmp_path / "flat") / "retrograd"
        assert {path.name for path in package.iterdir()} == {"__init__.py", "py.typed", "fft", "special.py"}
        assert (package / "fft" / "__init__.py").exists()
