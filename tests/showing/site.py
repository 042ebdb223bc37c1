"""The documentation as HTML: building it, once for each state of the sources, and what must hold for its pages."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from showing.pages import MADE, ROOT, WIDTH

DOCS = ROOT / "docs"
sys.path.append(str(DOCS / "_extensions"))

import messages as messages  # noqa: E402
from reference.namespaces import public_names as public_names  # noqa: E402

BUILT = DOCS / "_build" / "tests"
# What a page is made from.
SOURCES = ("docs/**/*", "src/**/*.py", "tests/showing/*.py", "*.md", "pyproject.toml")
SOURCE_PAGES = "_source"        # pages of source code, as wide as the source is
# Sphinx without the collector, which would take a fourth of the time, and find little.
SPHINX = "import gc, sys; from sphinx.cmd.build import main; gc.disable(); sys.exit(main(sys.argv[1:]))"
LONGEST = 600                   # seconds that a build may take on a busy machine


def state() -> str:
    """A short name for the present state of everything that the documentation is made from."""
    files = {file for pattern in SOURCES for file in ROOT.glob(pattern)
             if file.is_file() and not MADE & {*file.parts} and "__pycache__" not in file.parts}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def begin() -> Path:
    """Begin to build the pages of the present state in a process of its own, unless one builds or has built them.

    Returns the folder that the process works in. The process ends with the file `log`.
    """
    folder = BUILT / state()
    if (folder / "builder").exists() and not (folder / "log").exists() and not _lives(folder):
        shutil.rmtree(folder, ignore_errors=True)          # the process was killed
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return folder
    for old in BUILT.iterdir():
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    process = subprocess.Popen([sys.executable, "-m", "showing.site", str(folder)], cwd=ROOT / "tests",
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _replace(folder / "builder", str(process.pid))
    _begun.append(process)
    return folder


_begun: list[subprocess.Popen[bytes]] = []                 # else Python warns of a process that nobody waits for


def built() -> Path:
    """The folder of the HTML pages. Tests in several processes share one build.

    Raises AssertionError with the warnings of the build, if there are any.
    """
    folder = begin()
    _wait_for(folder)
    said = (folder / "log").read_text(encoding="utf-8")
    if said:
        shutil.rmtree(folder, ignore_errors=True)          # so that the next test builds again
    assert not said, said
    return folder / "html"


def build(source: Path, result: Path, cache: Path) -> str:
    """Build the pages of a folder. Returns the warnings and the error, '' if there are none."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-c", SPHINX, "-W", "--keep-going", "-q", "-b", "html", "-d", str(cache),
         str(source), str(result)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False)
    return "" if ran.returncode == 0 else ran.stderr or f"sphinx ended with the status {ran.returncode}"


def _replace(file: Path, text: str) -> None:
    """Write a file of which no process sees a part."""
    partial = file.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, file)


def _lives(folder: Path) -> bool:
    try:
        os.kill(int((folder / "builder").read_text(encoding="utf-8")), 0)
    except ProcessLookupError:
        return False
    return True


def _wait_for(folder: Path) -> None:
    end = time.monotonic() + LONGEST
    while not (folder / "log").exists():
        if time.monotonic() > end:
            raise AssertionError(f"another process has not built the documentation: remove {folder}")
        time.sleep(0.2)


@dataclass
class Page:
    """What one page has: anchors, links, pictures, headings, and the blocks of code with their kind."""

    anchors: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)       # pictures without a text for those who do not see them
    headings: list[int] = field(default_factory=list)
    blocks: list[tuple[str, str]] = field(default_factory=list)
    language: str = ""

    def add(self, tag: str, given: dict[str, str]) -> None:
        """Take an element with these attributes."""
        if anchor := given.get("id"):
            self.anchors.append(anchor)
        if tag == "a" and (anchor := given.get("name")):
            self.anchors.append(anchor)
        self.links += [given[name] for name in given if name in ("href", "src")]
        if tag == "html":
            self.language = given.get("lang", "")
        if tag == "img" and given.get("alt") is None:
            self.unnamed.append(given.get("src", ""))
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))


