"""The tutorials in docs/learn: scripts that Sphinx shows as notebooks. Run it to write what they print:

    PYTHONPATH=tests python -m showing.notebooks docs/learn/*.py

A line `# %%` begins a cell of code, and a line `# %% [markdown]` a cell of text, as in the percent format of Jupytext.
The comments `#> ` at the end of a cell are what the cell prints. Tags follow in brackets:

- `hide-cell`: the cell is a solution, which a reader opens with a click.
- `retrograd`: the cell shows what PyTorch has not, or prints in another way.

A picture (.svg) or a page (.html) that a cell writes in the working directory stands below the cell. `alt="..."` at the
end of the mark says what there is to see, for people who cannot.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from showing import pages

ROOT = pages.ROOT
TUTORIALS = sorted((ROOT / "docs" / "learn").glob("*.py"))
MARK = re.compile(r'^# %%(?: \[(markdown)\])?(?: tags=\[(.*?)\])?(?: alt="([^"]+)")?$')
SAID = "#> "
NAME = re.compile(r"This page as a script <(\w+\.py)>")
# What anomaly mode says on standard error before the error, if warnings are errors.
DETECTED = re.compile(r"^UserWarning: Error detected in \w+\. Traceback of forward.*\n(?:  .*\n)*\n?", re.MULTILINE)
WRITTEN = re.compile(r'"(\w+\.(?:svg|html))"')
RETROGRAD, HIDDEN = "retrograd", "hide-cell"
OWN = "{.own}\nretrograd's own: PyTorch does not have this, or prints something else."      # above a cell with the tag


class Cell(NamedTuple):
    """A cell: whether it is text, its tags, what its picture shows, its lines, what it prints, and where they begin."""

    text: bool
    tags: tuple[str, ...]
    alt: str
    source: str
    output: str
    line: int


def cells(script: str) -> list[Cell]:
    """The cells of a script. What stands before the first mark is no cell."""
    lines = script.splitlines()
    starts = [index for index, line in enumerate(lines) if MARK.match(line)]
    return [_cell(lines, start, end) for start, end in zip(starts, [*starts[1:], len(lines)])]


def _cell(lines: list[str], start: int, end: int) -> Cell:
    mark = MARK.match(lines[start])
    assert mark is not None
    body = lines[start + 1:end]
    said = [line[len(SAID):] for line in body if is_output(line)]
    kept = "\n".join(line for line in body if not is_output(line)).strip("\n")
    if mark[1]:
        kept = re.sub(r"^# ?", "", kept, flags=re.MULTILINE)
    tags = tuple(re.findall(r'"([\w-]+)"', mark[2] or ""))
    return Cell(bool(mark[1]), tags, mark[3] or "", kept + "\n", "".join(f"{line}\n" for line in said), start + 1)


def is_output(line: str) -> bool:
    return line.startswith(SAID) or line == SAID.strip()


def as_printed(text: str, script: Path) -> str:
    """What a script prints as its page shows it: the script goes by its name, and long lines are broken."""
    named = re.sub(r"(?<= at )/?\S*\b" + re.escape(script.name) + r"(?=:\d)", script.name, text)
    return "".join(f"{part.rstrip()}\n" for line in named.splitlines() for part in pages.broken(line, keep=True))


def expected(script: str) -> str:
    """All that a script prints, as it stands in its comments."""
    return "".join(cell.output for cell in cells(script))


def said(script: str, name: str, change: Any = str) -> Iterator[tuple[Cell, str]]:
    """Each cell of code with what it prints, in the working directory. `change` may replace the source of a cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells(script):
        if not cell.text:
            found = pages.run("\n" * cell.line + change(cell.source), names, file=name)
            if found.error is not None:
                raise found.error
            yield cell, as_printed(found.printed, Path(name))


def brought_up_to_date(script: str, name: str) -> str:
    """The script with what its cells print now. It is run twice: outputs may name lines, which other outputs move."""
    return _with_outputs(_with_outputs(script, name), name)


def _with_outputs(script: str, name: str) -> str:
    outputs = {cell.line: output for cell, output in said(script, name)}
    head, *rest = re.split(r"^(?=# %%)", script, flags=re.MULTILINE)
    pieces = [head]
    for cell, piece in zip(cells(script), rest, strict=True):
        kept = "\n".join(line for line in piece.splitlines() if not is_output(line)).strip("\n")
        output = outputs.get(cell.line, "")
        pieces.append(f"{kept}\n{textwrap.indent(output, SAID, lambda line: True)}\n")
    return "".join(re.sub(r" +$", "", piece, flags=re.MULTILINE) for piece in pieces).strip("\n") + "\n"


def as_page(script: str) -> str:
    """The tutorial as a page of Markdown, with a ```python block for a cell and a ```text block for what it prints."""
    found = []
    for cell in cells(script):
        found.append(cell.source if cell.text else f"```python\n{cell.source}```\n")
        if cell.output:
            found.append(f"```text\n{cell.output}```\n")
    return "\n".join(found)


def as_notebook(script: str) -> Any:
    """The tutorial as a notebook, with its outputs and pictures. Sphinx calls this function; it runs the script."""
    from nbformat import v4

    shown = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        printed = dict(said(script, "".join(NAME.findall(script))))
        for cell in cells(script):
            if cell.text:
                shown.append(v4.new_markdown_cell(cell.source))
                continue
            if printed[cell] != cell.output:
                raise ValueError(f"a cell prints {printed[cell]!r}, and its page says {cell.output!r}")
            outputs = [v4.new_output("stream", name="stdout", text=cell.output)] if cell.output else []
            outputs += [v4.new_output("display_data", data=_shown(Path(folder, name), cell.alt))
                        for name in WRITTEN.findall(cell.source)]
            if RETROGRAD in cell.tags:
                shown.append(v4.new_markdown_cell(OWN))
            shown.append(v4.new_code_cell(cell.source.strip("\n"), outputs=outputs, metadata=_metadata(cell)))
    return v4.new_notebook(cells=shown, metadata={
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"}, "mystnb": {"execution_mode": "off"}})


def _metadata(cell: Cell) -> dict[str, Any]:
    """What Sphinx is told about a cell: that it is a solution, and what its picture shows."""
    words = {"code_prompt_show": "Show the solution", "code_prompt_hide": "Hide the solution"}
    image = {"image": {"alt": cell.alt}} if cell.alt else {}
    return {"tags": [HIDDEN] if HIDDEN in cell.tags else [], "mystnb": {**words, **image}}


def _shown(file: Path, alt: str) -> dict[str, str]:
    """A picture, or a page in a frame, as data of a notebook."""
    text = file.read_text("utf-8")
    if file.suffix == ".svg":
        return {"image/svg+xml": text}
    return {"text/html": f'<iframe srcdoc="{escape(text)}" title="{escape(alt)}" class="page-in-page"></iframe>'}


if __name__ == "__main__":
    for path in [Path(name).resolve() for name in sys.argv[1:]]:
        with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
            new = brought_up_to_date(pages.text_of(path), path.name)
        path.write_text(new, encoding="utf-8")
