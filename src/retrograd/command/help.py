"""Show an entry of the documentation on errors in the terminal, found by its name or by a part of a message."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from retrograd.command import entries
from retrograd.command.cli import close_output

_EXAMPLES = """examples:
  retrograd help                                    # list the entries
  retrograd help modified-in-place                  # as the last line of a message says
  retrograd help "one of the variables needed"      # a part of a message"""
_WIDTH = 88                 # the most columns of a line


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd help``."""
    parser.description = "Show what an error means: a program that fails with it, and one that works."
    parser.epilog = _EXAMPLES
    parser.add_argument("words", nargs="*", metavar="NAME", help="the name of an entry, or a part of a message")


def run(options: argparse.Namespace) -> int:
    """Print the entry, or the list of entries that fit. Returns 1 if none fits."""
    asked, everything = " ".join(options.words), entries.entries()
    color = sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = min(_WIDTH, shutil.get_terminal_size().columns)
    if not asked:
        return _print(entries.listing(everything, width, color))
    found = entries.found_by(asked, everything)
    if len(found) == 1:
        return _print(entries.shown(found[0], width, color))
    if found:
        return _print(f"{len(found)} entries have this text:\n\n{entries.listing(found, width, color)}")
    close = [entry.name for entry in entries.nearest(asked, everything)]
    print(f"retrograd: no entry has the name or the text {asked!r}" + (
        f"; the nearest: {', '.join(close)}" if close else "") + ". `retrograd help` lists them.", file=sys.stderr)
    return 1


def _print(text: str) -> int:
    try:
        print(text, flush=True)
    except BrokenPipeError:                             # the reader, such as `head`, has enough
        close_output()
    return 0
