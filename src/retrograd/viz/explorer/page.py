"""Puts the explorer together: its HTML, CSS, JavaScript and one document become one HTML file.

The files stand beside this module and need no build step. `page.html` names the others, as a web page does, so the
list of them is kept there.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ..coordinates import SLOPE, SWEEPS, WEIGHTS

_FOLDER = Path(__file__).parent
_STYLE = re.compile(r'<link rel="stylesheet" href="([\w.]+)">')
_SCRIPT = re.compile(r'<script src="([\w.]+)"></script>')
_TITLE = "<title>retrograd explorer</title>"
_LAYOUT = '<script type="application/json" id="layout"></script>'
_DATA = '<script type="application/json" id="document"></script>'
_DOCUMENT = re.compile(f"{re.escape(_DATA).replace('></', '>(.*?)</')}", re.DOTALL)
# No sign in a string of JSON may end the script element that holds it.
_SAFE = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def page(document: Mapping[str, Any]) -> str:
    """One HTML file that shows `document`, the record of a backward pass. The file loads nothing else.

    NaN and the infinities are the strings "nan", "inf" and "-inf". Raises ValueError for such a float: JSON has no
    sign for it.

    >>> text = page({"title": "loss </script>", "nodes": [], "steps": [], "groups": []})
    >>> text.startswith("<!doctype html>"), "loss </script>" in text
    (True, False)
    """
    data = json.dumps(document, separators=(",", ":"), allow_nan=False).translate(_SAFE)
    shown = html.escape(str(document.get("title") or "backward pass"))
    title = f"<title>{shown.encode('utf-8', 'replace').decode()} · retrograd</title>"      # a file may have any name
    return _frame().replace(_TITLE, title, 1).replace(_DATA, _DATA.replace("></", f">{data}</"), 1)


def document_in(text: str) -> dict[str, Any]:
    """The document in the text of a page. Raises ValueError if the text is no such page."""
    found = _DOCUMENT.search(text)
    if found is None:
        raise ValueError("this is no page of the explorer")
    document: dict[str, Any] = json.loads(found[1])
    return document


@cache
def _frame() -> str:
    """The page without a document: its stylesheet, its scripts and the constants of the layout are inside."""
    constants = json.dumps({"sweeps": SWEEPS, "weights": WEIGHTS, "slope": SLOPE})
    text = _STYLE.sub(lambda found: f"<style>\n{_read(found[1])}</style>", _read("page.html"))
    text = text.replace(_LAYOUT, _LAYOUT.replace("></", f">{constants}</"), 1)
    return _SCRIPT.sub(lambda found: f"<script>\n{_read(found[1])}</script>", text)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
