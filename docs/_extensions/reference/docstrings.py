"""Docstrings as nodes of a page: paragraphs, lists, examples. Words between backticks are code."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from docutils import nodes

WIDTH = 88          # the most columns of a line of code
_SPAN = re.compile(r"(``?)(.+?)\1", re.DOTALL)


def words(text: str) -> Iterator[nodes.Node]:
    """The text of a paragraph, with its code."""
    end = 0
    for span in _SPAN.finditer(text):
        yield nodes.Text(text[end:span.start()])
        yield nodes.literal("", span[2])
        end = span.end()
    yield nodes.Text(text[end:])


def paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph("", "", *words(" ".join(text.split())))


def code(text: str, language: str = "python") -> nodes.literal_block:
    """A block of code, with its lines broken where they are wider than a page."""
    shown = "\n".join(piece for line in text.splitlines() for piece in broken(line))
    return nodes.literal_block(shown, shown, language=language)


def broken(line: str) -> Iterator[str]:
    """A line in pieces that fit on a page. Python takes the pieces of a statement for this statement."""
    if len(line) <= WIDTH:
        yield line
        return
    pieces = [*_pieces(line)]
    start = len(line) - len(re.sub(r"^(>>> |\.\.\. )?\s*", "", line))
    try:
        whole = "\n".join(piece[4 if at else start:] for at, piece in enumerate(pieces))
        ast.parse(f"{whole} pass" if line.endswith(":") else whole)
    except SyntaxError:
        pieces = [*_pieces(line[:start] + _enclosed(line[start:]))]
    yield from pieces


def _pieces(line: str) -> Iterator[str]:
    prose = line.lstrip().startswith('"""')
    indent = " " * (len(line) - len(line.lstrip()) + (0 if prose else 4))
    if line.startswith((">>> ", "... ")):
        indent = "...     "
    while len(line) > WIDTH:
        at, string = _in_prose(line, len(indent)) if prose else _in_code(line, len(indent))
        if not at:
            break
        yield line[:at].rstrip(" " if not string else "") + string[-1:]
        line = indent + string + line[at:].lstrip()
    yield line


def _enclosed(code: str) -> str:
    """A statement with brackets around its value, so that it may be broken anywhere. The code, if it is none."""
    try:
        (statement,) = ast.parse(f"{code} pass" if code.endswith(":") else code).body
    except (SyntaxError, ValueError):                      # a part of a statement, or none
        return code
    if isinstance(statement, ast.With):
        first, item = statement.items[0].context_expr, statement.items[-1]
        last = item.optional_vars or item.context_expr
    elif isinstance(statement, ast.If | ast.While):
        first = last = statement.test
    elif isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return) and statement.value:
        first = last = statement.value
    else:
        return code
    encoded, start, end = code.encode(), first.col_offset, last.end_col_offset            # which count bytes
    parts = encoded[:start], encoded[start:end], encoded[end:]
    before, inside, after = [part.decode() for part in parts]
    return f"{before}({inside}){after}"


def joined(lines: list[str]) -> str:
    """A statement of several lines in one line, if it is to be broken anew because a line of it is too wide."""
    if all(len(line) <= WIDTH for line in lines) or any("#" in line for line in lines):
        return "\n".join(lines)
    text = lines[0] + "".join(f" {line.strip()}" for line in lines[1:])
    return re.sub(r"(?<=[(\[{]) (?=\S)", "", text)


# Where code is broken: the best kind of place first.
_PLACES = re.compile(r"(?P<comma>, )|(?P<word> (?=(?:if|else|and|or|for) )|: (?=lambda))|"
                     r"(?P<sign> (?=[-+*/@<>|&=!]=? ))|(?P<bracket>(?<=[(\[{])(?=\S))")
_KINDS = ("comma", "word", "sign", "bracket")
_STRING = re.compile(r"[rbf]?(\"[^\"]*\"|'[^']*')")


def _in_prose(line: str, indent: int) -> tuple[int, str]:
    spaces = [match.end() for match in re.finditer(r"(?<=\S) (?=\S)", line) if indent + 4 < match.end() < WIDTH]
    return max(spaces, default=0), ""


def _in_code(line: str, indent: int) -> tuple[int, str]:
    """Where to break a line, and how the string begins that is broken there. 0 if there is no place."""
    strings = [(match.start(), match.end(), line[match.start():match.start(1) + 1]) for match in _STRING.finditer(line)]
    comment = re.search(r"  +#", line)
    if comment and comment.start() <= WIDTH:
        return (comment.end() - 1, "") if comment.start() > indent else _in_prose(line, indent)
    plain = list(line)
    for start, end, _ in strings:
        plain[start:end] = "s" * (end - start)
    code = "".join(plain)
    places = [(_depth(code[:match.start()]), _KINDS.index(match.lastgroup or ""), -match.end(), match)
              for match in _PLACES.finditer(code) if indent + 20 < match.start() and match.start() < WIDTH]
    if places:
        match = min(places)[3]
        return (match.end() if match.lastgroup in ("comma", "bracket") else match.start()), ""
    inside = [(at, string) for start, end, string in strings for at in range(start + 8, min(end, WIDTH - 1))
              if line[at - 1] == " "]
    return max(inside, default=(0, ""))


def _depth(code: str) -> int:
    return sum(code.count(sign) for sign in "([{") - sum(code.count(sign) for sign in ")]}")


def shortened(text: str, most: int = 400) -> str:
    """A text in one line, with dots for its end if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]} ..."


def first_sentence(text: str) -> str:
    """The first sentence of a docstring, in one line."""
    paragraph = " ".join(re.split(r"\n\s*\n|\n\s*>>>", text.strip())[0].split())
    end = re.search(r"(?<!\be\.g)(?<!\bi\.e)[.:](?= [A-Z`]|$)", paragraph)
    return paragraph if end is None else paragraph[:end.start()] + "."


def content(text: str) -> Iterator[nodes.Node]:
    """The nodes of a docstring."""
    items: nodes.bullet_list | None = None
    for block in filter(None, re.split(r"\n\s*\n", text.strip())):
        lines = block.splitlines()
        if lines[0].lstrip().startswith(">>>"):
            items = None
            yield code(textwrap.dedent(block), "pycon")
        elif lines[0].startswith("    "):
            items = None
            yield code(textwrap.dedent(block))
        elif "- " in (lines[0][:2], *[line[:2] for line in lines]):
            before = list(_until_item(lines))
            if before:
                yield paragraph("\n".join(before))
                items = None
            if items is None:
                items = nodes.bullet_list()
                yield items
            for item in re.split(r"^- ", "\n".join(lines[len(before):]), flags=re.MULTILINE)[1:]:
                items += nodes.list_item("", paragraph(item))
        else:
            items = None
            yield from _with_examples(lines)


def _until_item(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("- "):
            return
        yield line


def _with_examples(lines: list[str]) -> Iterator[nodes.Node]:
    """A paragraph, and the example that follows without an empty line between."""
    at = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), len(lines))
    if at:
        yield paragraph("\n".join(lines[:at]))
    if at < len(lines):
        yield code(textwrap.dedent("\n".join(lines[at:])), "pycon")
