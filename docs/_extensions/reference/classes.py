"""A page for each class: which classes have one, and the files that Sphinx reads for them.

Sphinx reads files, so each page is a file of three lines in `docs/reference/class`, which git ignores. The content is
made by the directive `{class-entry}`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from reference.namespaces import NAMESPACES, Member, first_path, members

FOLDER = "reference/class"
REFERENCE = Path(__file__).parents[2] / "reference"
_PAGE = """\
---
orphan: true
---
# {path}

A class of [{namespace}](../{page}.md).

```{{class-entry}} {path}
```
"""


@cache
def classes() -> dict[str, Member]:
    """The classes that have a page of their own, by their paths."""
    return {member.path: member for path in NAMESPACES for member in members(path)
            if member.kind == "class" and first_path(member.found) == member.path
            and member.path not in NAMESPACES}


def docname(path: str) -> str:
    """The page of a class, as Sphinx names it."""
    return f"{FOLDER}/{path}"


def _page(member: Member) -> str:
    return _PAGE.format(path=member.path, namespace=member.namespace, page=_home(member))


def _home(member: Member) -> str:
    """The page on which the class is listed: that of its namespace, or of the nearest namespace around it."""
    if member.namespace == "torch":
        return "torch-types"
    parts = member.namespace.split(".")[1:] or [member.namespace]
    ends = ["-".join(parts[:i]) for i in range(len(parts), 0, -1)]
    return next((end for end in ends if (REFERENCE / f"{end}.md").exists()), "retrograd")


def write(source: Path) -> None:
    """Write the pages, and remove those of classes that are gone."""
    folder = source / FOLDER
    folder.mkdir(exist_ok=True)
    wanted = {folder / f"{path}.md": _page(member) for path, member in classes().items()}
    for file in folder.glob("*.md"):
        if file not in wanted:
            file.unlink()
    for file, text in wanted.items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