_INSIDE = r"""[^>"']*+(?:"[^"]*+"[^>"']*+|'[^']*+'[^>"']*+)*+"""               # the attributes of a tag
_HIDDEN = re.compile(rf"<!--.*?-->|(<(script|style)\b{_INSIDE}>).*?(?=</\2>)", re.DOTALL)
# Most elements of a page color its code: those with nothing but a class are passed over. Python's own parser, which
# reads all, takes five times as long.
_TAG = re.compile(rf"""<(?:(/?)(div|pre)|(html|img|h\d|\w++(?!(?:\sclass="[^"]*+")?+>)))\b({_INSIDE})>""")
_ANY_TAG = re.compile(rf"</?\w{_INSIDE}>")
_ATTRIBUTE = re.compile(r"""([^\s=>"'/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++)))?+""")


def read(text: str) -> Page:
    """A page, from its HTML."""
    page, kinds, start = Page(), list[str](), 0            # the classes of the elements around
    text = _HIDDEN.sub(r"\1", text)
    for found in _TAG.finditer(text):
        end, block, other, inside = found.groups()
        if not end:
            given = {name: unescape(first or second or bare)
                     for name, first, second, bare in _ATTRIBUTE.findall(inside)}
            page.add(block or other, given)
            if block == "div":
                kinds.append(given.get("class", ""))
            elif block == "pre":
                start = found.end()
        elif block == "div":
            del kinds[-1:]
        else:
            page.blocks.append((" ".join(kinds), unescape(_ANY_TAG.sub("", text[start:found.start()]))))
    return page


def pages(folder: Path) -> dict[str, Page]:
    """The pages of a folder by their paths."""
    return {file.relative_to(folder).as_posix(): read(file.read_text(encoding="utf-8"))
            for file in sorted(folder.rglob("*.html"))}


def broken_links(found: dict[str, Page], folder: Path) -> Iterator[str]:
    """The links that lead to no file, or to no anchor of a page. Links to other places are not followed."""
    anchors = {path: {*page.anchors} for path, page in found.items()}

    @cache                                                 # most links of a page are in the bars around each page
    def target(place: str, link: str) -> str | None:
        """The path of the file that a link of a page in this place leads to, '' for none, None for another place."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return None
        name = os.path.normpath(os.path.join(place, unquote(parts.path))).replace(os.sep, "/")
        return name if (folder / name).is_file() else ""

    for path, page in found.items():
        for link in dict.fromkeys(page.links):
            before, _, anchor = link.partition("#")
            name = target(os.path.dirname(path), before) if before else path
            anchor = unquote(anchor)
            if name == "" or (anchor and name in anchors and anchor not in anchors[name]):
                yield f"{path}: {link}"


def wide_code(found: dict[str, Page]) -> Iterator[str]:
    """Lines of code that are wider than a page. What programs print is shown as it is."""
    for path, page in found.items():
        for kind, text in page.blocks:
            printed = "highlight-text" in kind or "output" in kind.split() or "cell_output" in kind
            if not printed and not path.startswith(SOURCE_PAGES):
                yield from (f"{path}: {line}" for line in text.splitlines() if len(line) > WIDTH)


def poor_pages(found: dict[str, Page]) -> Iterator[str]:
    """Pages that a screen reader cannot lead through: without a language, with no or several titles, levels left out,
    or pictures without a text."""
    for path, page in found.items():
        if not page.language:
            yield f"{path}: no language"
        if page.headings.count(1) != 1 and path != "search.html":             # a script writes its title
            yield f"{path}: {page.headings.count(1)} titles"
        if any(below > above + 1 for above, below in zip(page.headings, page.headings[1:])):
            yield f"{path}: a level of headings is left out: {page.headings}"
        yield from (f"{path}: the picture {name} has no text" for name in page.unnamed)


if __name__ == "__main__":
    FOLDER = Path(sys.argv[1])
    _replace(FOLDER / "log", build(DOCS, FOLDER / "html", FOLDER / "doctrees"))
