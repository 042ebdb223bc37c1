"""A line on the terminal that tells how far a long loop is."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")
_FIRST, _EVERY = 1., 0.1            # seconds until the line is shown, and from one text to the next


class Line:
    """One line of standard error that is written again and again. There is no line if standard error is no terminal."""

    def __init__(self) -> None:
        self.terminal, self.shown = sys.stderr is not None and sys.stderr.isatty(), False
        self.next = time.monotonic() + _FIRST

    @property
    def due(self) -> bool:
        """Whether a new text is to be shown now."""
        return self.terminal and time.monotonic() >= self.next

    def show(self, text: str) -> None:
        """Show a text in place of the former text, cut to the width of the terminal."""
        self.shown, self.next = True, time.monotonic() + _EVERY
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove the text."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        self.shown = False


def progress(items: Iterable[T], text: str = "", total: int | None = None) -> Iterator[T]:
    """The items of a long loop. A line on the terminal tells how many items are done, and how long the rest will take.

    The line stands on standard error, from the first second until the loop ends. If standard error is no terminal,
    there is no line. `text` begins the line. `total` is the number of items; the length of `items`, if they have one.

    >>> import retrograd as torch
    >>> for step in torch.viz.progress(range(3), "training"):
    ...     print(step)
    0
    1
    2
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    line, began = Line(), time.monotonic()
    try:
        for done, item in enumerate(items, 1):
            yield item
            if line.due:
                line.show(f"{text}{': ' * bool(text)}{_state(done, total, time.monotonic() - began)}")
    finally:
        line.clear()


def _state(done: int, total: int | None, seconds: float) -> str:
    """How many items are done, their speed, and the time that is left if the total is known."""
    speed = f"{done / seconds:.3g} per second" if done > seconds else f"{seconds / done:.3g} seconds each"
    if total is None:
        return f"{done}, {speed}"
    left = round(seconds / done * max(total - done, 0))
    return f"{done} of {total} ({done / max(total, 1):.0%}), {speed}, {left // 60}:{left % 60:02} left"
