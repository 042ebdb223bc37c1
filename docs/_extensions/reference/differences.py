"""Which entries of the page on differences name a function, and the anchors of these entries."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

from docutils import nodes

PAGE = Path(__file__).parents[2] / "differences.md"
_CODE = re.compile(r"`([^`\n]+)`")
_NAME = re.compile(r"(?:torch\.)?((?:\w+\.)*[A-Za-z]\w*)(?:\(.*\))?")
# Names of parameters and attributes, which the page uses as such.
_NOT_FUNCTIONS = {"out", "dim", "grad", "data", "device", "dtype", "step", "load", "save", "new", "args", "names"}


class Entry(NamedTuple):
    """An entry of the page: its title and its anchor."""

    title: str
    anchor: str


def slug(title: str) -> str:
    """The anchor of a heading, as MyST makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


@cache
def by_name() -> dict[str, list[Entry]]:
    """For each name between backticks, the entries that it stands in. Names of a namespace keep it: `linalg.svd`."""
    found: dict[str, dict[Entry, None]] = defaultdict(dict)
    text = re.sub(r"^```.*?^```$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        for block in re.split(r"\n\n|\n(?=- )", section.partition("\n")[2]):
            titled = re.match(r"- \*\*(.+?)\.?\*\*", block.strip(), re.DOTALL)
            title = " ".join((titled[1] if titled else heading).replace("`", "").split())
            entry = Entry(title, slug(f"{heading} {title}" if titled else heading))
            for span in _CODE.findall(block):
                name = _NAME.fullmatch(span)
                if name and name[1] not in _NOT_FUNCTIONS:
                    found[name[1]][entry] = None
    return {name: [*entries] for name, entries in found.items()}


def of(path: str) -> list[Entry]:
    """The entries that name a function, by its path or by its own name."""
    parts = path.split(".")[1:]
    names = [".".join(parts[i:]) for i in range(len(parts))]
    return [*dict.fromkeys(entry for name in names for entry in by_name().get(name, ()))]


def add_anchors(document: nodes.document) -> None:
    """Give each titled item of the page its anchor."""
    for item in document.findall(nodes.list_item):
        first = next(iter(item.findall(nodes.strong)), None)
        section = item.parent.parent
        if first is not None and isinstance(section, nodes.section):
            title = " ".join(first.astext().strip().rstrip(".").split())
            item["ids"].append(slug(f"{section[0].astext()} {title}"))
