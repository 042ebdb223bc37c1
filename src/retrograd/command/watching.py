"""Run a program unchanged, look at one of its backward passes, and write what was found."""

from __future__ import annotations

import argparse
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from retrograd.command.cli import close_output
from retrograd.command.run import run as run_program
from retrograd.viz.passes import awaiting
from retrograd.viz.terminal import Line


class Watch(ABC):
    """Waits for the backward pass `number`. `output` is the name of a file; None means the terminal.

    With `stop`, the program ends when the pass comes, after what was found is written.

    Until the pass comes, a line of the terminal counts the passes, if there is a terminal and the passes take long.
    """

    def __init__(self, number: int, output: str | None, stop: bool = False) -> None:
        self.number, self.output, self.stop, self.done, self.written = number, output, stop, False, False
        self.line = Line()

    @abstractmethod
    def put(self, found: Any) -> str:
        """Write what was found. Returns what to say of it, '' for nothing."""

    @abstractmethod
    def refused(self, error: Exception) -> str:
        """What to say if the look raised an error."""

    @abstractmethod
    def absent(self, count: int) -> str:
        """What to say if the program ended after `count` passes, before the awaited one."""

    def run(self, options: argparse.Namespace, look: Callable[..., Any]) -> int:
        """Run the program. Returns the exit status of a program that ends: 1 if nothing was written."""
        with awaiting(self.number, look, self._count, self._write) as awaited:
            try:
                run_program(options)
            except SystemExit as end:
                if end.code not in (None, 0):
                    raise
            finally:
                if not self.done:
                    self._say(self.absent(awaited.count))
        return 0 if self.written else 1

    def _count(self, count: int) -> None:
        if self.line.due and count < self.number:
            self.line.show(f"retrograd: backward pass {count} of {self.number}")

    def _say(self, text: str) -> None:
        """Write a line, in place of the count."""
        self.line.clear()
        print(f"retrograd: {text}", file=sys.stderr)

    def _write(self, found: Any) -> None:
        self.done = True
        self._put(found)
        if self.stop:
            raise SystemExit

    def _put(self, found: Any) -> None:
        if isinstance(found, Exception):
            self._say(self.refused(found))
            return
        try:
            text = self.put(found)
        except OSError as error:
            if self.output is None:
                if not isinstance(error, BrokenPipeError):
                    raise
                close_output()                           # such as `retrograd graph --text train.py | head`
                return
            self._say(f"cannot write {self.output!r}: {error.strerror}")
            return
        self.written = True
        if text:
            self._say(text)
