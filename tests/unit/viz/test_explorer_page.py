"""The explorer as one file: the document inside survives, nothing is loaded, and its files keep to the house's rules.

What the page does in a browser is tested in `tests/parity/viz/explorer/`.
"""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from retrograd.viz.coordinates import SLOPE, SWEEPS, WEIGHTS
from retrograd.viz.explorer import page as module
from retrograd.viz.explorer.page import page

FOLDER = Path(module.__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.js"))
STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")
FRAME = (FOLDER / "page.html").read_text(encoding="utf-8")
EMPTY: dict[str, Any] = {"title": "a pass", "nodes": [], "steps": [], "groups": []}


class Reader(HTMLParser):
    """The texts of script and title elements, and all attributes, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str | None, str] = {}
        self.title = ""
        self.attributes: list[tuple[str, str | None]] = []
        self.open: tuple[str, str | None] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag in ("script", "title"):
            self.open = tag, dict(attrs).get("id")

    def handle_endtag(self, tag: str) -> None:
        self.open = None

    def handle_data(self, data: str) -> None:
        if self.open and self.open[0] == "title":
            self.title += data
        elif self.open and self.open[1]:
            self.scripts[self.open[1]] = self.scripts.get(self.open[1], "") + data


# The file


@pytest.mark.parametrize("text", [
    "</script><script>alert(1)</script>", "</SCRIPT >", "<!-- <script>", "]]>", "\"quoted\" and 'quoted'", "a\\b\\n",
    "&lt;tag&gt; & more", "line\u2028and\u2029paragraph", "ünïcode ∂ 梯度 🙂", "half \ud83d of a pair", "\x00\x1f\x7f",
    "$& $1 \\1 \\g<0>"])
def test_any_text_in_the_document_survives(text: str) -> None:
    document = {**EMPTY, "title": text, "sources": {text: {"1": text}}}
    read = Reader(page(document))
    assert json.loads(read.scripts["document"]) == document
    assert read.title == f"{text.encode('utf-8', 'replace').decode()} · retrograd"      # no file holds half of a pair


def test_the_file_can_be_written_as_utf_8() -> None:
    page({**EMPTY, "title": "∂", "sources": {"a.py": {"1": "half \ud83d of a pair"}}}).encode("utf-8")


def test_a_document_without_title_has_one() -> None:
    assert Reader(page({**EMPTY, "title": None})).title == "backward pass · retrograd"


def test_floats_that_json_has_no_sign_for_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        page({**EMPTY, "totals": {"time": float("nan")}})


def test_the_file_loads_nothing() -> None:
    text = page(EMPTY)
    read = Reader(text)
    loading = [value for name, value in read.attributes if name in ("src", "srcset", "href", "action", "data")]
    assert loading == ["data:,"]
    assert set(re.findall(r"https?://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|import\(", text)
    policy = next(value for name, value in read.attributes if name == "content" and value and "default-src" in value)
    assert policy.startswith("default-src 'none'; ")


# The files it is made of


def test_the_page_names_every_file() -> None:
    named = set(re.findall(r'(?:href|src)="([\w.]+\.(?:css|js))"', FRAME))
    assert named == {path.name for path in FOLDER.glob("*.*") if path.suffix in (".css", ".js")}
    assert len(SCRIPTS) > 5


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_it_is_for_and_is_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"// [A-Z].{20,}", lines[0])
    assert '"use strict";' in lines[:4]
    assert len(lines) < 400
    start = 0
    for number, line in enumerate(lines):
        if re.match(r"(async )?function |const \w+ = \(", line):
            start = number
        if line in ("}", "})();"):
            assert number - start + 1 <= 40, lines[start]


def test_scripts_name_elements_that_the_page_has() -> None:
    ids = re.findall(r'\bid="(\w+)"', FRAME)
    assert len(ids) == len(set(ids))
    for path in SCRIPTS:
        for name in re.findall(r'byId\("(\w+)"\)', path.read_text(encoding="utf-8")):
            assert name in ids, (path.name, name)


def test_top_level_names_are_defined_once() -> None:
    definition = re.compile(r"^(?:async )?(?:function|const|let) (\w+)", re.M)
    names = [name for path in SCRIPTS for name in definition.findall(path.read_text(encoding="utf-8"))]
    assert sorted(names) == sorted(set(names))


def test_the_constants_of_the_layout_stand_in_python_only() -> None:
    constants = json.loads(Reader(page(EMPTY)).scripts["layout"])
    assert constants == {"sweeps": SWEEPS, "weights": WEIGHTS, "slope": SLOPE}
    text = (FOLDER / "layout.js").read_text(encoding="utf-8")
    assert not re.search(r"const (SWEEPS|WEIGHTS|SLOPE) =", text)
    assert "const { sweeps: SWEEPS, weights: WEIGHTS, slope: SLOPE } = JSON.parse(" in text


# Colors


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(color[k: k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def themes() -> list[dict[str, str]]:
    """The colors of the light and of the dark theme."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    return [dict(re.findall(r"--([\w]+): (#[0-9a-f]{6})", block)) for block in blocks]


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_text_can_be_read_on_every_surface(theme: dict[str, str]) -> None:
    for surface in ("back", "surface", "raised", "sunk", "frame0", "frame1"):
        for text in ("ink", "muted", "accent", "wrong"):
            assert contrast(theme[text], theme[surface]) >= 4.5, (text, surface)
    assert contrast(theme["ink"], theme["wrongback"]) >= 4.5
    assert contrast(theme["strong"], theme["surface"]) >= 3
    assert contrast(theme["tick"], theme["surface"]) >= 3


def test_the_palette_grows_darker_from_end_to_end() -> None:
    found = re.search(r"const PALETTE = \[(.*?)\]", (FOLDER / "color.js").read_text(encoding="utf-8"))
    assert found is not None
    levels = [luminance(color) for color in re.findall(r"#\w{6}", found[1])]
    assert levels == sorted(levels, reverse=True)
    # Steps that the color-blind see too: each is at least 1.2 times as dark.
    assert all((light + 0.05) / (dark + 0.05) >= 1.2 for light, dark in pairwise(levels))
