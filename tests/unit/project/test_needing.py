"""Tests are skipped for absent packages with what to install; where all packages should be, they run and fail."""

from __future__ import annotations

import pytest

import needing
from needing import absent, excused, is_excuse, needed, needs, promised
from retrograd import extras


@pytest.fixture(autouse=True)
def incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needing, "complete", False)


def test_a_reason_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert absent("numpy", "pytest") == ""
    monkeypatch.setattr(needing, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert absent("PIL", "mpiexec") == "PIL is absent: pip install pillow; mpiexec is absent: pip install mpich"


@needs("matplotlib")
@needs("PIL")
def test_all_marks_of_a_test_count(request: pytest.FixtureRequest) -> None:
    assert sorted(needed(request.node)) == ["PIL", "matplotlib"]


def test_where_all_packages_are_promised_nothing_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needing, "find_spec", lambda name: None)
    monkeypatch.setattr(needing, "complete", True)
    assert "matplotlib" in promised()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert absent("ml_dtypes", "matplotlib", "zizmor") == ""
    assert absent("jax") == "jax is absent: pip install jax"
    assert absent("chromium") == "chromium is absent, which pip does not install"
    assert not excused("ml_dtypes")


def test_the_extra_promises_what_users_may_install() -> None:
    packages = {package.replace("_", "-") for extra in extras.PACKAGES.values() for package in extra}
    assert packages - promised() <= {"llvmlite", "mpi4py", "mpich", "tensorboard", "pillow"}     # free-threaded


def test_the_error_of_a_part_is_an_excuse_if_its_package_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    error = extras.absent("dtypes", "Tensors need")
    monkeypatch.setattr(needing, "find_spec", lambda name: None)
    assert is_excuse(error)
    assert not is_excuse(ModuleNotFoundError("No module named 'ml_dtypes'", name="ml_dtypes"))
    assert not is_excuse(ModuleNotFoundError("No module named 'x'", name="x"))
    monkeypatch.setattr(needing, "complete", True)
    assert not is_excuse(error)
    monkeypatch.setattr(needing, "complete", False)
    monkeypatch.setattr(needing, "find_spec", lambda name: object())
    assert not is_excuse(error)


def test_machine_code_may_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needing, "find_spec", lambda name: object())
    monkeypatch.setattr(needing, "available", lambda: False)
    assert absent("llvmlite") == "machine code is turned off"
