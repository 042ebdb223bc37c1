"""Run a program unchanged, and write one of its backward passes as a page in which one can walk through the pass."""

from __future__ import annotations

import argparse
import sys

from retrograd.command.run import add_program, run as run_program
from retrograd.viz.exploring import Explored
from retrograd.viz.passes import awaiting, exploring
from retrograd.viz.terminal import Line

_EPILOG = """\
examples:
  retrograd explore train.py                        the first backward pass of train.py, to step.html
  retrograd explore -o late.html --pass 100 train.py --epochs 3
  retrograd explore -m package.train

The program runs to its end. The exit status is the program's own, or 1 if there was no such pass or no page."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd explore``."""
    parser.description = ("Run a program as `retrograd run` does, and write a page of one of its backward passes: the "
                          "graph, its values and gradients, node by node.")
    parser.epilog = _EPILOG
    parser.add_argument("-o", dest="output", metavar="FILE", default="step.html", help="the page (default: step.html)")
    parser.add_argument("--pass", dest="number", metavar="N", type=_positive, default=1,
                        help="which backward pass, counted from 1 (default: 1)")
    add_program(parser)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_positive.__name__ = "positive int"                      # argparse names it in its message


def run(options: argparse.Namespace) -> int:
    """Run the program, and write the page when the pass comes. Returns the exit status of a program that ends."""
    watch = _Watch(options.number, options.output)
    program = options.module or options.script
    look = exploring(f"Backward pass {options.number} of {program}", program)
    with awaiting(options.number, look, watch.count, watch.write) as awaited:
        try:
            run_program(options)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        finally:
            if not watch.done:
                watch.say(f"no page: the program ran {awaited.count} backward pass{'es' * (awaited.count != 1)}, and "
                          f"pass {options.number} was to be explored")
    return 0 if watch.written else 1


class _Watch:
    """Writes the page. Before, it counts the passes on a line of the terminal, if there is one and they take long."""

    def __init__(self, number: int, output: str) -> None:
        self.number, self.output, self.done, self.written = number, output, False, False
        self.line = Line()

    def count(self, count: int) -> None:
        """A backward pass begins."""
        if self.line.due and count < self.number:
            self.line.show(f"retrograd: backward pass {count} of {self.number}")

    def say(self, text: str) -> None:
        """Write a line, in place of the count."""
        self.line.clear()
        print(f"retrograd: {text}", file=sys.stderr)

    def write(self, found: Explored | Exception) -> None:
        """Write the page and say where; or say why there is none."""
        self.done = True
        if isinstance(found, Exception):
            self.say(f"no page: backward pass {self.number} raised {type(found).__name__}")
            return
        try:
            found.save(self.output)
        except OSError as error:
            self.say(f"cannot write {self.output!r}: {error.strerror}")
            return
        self.written = True
        self.say(f"wrote {self.output}: backward pass {self.number}, {found.document['totals']['nodes']} nodes")
