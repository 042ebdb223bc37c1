"""The metadata of the package: the long description, its links, and the versions of Python that it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from needing import absent, needs
from showing.pages import ROOT

if missing := absent("hatchling"):
    pytest.skip(missing, allow_module_level=True)

from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

pytestmark = needs("hatchling")


def metadata(root: Path) -> Any:
    return ProjectMetadata(str(root), PluginManager()).core


def test_the_long_description_is_the_readme() -> None:
    core = metadata(ROOT)
    assert core.readme == (ROOT / "README.md").read_text(encoding="utf-8")
    assert core.readme_content_type == "text/markdown"
    assert core.urls == {}


@pytest.mark.parametrize("address", ["https://example.org/files", "https://example.org/files/"])
def test_with_an_address_all_links_are_absolute(tmp_path: Path, address: str) -> None:
    for name in ("hatch_build.py", "LICENSE"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = project.replace('address = ""', f'address = "{address}"')
    (tmp_path / "pyproject.toml").write_text(project, encoding="utf-8")
    version = tmp_path / "src" / "retrograd" / "version.py"
    version.parent.mkdir(parents=True)
    version.write_text((ROOT / "src" / "retrograd" / "version.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "README.md").write_text(
        "[a](docs/a.md#b) [c](https://example.com) [d](#e) ![f](g.svg)", encoding="utf-8")
    core = metadata(tmp_path)
    assert core.readme == ("[a](https://example.org/files/docs/a.md#b) [c](https://example.com) [d](#e) "
                           "![f](https://example.org/files/g.svg)")
    assert core.urls["Changelog"] == "https://example.org/files/CHANGELOG.md"


def test_the_first_python_that_is_named_is_the_oldest_that_is_accepted() -> None:
    core = metadata(ROOT)
    named = [match[1] for each in core.classifiers if (match := re.search(r":: (3\.\d+)$", each))]
    assert core.requires_python == f">={named[0]}"
