"""The programs of the documentation, and what they print. Run it to write into a page what its programs print now:

    PYTHONPATH=tests python -m showing.pages docs/errors.md docs/inplace.md

A ```python block that begins with `import` is a program; the blocks below it continue the program until the next such
block. The ```text block that comes next shows what a block prints and, if the block fails, the error that ends it. A
block without a ```text block prints nothing.

On the pages on errors, a label in bold stands above each block: it says whether the block fails, warns or works.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import sys
import textwrap
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import retrograd
from retrograd.foundations import tracebacks

ROOT = Path(__file__).parents[2]
MADE = {"_build", "class"}      # the folders that a build of the documentation makes
DOCS = sorted(path for path in (ROOT / "docs").rglob("*.md") if not MADE & {*path.parts})
ERRORS = [page for page in DOCS if page.parent.name == "errors"]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = "program.py"  # what the programs are called where a message names a line
WIDTH = 88  # the most columns of a line of code, and of a line of an error's message
FAILS, WARNS, WORKS = "Fails", "Warns", "Works"
NOTE = re.compile(r"  [a-z ]{11}\S")      # the beginning of a note below a message
LABEL = re.compile(rf"\*\*({FAILS}|{WARNS}|{WORKS}):\*\*\n\n\Z")  # directly above a block


class Block(NamedTuple):
    """A piece of a program, what the page says that the piece prints, and the label above the piece ('' for none)."""

    source: str
    output: str
    line: int
    label: str


class Program(NamedTuple):
    """Blocks that share their names."""

    page: str
    blocks: list[Block]

    def __str__(self) -> str:
        return f"{self.page}:{self.blocks[0].line}"


class Said(NamedTuple):
    """What a block printed, and the error that ended it."""

    printed: str
    error: Exception | None

    @property
    def text(self) -> str:
        """Both, as a page shows them."""
        return self.printed + ("" if self.error is None else "".join(traceback.format_exception_only(self.error)))

    @property
    def label(self) -> str:
        """The label of a block that does this. A program that only warns goes on, if warnings are no errors."""
        if self.error is None:
            return WORKS
        return WARNS if isinstance(self.error, Warning) else FAILS


def in_one_line(text: str) -> str:
    """A message without line breaks: a page may break the lines of a message anywhere."""
    return " ".join(text.split())


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def programs(page: str, text: str) -> Iterator[Program]:
    """The programs of a page."""
    fences = [*FENCE.finditer(text)]
    found: list[Program] = []
    for fence, after in zip(fences, [*fences[1:], None]):
        if fence[1] == "python":
            if fence[2].startswith("import ") or not found:
                found.append(Program(page, []))
            output = after[2] if after is not None and after[1] == "text" else ""
            line = text.count("\n", 0, fence.start()) + 1
            found[-1].blocks.append(Block(fence[2], output, line, label_above(text[:fence.start()])))
    return iter(found)


def label_above(text: str) -> str:
    """The label that a text ends with, '' for none."""
    found = LABEL.search(text)
    return found[1] if found is not None else ""


def of(page: Path) -> list[Program]:
    """The programs of a file."""
    return [*programs(name_of(page), text_of(page))]


def run(source: str, names: dict[str, Any], file: str = FILE) -> Said:
    """What a block prints, and the error that ends it. A warning is an error."""
    printed, failure = io.StringIO(), None
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file   # for what quotes its lines
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            exec(compile(source, file, "exec", dont_inherit=True), names)
        except Exception as error:
            failure = error
            tracebacks.explained(error, error.__traceback__)       # as a terminal shows it
    return Said(printed.getvalue(), failure)


def said(program: Program) -> Iterator[Said]:
    """What each block of a program prints. Programs run in the root of the checkout."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in program.blocks:
        with contextlib.chdir(ROOT):
            found = run(block.source, names)
        yield found


def brought_up_to_date(page: str, text: str, labeled: bool = False) -> str:
    """The page, with what its programs print now and, if the page is labeled, with the labels above the programs."""
    found = iter([one for program in programs(page, text) for one in said(program)])
    pieces, end, pending = [], 0, ""
    for fence in [*FENCE.finditer(text), None]:
        kind = fence[1] if fence is not None else ""
        start = fence.start() if fence is not None else len(text)
        one = next(found) if kind == "python" else None
        if pending and kind != "text":                      # what was printed goes right below its program
            pieces.append(f"\n\n{pending}")
        between = text[end:start]
        if one is not None and labeled:
            between = f"{LABEL.sub('', between)}**{one.label}:**\n\n"
        pieces.append(between)
        if fence is None:
            break
        pieces.append(pending if pending and kind == "text" else fence[0])
        end, pending = fence.end(), as_block(one) if one is not None else ""
    return "".join(pieces)


def as_block(one: Said) -> str:
    """What was printed as the block of a page, with long lines of a message broken; '' for nothing."""
    if not one.text:
        return ""
    lines = one.text.splitlines()
    if one.error is not None:
        lines = [part for line in lines for part in broken(line)]
    return "\n".join(["```text", *lines, "```"])


def broken(line: str, keep: bool = False) -> list[str]:
    """A line of output, broken where it is too wide. With `keep`, spaces within a line that is not stay as they are."""
    if keep and len(line) <= WIDTH:
        return [line]
    indent = "             " if NOTE.match(line) else "    "
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


if __name__ == "__main__":
    with retrograd.as_torch():
        for path in map(Path, sys.argv[1:]):
            retrograd.foundations.errors.Said.messages.clear()      # a page shows warnings that are given once
            new = brought_up_to_date(path.name, text_of(path), labeled=path.resolve() in ERRORS)
            path.write_text(new, encoding="utf-8")
