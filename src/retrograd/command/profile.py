"""Run a program and show which operators took the time: as a table, as a flame graph, or as a trace for a browser."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retrograd.autograd.profiler import profile, record_function
from retrograd.command import flame
from retrograd.command.cli import close_output, flush_output, printable
from retrograd.command.run import add_program, run as run_program
from retrograd.nn.modules.module import Module

_SORTED = {"self": "self_cpu_time_total", "total": "cpu_time_total", "average": "cpu_time", "calls": "count",
           "memory": "self_cpu_memory_usage"}
_EXAMPLES = """examples:
  retrograd profile train.py --epochs 1
  retrograd profile --sort calls --rows 10 train.py
  retrograd profile --flame profile.svg --trace trace.json -m package.train

The options stand before the program; what stands after it belongs to the program. The exit status is the program's,
or 2 if a file cannot be read or written."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd profile``."""
    parser.description = ("Run a program as `retrograd run` does, and then print a table of its operators, as "
                          "torch.profiler does.")
    parser.epilog = _EXAMPLES
    parser.add_argument("--sort", choices=_SORTED, default="self", metavar="KEY",
                        help=f"sort the table by {', '.join(_SORTED)} (the default is self)")
    parser.add_argument("--rows", type=int, default=30, metavar="N", help="rows of the table (30); -1 shows all")
    parser.add_argument("--shapes", action="store_true", help="a row for each shape of the inputs")
    parser.add_argument("--memory", action="store_true", help="show the bytes that results take")
    parser.add_argument("--flame", metavar="FILE", help="write a flame graph to this SVG file")
    parser.add_argument("--trace", metavar="FILE", help="write a trace for chrome://tracing or ui.perfetto.dev")
    add_program(parser)


def run(options: argparse.Namespace) -> int | None:
    """Run the program and report. The end of the program, by an error or an exit, passes through after the report."""
    for path in filter(None, (options.flame, options.trace)):
        if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path) or "."):
            print(f"retrograd: cannot write {path!r}: it is no file in an existing folder", file=sys.stderr)
            return 2
    undo = _show_modules() if options.flame or options.trace else None
    watch = profile(record_shapes=options.shapes, profile_memory=options.memory or options.sort == "memory")
    start = time.perf_counter()
    try:
        with watch:
            run_program(options)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        elapsed = time.perf_counter() - start
        if undo is not None:
            undo()
        written = _report(watch, elapsed, options)
    return None if written else 2


def _report(watch: profile, elapsed: float, options: argparse.Namespace) -> bool:
    """Print the table and write the files. Returns whether all files could be written."""
    if not watch.function_events:
        _print("")
        print("retrograd: the program called no operators in its main thread, so there is nothing to show",
              file=sys.stderr)
        return True
    rows = watch.key_averages(group_by_input_shape=options.shapes)
    rows[:] = [row for row in rows if not row.key.startswith(_MODULE)]
    _print(f"{rows.table(sort_by=_SORTED[options.sort], row_limit=options.rows)}\n")
    written = True
    if options.flame:
        name = options.script if options.module is None else options.module
        picture = flame.svg(flame.gathered(watch.function_events, name, elapsed * 1e6))
        written = _write(options.flame, picture)
    if options.trace:
        written = _write(options.trace, json.dumps(watch.chrome_trace())) and written
    return written


def _print(text: str) -> None:
    """Print a text behind the output of the program."""
    try:
        print(printable(text), end="")
        flush_output()
    except BrokenPipeError:                              # such as `retrograd profile train.py | head`
        close_output()


def _write(path: str, text: str) -> bool:
    """Write a file, and say so. Returns whether the file could be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"retrograd: cannot write {path!r}: {error.strerror}", file=sys.stderr)
        return False
    print(f"retrograd: wrote {path}", file=sys.stderr)
    return True


_MODULE = "nn.Module: "


def _show_modules() -> Callable[[], None]:
    """Make each call of a module an event. Returns a function that undoes it."""
    call: Any = Module.__call__

    def shown(self: Any, *args: Any, **kwargs: Any) -> Any:
        with record_function(_MODULE + type(self).__name__):
            return call(self, *args, **kwargs)

    def undo() -> None:
        Module.__call__ = call  # type: ignore[method-assign]

    Module.__call__ = shown  # type: ignore[method-assign]
    return undo
