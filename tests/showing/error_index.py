"""The entries of the pages on errors, and the index of these pages. Run it to write the index:

    PYTHONPATH=tests python -m showing.error_index

An entry begins with an anchor, `(anchor)=`, and a heading. Headings below it belong to the entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from showing import pages

INDEX = pages.ROOT / "docs" / "errors.md"
BEGINNING = "<!-- The entries, written by `make pages`. -->\n"
# The pages in the order of the index.
PAGES = ("shapes", "tensors", "backward", "in-place", "hooks", "functions", "context", "forward-mode", "functional",
         "gradcheck", "checkpoints", "anomaly")
_ENTRY = re.compile(r"^\(([\w-]+)\)=\n### (.*)$", re.MULTILINE)

_FURTHER = re.compile(r"^#### (.*)$", re.MULTILINE)


class Entry(NamedTuple):
    """An entry: its page, its anchor, the sentences of its headings, and its first program."""

    page: Path
    anchor: str
    sentences: list[str]
    program: pages.Program

    def __str__(self) -> str:
        return f"{self.page.stem}#{self.anchor}"


def entries(page: Path) -> Iterator[Entry]:
    """The entries of a page on errors."""
    text = pages.text_of(page)
    found = [*_ENTRY.finditer(text)]
    for one, end in zip(found, [*(after.start() for after in found[1:]), len(text)]):
        body = text[one.start():end]
        sentences = [one[2], *_FURTHER.findall(pages.FENCE.sub("", body))]
        yield Entry(page, one[1], sentences, next(pages.programs(pages.name_of(page), body)))


def listing() -> str:
    """The lists of all entries, as Markdown, and the pages as a tree of contents."""
    lines = []
    for page in (INDEX.parent / "errors" / f"{name}.md" for name in PAGES):
        title = pages.text_of(page).partition("\n")[0].removeprefix("# ")
        lines += [f"## [{title}](errors/{page.name})", ""]
        lines += [f"- [{_shown(sentence)}](errors/{page.name}#{one.anchor})" for one in entries(page)
                  for sentence in one.sentences]
        lines += [""]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *[f"errors/{name}" for name in PAGES], "```", ""])


def _shown(sentence: str) -> str:
    """A sentence as the text of a link."""
    return re.sub(r"([\[\]<>*])", r"\\\1", sentence)


def updated(text: str) -> str:
    """The index with the entries as they are now."""
    return text.partition(BEGINNING)[0] + BEGINNING + "\n" + listing()


if __name__ == "__main__":
    INDEX.write_text(updated(pages.text_of(INDEX)), encoding="utf-8")
