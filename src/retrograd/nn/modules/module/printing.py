"""The text of a module: its name, and in parentheses its contents. This module must not know what a module holds."""

from __future__ import annotations

__all__ = ["_addindent", "framed", "indented"]


def _addindent(s_: str, numSpaces: int) -> str:
    """A text whose lines after the first stand `numSpaces` columns further to the right."""
    return s_.replace("\n", "\n" + numSpaces * " ")


def indented(text: str) -> str:
    """A text whose lines after the first stand two columns further to the right."""
    return _addindent(text, 2)


def framed(name: str, extra: list[str], children: list[str]) -> str:
    """A name, and in parentheses its contents: on one line if there is one entry and no child."""
    lines = extra + children
    if not lines:
        return f"{name}()"
    if len(extra) == 1 and not children:
        return f"{name}({extra[0]})"
    inner = "\n  ".join(lines)
    return f"{name}(\n  {inner}\n)"
