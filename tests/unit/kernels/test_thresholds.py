"""Each threshold of the kernels is used, and has words on what has set it."""

from __future__ import annotations

import ast
from pathlib import Path

import retrograd
from retrograd.kernels import thresholds

SOURCE = Path(retrograd.__file__).parent
NAMES = sorted(name for name in vars(thresholds) if name.isupper())


def used() -> set[str]:
    """The names that other modules import from that of the thresholds, and use."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "thresholds" not in text:
            continue
        tree = ast.parse(text)
        taken = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                 and (node.module or "").endswith("thresholds") for alias in node.names}
        found |= taken & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found


def test_each_is_used() -> None:
    assert sorted(used()) == NAMES


def test_each_has_words_above() -> None:
    text = Path(str(thresholds.__file__)).read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            above = node.lineno - 2
            while "=" in lines[above] and not lines[above].startswith("#"):     # another number with the same words
                above -= 1
            assert lines[above].startswith("# ")

