"""What the build adds to the metadata: the long description of the package, and its links.

The README links to files beside it. On a package index there are no such files. If `[tool.retrograd]` in pyproject.toml
names the public address of the project's files, the links of the long description are absolute, and the package has
project links. While the address is empty, the long description is the README as it stands.
"""

from __future__ import annotations

import re
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


class CustomMetadataHook(MetadataHookInterface):
    """Sets the fields `readme` and `urls`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the fields, by the address in pyproject.toml."""
        root = Path(self.root)
        with (root / "pyproject.toml").open("rb") as file:
            address = tomllib.load(file)["tool"]["retrograd"]["address"]
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, address) if address else text}
        metadata["urls"] = {} if not address else {
            name: f"{address.rstrip('/')}/{path}" for name, path in (
                ("Documentation", "docs/index.md"), ("Changelog", "CHANGELOG.md"), ("Source", "src/retrograd"))}
