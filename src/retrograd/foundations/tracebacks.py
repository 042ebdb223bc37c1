"""Tracebacks that show the program's frames, and of each call into this package only the function that was called.

The frames are left out when an error is shown, and never before: the error keeps all of them, so `pdb.post_mortem`, a
program's own `sys.excepthook` and `traceback.format_exc()` see them. A call that succeeds costs nothing. If the
variable RETROGRAD_TRACEBACK is "full", all frames are shown.

Two errors that Python itself raises get their notes here: about a gradient that is None, and about a number in the
place of a loss.

`install` puts the filter where Python shows errors that end a program or a thread, and where IPython shows those of
a cell. A place that a program has taken for itself is left alone. Pytest has its own rule, which `errors.noted` uses.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from .errors import ENTRIES, OWN, full, noted
from .names import PACKAGE, near

_OF_THREADS: Any = vars(threading)["__excepthook__"]        # which type checkers of last year do not know


class Silent:
    """Adds notes to an error that Python itself raised. `wiring` fills it in."""

    add_notes: Callable[[BaseException, TracebackType | None], None]


def explained(error: BaseException, trace: TracebackType | None) -> None:
    """Add notes to an error about None, or about a number in the place of a loss, that is about to be shown."""
    if type(error) in (AttributeError, TypeError) and "NoneType" in str(error):
        Silent.add_notes(error, trace)
    elif isinstance(error, AttributeError) and error.name == "backward" and isinstance(error.obj, (int, float)):
        noted(error, because="a number has no graph: call backward() on the tensor, and item() on it afterwards")


def shortened(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this package, but with the first frame of each call into the package."""
    steps: list[TracebackType] = []
    inside = False                                   # whether the function that was called is already there
    while trace is not None:
        code = trace.tb_frame.f_code
        own = code.co_filename.startswith(OWN)
        if not own or (not inside and not code.co_filename.startswith(ENTRIES)):
            if not own or code.co_name != "__getattr__":   # the program called no function: an attribute is missing
                steps.append(trace)
            inside = own
        trace = trace.tb_next
    found: TracebackType | None = None
    for step in reversed(steps):
        found = TracebackType(found, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return found


@contextmanager
def showing_less(error: BaseException) -> Iterator[None]:
    """Inside the block, an error and the errors that led to it have short tracebacks, unless all is to be shown."""
    kept = [(each, each.__traceback__) for each in _together(error)]
    try:
        for each, trace in kept:
            each.__traceback__ = trace if full() else shortened(trace)
        yield
    finally:
        for each, trace in kept:
            each.__traceback__ = trace


def _together(error: BaseException) -> list[BaseException]:
    """An error, its causes and contexts, and the errors of a group."""
    found: dict[int, BaseException] = {}
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in found:
            found[id(each)] = each
            waiting += [each.__cause__, each.__context__]
            if isinstance(each, BaseExceptionGroup):
                waiting += each.exceptions
    return [*found.values()]


def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show an error that ends the program, as Python does."""
    explained(error, trace)
    if full():
        sys.__excepthook__(kind, error, trace)
        return
    with showing_less(error):
        sys.__excepthook__(kind, error, shortened(trace))


def show_of_thread(args: Any) -> None:
    """Show an error that ends a thread, as Python does."""
    if args.exc_value is not None:
        explained(args.exc_value, args.exc_traceback)
    if full() or args.exc_value is None:
        _OF_THREADS(args)
        return
    with showing_less(args.exc_value):
        _OF_THREADS(threading.ExceptHookArgs(
            (args.exc_type, args.exc_value, shortened(args.exc_traceback), args.thread)))


def show_in_cell(shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType | None,
                 tb_offset: int | None = None) -> Any:
    """Show an error of a notebook's cell, as IPython does. IPython leaves out Python's suggestion of another name."""
    explained(error, trace)
    if isinstance(error, AttributeError) and error.name and any(
            [kind.__module__.startswith(f"{PACKAGE}.") for kind in type(error.obj).__mro__]):
        public = [name for name in dir(error.obj) if not name.startswith("_")]
        noted(error, nearest=", ".join(near(error.name, public)))
    if full():
        return shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    try:
        with showing_less(error):
            return shell.showtraceback((kind, error, shortened(trace)), tb_offset=tb_offset)
    finally:
        sys.last_traceback = trace                   # for %debug


def install() -> None:
    """Take the places where errors are shown, if no one else has taken them."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = show
    if threading.excepthook is _OF_THREADS:
        threading.excepthook = show_of_thread
    asked: Callable[[], Any] | None = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = asked() if asked is not None else None
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), show_in_cell)

