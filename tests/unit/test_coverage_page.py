"""The page on coverage names what is here. (That it names all that PyTorch has, a test against PyTorch holds.)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import retrograd

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def rows() -> Iterator[str]:
    """The names that the tables of the namespaces have, with the namespace before each."""
    space = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## torch"):
            space = line[3:]
        elif space and (match := re.match(r"\| `(\w+)` \|", line)):
            yield f"{space}.{match[1]}"


def test_every_name_of_the_page_is_here() -> None:
    names = [*rows()]
    assert len(names) > 800
    for name in names:
        attrgetter(name.partition(".")[2])(retrograd)
