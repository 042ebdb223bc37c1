"""Run a program unchanged, and write one of its backward passes as a page in which one can walk through the pass."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

from retrograd.command.run import add_program
from retrograd.command.watching import Watch
from retrograd.viz.beside import summary
from retrograd.viz.explorer.page import document_in
from retrograd.viz.exploring import Explored
from retrograd.viz.passes import exploring

_EPILOG = """\
examples:
  retrograd explore train.py                        the first backward pass of train.py, to step.html
  retrograd explore --open --stop train.py          the same page, at once, in a browser
  retrograd explore --beside before.html train.py   what differs from an earlier page is marked
  retrograd explore -o late.html --pass 100 train.py --epochs 3
  retrograd explore -m package.train

The program runs to its end, or with --stop until the page is written. The exit status is the program's own, or 1 if
there was no such pass or no page."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd explore``."""
    parser.description = ("Run a program as `retrograd run` does, and write a page of one of its backward passes: the "
                          "graph, its values and gradients, node by node.")
    parser.epilog = _EPILOG
    parser.add_argument("-o", dest="output", metavar="FILE", default="step.html", help="the page (default: step.html)")
    parser.add_argument("--pass", dest="number", metavar="N", type=_positive, default=1,
                        help="which backward pass, counted from 1 (default: 1)")
    parser.add_argument("--beside", metavar="PAGE", help="an earlier page, whose pass is shown beside this one; what "
                        "differs is marked")
    parser.add_argument("--open", action="store_true", help="show the page in a browser once it is written")
    parser.add_argument("--stop", action="store_true", help="end the program after the page is written")
    add_program(parser)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_positive.__name__ = "positive int"                      # argparse names it in its message


def run(options: argparse.Namespace) -> int:
    """Run the program, and write the page when the pass comes. Returns the exit status of a program that ends."""
    program = options.module or options.script
    try:
        other = options.beside and Explored(document_in(Path(options.beside).read_text("utf-8")))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        print(f"retrograd: cannot read {options.beside!r}: {why}", file=sys.stderr)
        return 2
    look = exploring(f"Backward pass {options.number} of {program}", program, other or None,
                     ("this run", Path(options.beside or "").name))
    return _Page(options.number, options.output, options.open, options.stop).run(options, look)


class _Page(Watch):
    def __init__(self, number: int, output: str, browser: bool, stop: bool) -> None:
        super().__init__(number, output, stop)
        self.browser = browser

    def put(self, found: Explored) -> str:
        assert self.output is not None
        found.save(self.output)
        if self.browser and not webbrowser.open(Path(self.output).resolve().as_uri()):
            self._say("no browser can be opened here")
        differs = f"; {summary(found.document)}" if "beside" in found.document else ""
        return f"wrote {self.output}: backward pass {self.number}, {found.document['totals']['nodes']} nodes{differs}"

    def refused(self, error: Exception) -> str:
        return f"no page: backward pass {self.number} raised {type(error).__name__}"

    def absent(self, count: int) -> str:
        return (f"no page: the program ran {count} backward pass{'es' * (count != 1)} in its main thread, and pass "
                f"{self.number} was to be explored")
