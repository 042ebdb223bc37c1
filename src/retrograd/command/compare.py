"""Run a program with PyTorch and with retrograd, step for step, and name the first step whose result differs.

Each package runs the program in a process of its own (see `steps`). This process reads the steps of both, and stops
them at the first difference.
"""

from __future__ import annotations

import argparse
import importlib.util
import linecache
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from retrograd.command import difference
from retrograd.command.run import add_program
from retrograd.command.steps import OURS, PYTORCH, WELL, End, SeenPass, Step, child
from retrograd.viz.beside import RTOL, beside, summary
from retrograd.viz.exploring import Explored

_NEAR = 200        # how many steps are looked at to find where the two runs meet again
_EXAMPLES = """examples:
  retrograd compare train.py --epochs 1
  retrograd compare --rtol 1e-3 -m package.train
  retrograd compare --page differs.html train.py

The options stand before the program; what stands after it belongs to the program. Both runs begin with the seed 0 for
torch, NumPy and random. What the program prints with PyTorch is not shown. The exit status is 0 if all steps agree, 1
if a step differs, and 2 if the program cannot be compared."""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd compare``."""
    parser.description = ("Run a program with PyTorch and with retrograd, step for step, and show the first step whose "
                          "result differs. A step is a call of a function of torch, of a module or of an optimizer.")
    parser.epilog = _EXAMPLES
    parser.add_argument("--rtol", type=float, metavar="R",
                        help="how much a number may differ, as a part of PyTorch's (by default as in "
                             "torch.testing.assert_close)")
    parser.add_argument("--atol", type=float, metavar="A", help="how much a number may differ besides")
    parser.add_argument("--page", metavar="FILE", help="write the explorer's page of the first backward pass with "
                        "retrograd, with PyTorch's gradients beside it")
    add_program(parser)
    parser.set_defaults(elsewhere=True)


def run(options: argparse.Namespace) -> int:
    """Compare the two runs of the program and print what was found. Returns the exit status."""
    if importlib.util.find_spec("torch") is None:
        print("retrograd: to compare, PyTorch must be installed beside retrograd: pip install torch", file=sys.stderr)
        return 2
    if options.script == "-":
        print("retrograd compare: standard input cannot be given to two runs; name a file", file=sys.stderr)
        return 2
    if options.module is None and not os.path.exists(options.script):
        print(f"retrograd: can't open file {options.script!r}: it is no file", file=sys.stderr)
        return 2
    os.environ.setdefault("PYTHONHASHSEED", "0")
    os.environ["TORCHDYNAMO_DISABLE"] = "1"              # what PyTorch compiles has other steps, and other leaves
    sides = _Side(PYTORCH, options), _Side(OURS, options)
    try:
        status = _compared(*sides, difference.Tolerance(options.rtol, options.atol))
        return status if options.page is None or _page(*sides, options) else status or 1
    finally:
        for side in sides:
            side.stop()


def _page(theirs: _Side, ours: _Side, options: argparse.Namespace) -> bool:
    """Write the page of the two passes, and say so. Returns whether there is a page."""
    for side in (theirs, ours):
        side.fill_document()
        if side.document is None:
            print(f"retrograd: no page: there was no backward pass with {side.package}", file=sys.stderr)
            return False
    both = beside(ours.document, theirs.document, (OURS, PYTORCH), options.rtol or RTOL)
    try:
        Explored(both).save(options.page)
    except OSError as error:
        print(f"retrograd: cannot write {options.page!r}: {error.strerror}", file=sys.stderr)
        return False
    print(f"wrote {options.page}: {summary(both)}")
    return True


class _Side:
    """One of the two runs: its process, its steps that were read but not compared, and its end once it has ended.

    `document` is that of the first backward pass, if a page is asked for and the pass has run.
    """

    def __init__(self, package: str, options: argparse.Namespace) -> None:
        context = multiprocessing.get_context("spawn")
        self.package = package
        self.steps: deque[Step] = deque()
        self.end, self.skipped = "", 0
        self.document: Any = None
        self.receiver: Connection
        self.receiver, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=child, args=(sender, package, options))
        with _holding_interrupts():
            self.process.start()
        sender.close()

    def fill(self, count: int) -> None:
        """Read steps until there are so many, or the program has ended."""
        while len(self.steps) < count and not self.end:
            self._receive()

    def fill_document(self) -> None:
        """Read until the first backward pass has run, or the program has ended."""
        while self.document is None and not self.end:
            self._receive()

    def _receive(self) -> None:
        try:
            received = self.receiver.recv()
        except EOFError:
            self.process.join()
            received = End(f"exit status {self.process.exitcode}")
        if isinstance(received, End):
            self.end = received.said
        elif isinstance(received, SeenPass):
            self.document = received.document
        else:
            self.steps.append(received)

    def skip(self, count: int) -> None:
        """Leave out the next steps."""
        self.skipped += count
        for _ in range(count):
            self.steps.popleft()

    def stop(self) -> None:
        """End the process, if it still runs."""
        if not self.end:
            self.process.terminate()
        self.process.join()
        self.receiver.close()


@contextmanager
def _holding_interrupts() -> Iterator[None]:
    """A context in which an interrupt waits. A process that is started inside takes none until `child` ignores them.

    An interrupt is for this process, which ends the others: the report of another would hide what was found. The mask
    of signals is for the other process, and the handler for this one, in which another thread may take the signal.
    """
    came: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    masking = hasattr(signal, "pthread_sigmask")             # not in Windows
    if masking:
        resource_tracker.ensure_running()                    # if it were started inside, interrupts would pass
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if masking:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if came:
        signal.raise_signal(signal.SIGINT)


def _compared(theirs: _Side, ours: _Side, tolerance: difference.Tolerance) -> int:
    count = 0
    for one, other in _pairs(theirs, ours):
        found = difference.between(one, other, tolerance)
        if found:
            print(f"{_place(one)}\n{found}\n{_before(count)}")
            return 1
        count += 1
    if not theirs.steps and not ours.steps and _kind(theirs) == _kind(ours):
        alone = theirs.skipped + ours.skipped
        if not count and ours.end != WELL:
            print(f"Nothing was compared. Both runs ended with {ours.end}", file=sys.stderr)
            return 2
        agree = "The only step agrees." if count == 1 else f"All {count} steps agree."
        left = "1 step that only one run makes was" if alone == 1 else f"{alone} steps that only one run makes were"
        print(f"{agree}{f' {left} left out.' if alone else ''} Both runs ended with {ours.end}")
        return 0
    print("From here on the two runs differ.")
    for side in (theirs, ours):
        went_on = f"goes on with {_place(side.steps[0])}" if side.steps else f"ends with {side.end}"
        print(f"{side.package} {went_on}")
    print(_before(count))
    return 1


def _kind(side: _Side) -> str:
    """How a run ended, without the text of an error."""
    return side.end.partition(":")[0]


def _before(count: int) -> str:
    if not count:
        return "It is the first step."
    return "The step before agrees." if count == 1 else f"The {count} steps before agree."


def _place(step: Step) -> str:
    """The step and its line."""
    text = linecache.getline(step.file, step.line).strip()
    return f'{step.name} in File "{step.file}", line {step.line}' + (f"\n    {text}" if text else "")


def _pairs(theirs: _Side, ours: _Side) -> Iterator[tuple[Step, Step]]:
    """The steps that both runs make. A step of one run is left out if the runs meet again soon after it."""
    while True:
        theirs.fill(1)
        ours.fill(1)
        if not (theirs.steps and ours.steps):
            return
        if _key(theirs.steps[0]) != _key(ours.steps[0]):
            theirs.fill(_NEAR)
            ours.fill(_NEAR)
            skipped = _meeting([_key(step) for step in theirs.steps], [_key(step) for step in ours.steps])
            if skipped is None:
                return
            theirs.skip(skipped[0])
            ours.skip(skipped[1])
        yield theirs.steps.popleft(), ours.steps.popleft()


def _key(step: Step) -> tuple[Any, ...]:
    return step.name, step.file, step.line


def _meeting(left: list[Any], right: list[Any]) -> tuple[int, int] | None:
    """How many of the first elements to skip on both sides to come to equal elements; the fewest in sum."""
    for total in range(len(left) + len(right)):
        for i in range(max(0, total - len(right) + 1), min(total, len(left) - 1) + 1):
            if left[i] == right[total - i]:
                return i, total - i
    return None
