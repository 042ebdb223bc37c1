"""The files that one reads to understand how a gradient is computed: those that the program of the tour enters.

    PYTHONPATH=tests python -m showing.reading_list

Run it to write the table into docs/tour.md, and its length into README.md. A file's sentence is the first paragraph of
its docstring.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import retrograd
from showing import pages

SOURCE = pages.ROOT / "src" / "retrograd"
PAGE, README = pages.ROOT / "docs" / "tour.md", pages.ROOT / "README.md"
BEGINNING, END = "<!-- The files, written by `make pages`. -->\n", "<!-- end -->\n"
ROW = re.compile(r"^\| (\d+) \| `([\w/]+\.py)` \| ([\d,]+) \| `([^`]+)` \| (.+) \|$", re.MULTILINE)
FILE = re.compile(r"`([\w/]+\.py)`")
LENGTH = re.compile(r"its (\d+)(\sfiles, about\s)([\d,]+)(\slines)")


class Entered(NamedTuple):
    """The files that a program enters.

    `listed` maps the files of the list to the line of the program that first enters them. `making` are the files that
    only the line enters that makes the tensor. `first` are those that only the first run enters.
    """

    listed: dict[str, str]
    making: list[str]
    first: list[str]


def program() -> list[str]:
    """The lines of the program above the table. The first imports the package, and the second makes a tensor."""
    *_, found = pages.programs(PAGE.name, pages.text_of(PAGE).partition(BEGINNING)[0])
    return [ast.unparse(line) for line in ast.parse(found.blocks[-1].source).body]


def entered() -> Entered:
    """The files that the program enters. Call this in a fresh process: a first run makes what later runs use."""
    first, found = run(program()), run(program())
    _, (_, making), *rest = found
    listed: dict[str, str] = {}
    for line, entered_by_line in rest:
        for file in entered_by_line:
            listed.setdefault(file, line)
    once = dict.fromkeys(file for _, entered_by_line in first[1:] for file in entered_by_line)
    return Entered(listed, [file for file in making if file not in listed],
                   [file for file in once if file not in {*listed, *making}])


def run(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Each line of a program, with the files that it enters, in order."""
    names: dict[str, Any] = {}
    return [(line, files_of(compile(line, pages.FILE, "exec"), names)) for line in lines]


def files_of(code: CodeType, names: dict[str, Any]) -> list[str]:
    """The files of the package that code enters, in the order in which it first enters them."""
    package = Path(retrograd.__file__).parent
    found: dict[str, None] = {}

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            found[frame.f_code.co_filename] = None

    sys.setprofile(note)
    try:
        exec(code, names)
    finally:
        sys.setprofile(None)
    return [Path(file).relative_to(package).as_posix() for file in found if package in Path(file).parents]


def sentence(file: str) -> str:
    """What a file is for, by its docstring."""
    said = ast.get_docstring(ast.parse(pages.text_of(SOURCE / file))) or ""
    return pages.in_one_line(said.partition("\n\n")[0])


def lines_of(file: str) -> int:
    return len(pages.text_of(SOURCE / file).splitlines())


def table(found: Entered) -> str:
    """The list as a page shows it, with the files that are not on it."""
    rows = [f"| {number} | `{file}` | {lines_of(file)} | `{line}` | {sentence(file)} |"
            for number, (file, line) in enumerate(found.listed.items(), 1)]
    return "\n".join([
        "| | file | lines | entered by | what it is |", "|---|---|---:|---|---|", *rows, "",
        f"These are {len(rows)} files, about {about(sum(map(lines_of, found.listed)))} lines. The line that makes `x` "
        f"also enters {in_words(found.making)}, which do nothing with gradients. The first call of an operator also "
        f"enters {in_words(found.first)}, to make the class of its nodes.", ""])


def in_words(names: list[str]) -> str:
    *most, last = [f"`{name}`" for name in names]
    return f"{', '.join(most)} and {last}" if most else last


def about(lines: int) -> str:
    """A number of lines, rounded."""
    return f"{round(lines, -2):,}"


def listed(page: str) -> dict[str, tuple[int, str]]:
    """The files that a page lists, with their lines and their sentences."""
    return {file: (int(lines), said) for _, file, lines, _, said in ROW.findall(page)}


def updated(page: str, found: Entered) -> str:
    """The page with the list as it is now."""
    above, _, rest = page.partition(BEGINNING)
    return f"{above}{BEGINNING}\n{table(found)}\n{END}{rest.partition(END)[2]}"


def length_updated(readme: str, found: Entered) -> str:
    """The README with the length of the list as it is now."""
    length = about(sum(map(lines_of, found.listed)))
    return LENGTH.sub(lambda match: f"its {len(found.listed)}{match[2]}{length}{match[4]}", readme)


if __name__ == "__main__":
    everything = entered()
    PAGE.write_text(updated(pages.text_of(PAGE), everything), encoding="utf-8")
    README.write_text(length_updated(pages.text_of(README), everything), encoding="utf-8")
