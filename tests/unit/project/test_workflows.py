"""The workflows are sound, by the linter `zizmor`, and try every Python that the package names."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from needing import needs
from showing.pages import ROOT, text_of

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TESTS = ROOT / ".github" / "workflows" / "tests.yml"


def faults(*files: Path) -> str:
    """What the linter says of these files, '' for nothing."""
    linter = shutil.which("zizmor", path=str(Path(sys.executable).parent)) or "zizmor"
    result = subprocess.run([linter, "--offline", "--no-config", "--no-progress", *map(str, files)],
                            capture_output=True, text=True, timeout=100)
    return "" if result.returncode == 0 else result.stdout + result.stderr


@needs("zizmor")
def test_the_workflows_have_no_faults() -> None:
    assert len(WORKFLOWS) == 2
    assert faults(*WORKFLOWS) == ""


@needs("zizmor")
@pytest.mark.parametrize(("right", "wrong", "said"), [
    (r"@[0-9a-f]{40} # v[\d.]+", "@v6", "unpinned-uses"),
    (r"        with:\n          persist-credentials: false\n", "", "artipacked"),
    (r"permissions:\n      contents: read", "permissions: write-all", "excessive-permissions"),
    (r"run: python -m mypy", "run: echo ${{ github.event.pull_request.title }}", "template-injection"),
    (r"runs-on:", "run-on:", "fatal"),
])
def test_planted_faults_are_found(right: str, wrong: str, said: str, tmp_path: Path) -> None:
    text, count = re.subn(right, wrong, text_of(TESTS), count=1)
    assert count
    (tmp_path / "planted.yml").write_text(text, encoding="utf-8")
    found = faults(tmp_path / "planted.yml")
    assert found
    assert said in found


def test_every_python_that_is_named_is_tried() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        named = re.findall(r"Python :: (3\.\d+)'", str(tomllib.load(file)["project"]["classifiers"]))
    (listed,) = re.findall(r"^ +python: \[(.+)\]$", text_of(TESTS), re.MULTILINE)
    tried = re.findall(r'"([\d.]+t?)"', listed)
    assert [version for version in tried if not version.endswith("t")] == named
    assert "3.13t" in tried
