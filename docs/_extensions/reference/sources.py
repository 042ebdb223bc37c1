"""Pages of the source: one for each module, with an anchor for each line."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any

from reference import statements
from reference.namespaces import PACKAGE

FOLDER = "_source"
_KEYWORDS = ("and as assert async await break class continue def del elif else except finally for from global if "
             "import in is lambda match nonlocal not or pass raise return try while with yield True False None")
_TOKENS = re.compile(
    rf'(?P<s>[rbfRBF]{{0,2}}(?:"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'))|(?P<c>#[^\n]*)'
    rf'|\b(?P<k>{"|".join(_KEYWORDS.split())})\b|(?P<d>(?<=def )\w+|(?<=class )\w+)')
_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{path}, the source of retrograd</title><link rel="stylesheet" href="{up}_static/source.css"></head>
<body data-theme="auto"><script>document.body.dataset.theme = localStorage.getItem("theme") || "auto"</script>
<header><a href="{up}reference/index.html">Reference</a> <h1>{path}</h1></header>
<main><pre tabindex="0" aria-label="The source of {path}">{lines}</pre></main></body></html>
"""


def address(path: str, line: int) -> str:
    """The address of a line, from the top of the documentation."""
    return f"{FOLDER}/{path.removesuffix('.py')}.html#L{line}"


def place(found: Any) -> str:
    """The address of the definition of a function or class; '' if it is not in the package."""
    if isinstance(found, type):
        file, line = _of_class(found)
    else:
        code = getattr(found, "__code__", None)
        file, line = (code.co_filename, code.co_firstlineno) if code is not None else ("", 1)
    if not file.startswith(str(PACKAGE)):
        return ""
    return address(Path(file).relative_to(PACKAGE).as_posix(), max(line, 1))


def _of_class(kind: type) -> tuple[str, int]:
    """The file and the line of a class. A class may say of itself that it is another module's."""
    said = sys.modules.get(kind.__module__)
    for module in (said, *[found for name, found in [*sys.modules.items()] if name.startswith("retrograd.")]):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(str(PACKAGE)) and vars(module).get(kind.__name__) is kind:
            line = statements.lines_of_classes(file).get(kind.__name__)
            if line is not None:
                return file, line
    return "", 1


def marked(source: str) -> str:
    """Source as HTML: strings, comments, keywords and the names of definitions in elements of their own, by lines."""
    def mark(token: re.Match[str]) -> str:
        return "\n".join(f"<i class={token.lastgroup}>{html.escape(line, quote=False)}</i>" if line else ""
                         for line in token[0].split("\n"))

    pieces, end = [], 0
    for token in _TOKENS.finditer(source):
        pieces += [html.escape(source[end:token.start()], quote=False), mark(token)]
        end = token.end()
    text = "".join([*pieces, html.escape(source[end:], quote=False)])
    lines = text.removesuffix("\n").split("\n")
    return "\n".join(f'<a id=L{i} href="#L{i}">{i:>4}</a> {line}' for i, line in enumerate(lines, 1))


def write(folder: Path) -> None:
    """Write the pages of all modules."""
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE)
        page = folder / FOLDER / path.with_suffix(".html")
        page.parent.mkdir(parents=True, exist_ok=True)
        source = file.read_text(encoding="utf-8")
        page.write_text(_PAGE.format(path=path.as_posix(), up="../" * len(path.parts), lines=marked(source)),
                        encoding="utf-8")
