"""Runs in a sequence: the same pattern several times in a row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

_LONGEST = 48                    # of a pattern
_FEWEST = 3                      # times that a pattern must occur to be a run
_LOOP = 8                        # times that a pattern without a mark must occur
_LARGE = 24                      # items that all these times must have together


class Run(NamedTuple):
    """The `length` items from `start` on occur `times` times in a row."""

    start: int
    length: int
    times: int

    @property
    def end(self) -> int:
        """The place after the run."""
        return self.start + self.length * self.times


def runs_in(items: Sequence[Hashable], marked: Sequence[bool]) -> list[Run]:
    """The runs of a sequence, without overlaps. A pattern without an item that is marked must occur more often.

    Of several patterns that begin at one place, the pattern is taken that covers most, and then the shortest.
    """
    found, start = [], 0
    while start < len(items):
        best = max((_run_at(items, start, length) for length in range(1, _LONGEST + 1)),
                   key=lambda run: (run.end, -run.length))
        known = any(marked[start: start + best.length])
        if best.times >= _FEWEST and (known or (best.times >= _LOOP and best.end - best.start >= _LARGE)):
            found.append(best)
            start = best.end
        else:
            start += 1
    return found


def _run_at(items: Sequence[Hashable], start: int, length: int) -> Run:
    """How often the pattern of this length repeats from here on; no more than once counts as an empty run."""
    end = start + length
    while end < len(items) and items[end] == items[end - length]:
        end += 1
    times = (end - start) // length
    return Run(start, length, times) if times > 1 else Run(start, 1, 0)
