"""The entries of the pages on errors: what each is about, how to find one, and its text for a terminal.

The pages are Markdown. In a checkout they are those of the documentation, and in a wheel they lie beside this module.
An entry begins with its name, ``(name)=``, and a heading, which is the first sentence of a message.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_HERE = Path(__file__).parent
FOLDERS = (_HERE / "errors", _HERE.parents[2] / "docs" / "errors")
_ENTRY = re.compile(r"^\(([\w-]+)\)=\n### (.*)$", re.MULTILINE)
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_END = re.compile(r"^## ", re.MULTILINE)
_BOLD, _FAINT, _RED, _GREEN, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"


class Entry(NamedTuple):
    """An entry: the title of its page, its name, its heading, and its text with the heading."""

    page: str
    name: str
    heading: str
    text: str

    @property
    def words(self) -> str:
        """All messages of the entry, to be searched: headings, and what programs print."""
        headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", self.text), re.MULTILINE)
        return plain(" ".join([*headings, *(fence[2] for fence in _FENCE.finditer(self.text) if fence[1] == "text")]))


# What differs between two messages of one error, in small letters, and what stands for it.
_VARIES = ((r"-?\d+", "#"), (r"\[(#(, #)*)?\]", "[#]"), (r"\w+backward#", "<node>"),
           (r"\b\w+\(\):", "<function>():"),
           (r"\b(bool|byte|char|short|u?int|long|half|bfloat|float|double|complex\w*)\b#?", "<dtype>"))


def plain(text: str) -> str:
    """A text without what does not count in a search: marks, capitals, numbers, shapes, dtypes, names, and spaces."""
    said = " ".join(text.replace("`", "").replace("\\", "").lower().split())
    for pattern, name in _VARIES:
        said = re.sub(pattern, name, said)
    return said


def folder() -> Path:
    """The folder with the pages. Raises FileNotFoundError if there is none."""
    found = next((each for each in FOLDERS if each.is_dir()), None)
    if found is None:
        raise FileNotFoundError(f"the pages on errors are in none of {', '.join(map(str, FOLDERS))}")
    return found


def entries() -> list[Entry]:
    """The entries of all pages, in the order of the files."""
    return [entry for path in sorted(folder().glob("*.md")) for entry in _of(path.read_text(encoding="utf-8"))]


def _of(text: str) -> Iterator[Entry]:
    title = text.partition("\n")[0].removeprefix("# ")
    blank = _FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)       # programs hold no headings
    found = [*_ENTRY.finditer(blank)]
    for one, after in zip(found, [*found[1:], None]):
        last = len(text) if after is None else after.start()
        end = _END.search(blank, one.end(), last)
        yield Entry(title, one[1], one[2], text[one.start():last if end is None else end.start()].strip())


def found_by(asked: str, among: list[Entry]) -> list[Entry]:
    """The entry of this name; or else those whose heading holds the text, or is in the text; or else any message."""
    named = [entry for entry in among if entry.name == asked.strip()]
    part = plain(asked)
    kind, _, message = part.partition(": ")
    if re.fullmatch(r"\w*(error|warning|exception)", kind):
        part = message
    if named or not part:
        return named
    headed = [entry for entry in among if part in plain(entry.heading) or plain(entry.heading) in part]
    return headed or [entry for entry in among if part in entry.words]


def nearest(asked: str, among: list[Entry]) -> list[Entry]:
    """The entries whose names or headings are most like the text."""
    by_text = {text: entry for entry in among for text in (plain(entry.heading), entry.name)}
    close = difflib.get_close_matches(plain(asked), by_text, n=5, cutoff=0.5)
    return [*{by_text[text].name: by_text[text] for text in close}.values()]


def shown(entry: Entry, width: int, color: bool) -> str:
    """The text of an entry for a terminal of this width."""
    lines = []
    end = 0
    for fence in [*_FENCE.finditer(entry.text), None]:
        between = entry.text[end:len(entry.text) if fence is None else fence.start()]
        for paragraph in filter(None, map(str.strip, between.split("\n\n"))):
            lines += [*_paragraph(paragraph, width, color), ""]
        if fence is not None:
            lines += [f"    {line}".rstrip() for line in fence[2].splitlines()] + [""]
            end = fence.end()
    return "\n".join(lines).rstrip()


def _paragraph(text: str, width: int, color: bool) -> list[str]:
    text = re.sub(r"^\([\w-]+\)=\n", "", text)
    heading = re.fullmatch(r"#+ (.*)", text)
    if heading:
        said = heading[1].replace("`", "").replace("\\", "")
        return [f"{_BOLD}{line}{_PLAIN}" if color else line for line in textwrap.wrap(said, width)]
    label = re.fullmatch(r"\*\*(\w+):\*\*", text)
    if label:
        tone = _GREEN if label[1] == "Works" else _RED
        return [f"{tone}{label[1]}:{_PLAIN}" if color else f"{label[1]}:"]
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    if text.startswith(("- ", "|")):
        return [line for item in text.splitlines() for line in textwrap.wrap(item, width, subsequent_indent="  ")]
    return textwrap.wrap(text, width, break_on_hyphens=False)


def listing(among: list[Entry], width: int, color: bool) -> str:
    """A line for each entry, below the title of its page: its name and its heading."""
    lines = []
    for page in dict.fromkeys(entry.page for entry in among):
        lines += ["", f"{_BOLD}{page}{_PLAIN}" if color else page]
        for entry in among:
            if entry.page == page:
                said = entry.heading.replace("`", "").replace("\\", "")
                lines.append(f"  {entry.name}")
                lines += [f"      {_FAINT}{line}{_PLAIN}" if color else f"      {line}"
                          for line in textwrap.wrap(said, max(width - 6, 20))]
    return "\n".join(lines[1:])
