"""Pieces of programs with hidden state, as texts; `reading` makes `Piece`s of them.

A piece begins with its name after `##`. A star after the name says that a program of this piece alone stays compiled.
Lines that begin with `>` are what the compiled function does with `x` (and with `y` and `kw`, its other arguments),
lines with `~` what changes before call number `i`, lines with `<` which arguments the call has, and lines with `?` name
what is compared after each call. All other lines prepare the piece. `$` stands for the number of the piece in its
program, and `SCOPE` for `global` or `nonlocal`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Piece(NamedTuple):
    """One hidden state: how it is made, used, changed, and looked at. `stays` says that it stays compiled alone."""

    name: str
    stays: bool
    setup: tuple[str, ...]
    use: tuple[str, ...]
    change: tuple[str, ...]
    given: tuple[str, ...]
    left: tuple[str, ...]

    def lines(self, part: str, number: int, scope: str) -> list[str]:
        """The lines of a part, for the piece with this number in a program."""
        return [line.replace("$", str(number)).replace("SCOPE", scope) for line in getattr(self, part)]


_PARTS = {"> ": "use", "~ ": "change", "< ": "given", "? ": "left"}


def read(text: str) -> list[Piece]:
    """The pieces in a text."""
    found = []
    for block in text.split("\n## ")[1:]:
        name, *lines = block.rstrip().splitlines()
        parts: dict[str, list[str]] = {part: [] for part in ("setup", *_PARTS.values())}
        for line in lines:
            part = _PARTS.get(f"{line} "[:2])
            parts["setup" if part is None else part].append(line if part is None else line[2:])
        found.append(Piece(name.removesuffix(" *"), name.endswith(" *"),
                           **{part: tuple(kept) for part, kept in parts.items()}))
    return found


PIECES = {piece.name: piece for file in sorted(Path(__file__).parent.glob("*.txt")) for piece in read(file.read_text())}
