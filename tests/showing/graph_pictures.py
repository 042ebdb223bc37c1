"""The pictures of graphs on the pages: the programs of the pages draw them. Run it to bring them up to date."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from showing import pages, pictures

FIGURES = {"graph-network": pages.ROOT / "docs" / "debugging.md"}


def svg(name: str) -> str:
    """The picture that the program above it on its page leaves in the variable `picture`."""
    page = FIGURES[name]
    above, shown, _ = pages.text_of(page).partition(f"](pictures/{name}.svg)")
    assert shown, f"{page.name} does not show {name}"
    *_, program = pages.programs(pages.name_of(page), above)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in program.blocks:
        pages.run(block.source, names)
    return str(names["picture"].svg)


def file_of(name: str) -> Path:
    return pictures.FOLDER / f"{name}.svg"


if __name__ == "__main__":
    for name in FIGURES:
        with contextlib.chdir(pages.ROOT):
            file_of(name).write_text(svg(name), encoding="utf-8")
