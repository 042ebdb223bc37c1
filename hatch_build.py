"""What the build adds to the metadata: the long description of the package, its links, and its extras.

The README links to files beside it. On a package index there are no such files. If `[tool.retrograd]` in pyproject.toml
names the public address of the project's files, the links of the long description are absolute, and the package has
project links. While the address is empty, the long description is the README as it stands.

The extras are those of `[tool.retrograd.extras]`. The extra `test` has all packages that this interpreter can have.
Some have no wheel for a free-threaded interpreter, or only older releases have one. No environment marker tells such an
interpreter from another.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def absolute(text: str, address: str) -> str:
    """A page whose links to files beside it lead to the same files below an address.

    >>> absolute("[the tour](docs/tour.md#start), [above](#top)", "https://example.org/files")
    '[the tour](https://example.org/files/docs/tour.md#start), [above](#top)'
    """
    return re.sub(r"(\]\()(?!#|[a-z]+:)", rf"\g<1>{address.rstrip('/')}/", text)


def available(extras: dict[str, list[str]], lacking: list[str], capped: list[str]) -> dict[str, list[str]]:
    """The extras. The extra `test` is without the extras that are `lacking`, and has the `capped` requirements, too.

    >>> available({"a": ["x"], "test": ["retrograd[a]", "pytest"]}, ["a"], ["pytest<9"])
    {'a': ['x'], 'test': ['pytest', 'pytest<9']}
    """
    left_out = {f"retrograd[{extra}]" for extra in lacking}
    return extras | {"test": [each for each in extras["test"] if each not in left_out] + capped}


class CustomMetadataHook(MetadataHookInterface):
    """Sets the fields `readme`, `urls` and `optional-dependencies`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the fields, by the tables in pyproject.toml."""
        root = Path(self.root)
        with (root / "pyproject.toml").open("rb") as file:
            said = tomllib.load(file)["tool"]["retrograd"]
        address = said["address"]
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
        lacking, capped = [
            said[f"{which}-wheels-without-the-gil"].get(version, []) if free else [] for which in ("no", "last")]
        metadata["optional-dependencies"] = available(said["extras"], lacking, capped)
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, address) if address else text}
        metadata["urls"] = {} if not address else {
            name: f"{address.rstrip('/')}/{path}" for name, path in (
                ("Documentation", "docs/index.md"), ("Changelog", "CHANGELOG.md"), ("Source", "src/retrograd"))}
