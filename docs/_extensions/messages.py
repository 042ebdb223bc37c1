"""Messages of errors on the pages: they wrap on a narrow screen, and a search for a whole message finds its entry.

What a program prints stands as it is, since columns matter there. A block that begins with the name of an error or of a
warning is a message: it gets the class `message`, and a line that the page has broken is whole again, so that the
browser breaks it where the window ends. `messages.js` holds the sentences of the pages on errors, from which
the page of search results chooses the entry that a message belongs to (see `pages.js`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from showing import error_index, pages

_MESSAGE = re.compile(r"^(?:\w+\.)*\w*(?:Error|Warning|Exception): ", re.MULTILINE)


def sentences() -> list[list[str]]:
    """The sentences of all entries, each with the address of its entry."""
    return [[re.sub(r"`|\\\\", "", sentence), f"errors/{page}.html#{entry.anchor}"] for page in error_index.PAGES
            for entry in error_index.entries(error_index.INDEX.parent / "errors" / f"{page}.md")
            for sentence in entry.sentences]


def whole(text: str) -> str:
    """A message without the line breaks of `pages.broken`: there, the next word did not fit on the line."""
    found: list[str] = []
    before = ""
    for line in text.split("\n"):
        word = line.strip().partition(" ")[0]
        if found and re.match(r" {4}\S", line) and len(before) + 1 + len(word) > pages.WIDTH:
            found[-1] += f" {line.strip()}"
        else:
            found.append(line)
        before = line
    return "\n".join(found)


def _after_reading(app: Sphinx, document: nodes.document) -> None:
    for block in document.findall(nodes.literal_block):
        if block.get("language") == "text" and _MESSAGE.search(block.astext()):
            block["classes"].append("message")
            block.rawsource = whole(block.astext())
            block[:] = [nodes.Text(block.rawsource)]


def _after_building(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        file = Path(app.outdir, "_static", "messages.js")
        file.write_text(f"const MESSAGES = {json.dumps(sentences())};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", _after_reading)
    app.connect("build-finished", _after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True, "version": "1"}
