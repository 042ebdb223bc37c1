"""Checks that a text holds words in an order, for tests of what a program prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple


class _Check(NamedTuple):
    """One check: its kind, what it looks for, and how often."""

    kind: str
    words: str
    times: int = 1
    exactly: bool = False


class FileCheck:
    """A list of checks of a text. Each `check` adds one and returns the list; `run` looks at a text.

    Each match is looked for after the match before. Words of `check_not` must not stand between the matches around
    them. `run` raises RuntimeError if a check fails, or if there is none.

    >>> FileCheck().check("one").check_not("two").check_same("three").run("one and three")
    """

    __module__ = "torch"

    def __init__(self) -> None:
        self._checks: list[_Check] = []

    def check(self, test_string: str) -> FileCheck:
        """Look for words anywhere after the match before."""
        return self._add("CHECK", test_string)

    def check_not(self, test_string: str) -> FileCheck:
        """Refuse words between the matches before and after, or up to the end of the text."""
        return self._add("CHECK-NOT", test_string)

    def check_same(self, test_string: str) -> FileCheck:
        """Look for words on the line of the match before."""
        return self._add("CHECK-SAME", test_string)

    def check_next(self, test_string: str) -> FileCheck:
        """Look for words on the line after the match before."""
        return self._add("CHECK-NEXT", test_string)

    def check_dag(self, test_string: str) -> FileCheck:
        """Look for words; the checks of this kind that follow each other may match in any order."""
        return self._add("CHECK-DAG", test_string)

    def check_regex(self, test_string: str) -> FileCheck:
        """Look for a match of a regular expression."""
        return self._add("CHECK-REGEX", test_string)

    def check_count(self, test_string: str, count: int, exactly: bool = False) -> FileCheck:
        """Look for words `count` times; with `exactly`, refuse them in the rest of the text."""
        self._checks.append(_Check("CHECK-COUNT", test_string, count, exactly))
        return self

    def _add(self, kind: str, words: str) -> FileCheck:
        self._checks.append(_Check(kind, words))
        return self

    def run(self, test_file: str) -> None:
        """Look at a text. Raises RuntimeError for the first check that fails."""
        if not self._checks:
            raise RuntimeError("No checks have been added to this instance ofFilecheck! Check for bad input.")
        place, refused = 0, list[_Check]()
        for one in _grouped(self._checks):
            if one[0].kind == "CHECK-NOT":
                refused += one
                continue
            start, end = _found(test_file, place, one)
            for other in refused:
                _refuse(test_file, place, start, other)
            place, refused = end, []
        for other in refused:
            _refuse(test_file, place, len(test_file), other)


def _grouped(checks: list[_Check]) -> Iterator[list[_Check]]:
    """The checks one by one, but those of `check_dag` that follow each other together."""
    for kind, group in groupby(checks, key=lambda check: check.kind):
        if kind == "CHECK-DAG":
            yield [*group]
        else:
            yield from ([check] for check in group)


def _found(text: str, place: int, checks: list[_Check]) -> tuple[int, int]:
    """Where the first match of a check, or of a group, begins, and where the last one ends."""
    if checks[0].kind == "CHECK-DAG":
        spans = [_span(text, place, check) for check in checks]
        return min(spans)[0], max(end for _, end in spans)
    check = checks[0]
    first, end = _span(text, place, check)
    if check.kind in ("CHECK-SAME", "CHECK-NEXT"):
        lines = text.count("\n", place, first)
        if lines > (check.kind == "CHECK-NEXT"):
            raise RuntimeError(f'Expected to not find "\\n" but found it\n{text}\nFrom {check.kind}: {check.words}\n')
        if check.kind == "CHECK-NEXT" and not lines:
            raise RuntimeError(f'Expected to find "\\n" but did not find it\nSearched string:\n{text}\nFrom '
                               f"{check.kind}: {check.words}\n")
    for _ in range(check.times - 1):
        end = _span(text, end, check)[1]
    if check.exactly:
        _refuse(text, end, len(text), check._replace(kind="CHECK-NOT"))
    return first, end


def _span(text: str, place: int, check: _Check) -> tuple[int, int]:
    pattern = check.words if check.kind == "CHECK-REGEX" else re.escape(check.words)
    match = re.compile(pattern).search(text, place)
    if match is None:
        raise RuntimeError(f'Expected to find "{check.words}" but did not find it\nSearched string:\n{text[place:]}'
                           f"From {check.kind}: {check.words}\n")
    return match.span()


def _refuse(text: str, start: int, end: int, check: _Check) -> None:
    place = text.find(check.words, start, end)
    if place >= 0:
        begins, stops = text.rfind("\n", 0, place) + 1, text.find("\n", place) % (len(text) + 1)
        here = f"{' ' * (place - begins)}{'~' * len(check.words)} <--- HERE"
        raise RuntimeError(f'Expected to not find "{check.words}" but found it\n{text[:stops]}\n{here}{text[stops:]}\n'
                           f"From {check.kind}: {check.words}\n")
