"""The table of the page on coverage, from docs/coverage.csv. Each name that the reference has is a link."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DATA = Path(__file__).parents[1] / "coverage.csv"


class Coverage(SphinxDirective):
    """The table, in which one can search."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(DATA)
        with DATA.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        group = nodes.tgroup("", nodes.colspec(colwidth=40), nodes.colspec(colwidth=60), cols=2)
        group += nodes.thead("", self.row([nodes.Text(title) for title in head]))
        group += nodes.tbody("", *[self.row([self.linked(name), nodes.Text(state)]) for name, state in rows])
        return [nodes.table("", group, classes=["searched"])]

    @staticmethod
    def row(cells: list[nodes.Node]) -> nodes.row:
        return nodes.row("", *[nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells])

    @staticmethod
    def linked(path: str) -> nodes.Node:
        return addnodes.pending_xref("", nodes.literal("", path), refdomain="py", reftype="obj", reftarget=path,
                                     refexplicit=True, refwarn=False)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("coverage", Coverage)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
