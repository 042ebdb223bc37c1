"""Run a program unchanged, and draw the graph of its first backward pass."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from retrograd.command.cli import printable
from retrograd.command.run import add_program
from retrograd.command.watching import Watch
from retrograd.viz.passes import drawing, writing
from retrograd.viz.pictures import Picture

_EPILOG = """\
examples:
  retrograd graph train.py                          the picture of the first backward pass, to graph.svg
  retrograd graph -o small.svg train.py --layers 2  all arguments after train.py are the program's
  retrograd graph --text train.py                   a text tree, to the terminal
  retrograd graph -m package.train

The program runs to its end. The exit status is the program's own, or 1 if there was no backward pass or no picture."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd graph``."""
    parser.description = ("Run a program as `retrograd run` does, and draw the graph of its first backward pass. "
                          "Leaves have the names of parameters and variables, and frames show the modules.")
    parser.epilog = _EPILOG
    parser.add_argument("-o", dest="output", metavar="FILE", help="the picture (default: graph.svg), or with --text "
                        "the text (default: the terminal)")
    parser.add_argument("--text", action="store_true", help="write the graph as a text tree")
    add_program(parser)


def run(options: argparse.Namespace) -> int:
    """Run the program, and draw when the pass comes. Returns the exit status of a program that ends."""
    end = Path(options.output or "").suffix.lower()
    if not options.text and end not in ("", ".svg"):
        other = "; a page is written by retrograd explore" * (end == ".html")
        print(f"retrograd: the picture is an .svg file, not {end}{other}", file=sys.stderr)
        return 2
    drawn = _Drawn(1, options.output or (None if options.text else "graph.svg"))
    return drawn.run(options, writing if options.text else drawing)


class _Drawn(Watch):
    def put(self, found: Picture | str) -> str:
        if self.output is None:
            print(printable(str(found)), flush=True)     # some encodings have no signs for lines
            return ""
        Path(self.output).write_text(f"{found}\n" if isinstance(found, str) else found.svg, encoding="utf-8")
        return f"wrote {self.output}: the graph of the first backward pass"

    def refused(self, error: Exception) -> str:
        return f"no graph: {type(error).__name__}: {error}"

    def absent(self, count: int) -> str:
        return "no graph: the program ran no backward pass in its main thread"
