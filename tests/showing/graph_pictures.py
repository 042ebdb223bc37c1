"""The pictures of graphs on the pages: the programs of the pages draw them. Run it to bring them up to date."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import retrograd
from showing import pages, pictures

FIGURES = {
    "graph-step": pages.ROOT / "docs" / "index.md",
    "graph-network": pages.ROOT / "docs" / "debugging.md",
}


def svg(name: str) -> str:
    """The picture of the graph behind `loss` in the program above the picture on its page, named by its `model`."""
    page = FIGURES[name]
    above, shown, _ = pages.text_of(page).partition(f"](pictures/{name}.svg)")
    assert shown, f"{page.name} does not show {name}"
    *_, program = pages.programs(pages.name_of(page), above)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in program.blocks:
        pages.run(block.source, names)
    return retrograd.viz.svg(names["loss"], names["model"])


def file_of(name: str) -> Path:
    return pictures.FOLDER / f"{name}.svg"


if __name__ == "__main__":
    for name in FIGURES:
        with contextlib.chdir(pages.ROOT):
            file_of(name).write_text(svg(name), encoding="utf-8")
