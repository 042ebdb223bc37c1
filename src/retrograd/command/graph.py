"""Run a program unchanged, and draw the graph of its first backward pass."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from retrograd.command.run import add_program, run as run_program
from retrograd.viz.passes import awaiting, drawing, writing
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
    drawn = _Drawn(options.output or ("" if options.text else "graph.svg"))
    with awaiting(1, writing if options.text else drawing, lambda count: None, drawn.write):
        try:
            run_program(options)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        finally:
            if not drawn.done:
                drawn.say("no graph: the program ran no backward pass")
    return 0 if drawn.written else 1


class _Drawn:
    """Writes what was drawn to a file, or to the terminal if there is no name of a file."""

    def __init__(self, output: str) -> None:
        self.output, self.done, self.written = output, False, False

    def say(self, text: str) -> None:
        """Write a line that is not the program's."""
        print(f"retrograd: {text}", file=sys.stderr)

    def write(self, found: Picture | str | Exception) -> None:
        """Write the picture or the text and say where; or say why there is none."""
        self.done = True
        if isinstance(found, Exception):
            self.say(f"no graph: {type(found).__name__}: {found}")
            return
        if not self.output:
            print(found, flush=True)
        else:
            try:
                Path(self.output).write_text(f"{found}\n" if isinstance(found, str) else found.svg, encoding="utf-8")
            except OSError as error:
                self.say(f"cannot write {self.output!r}: {error.strerror}")
                return
            self.say(f"wrote {self.output}: the graph of the first backward pass")
        self.written = True
