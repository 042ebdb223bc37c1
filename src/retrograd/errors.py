"""Where in the user's program something happened, and how a message says so.

A message starts with PyTorch's own sentence, so that people and programs recognise it; what follows names the
operation, the argument, the line and the remedy. What is said once only is kept here too. This module must not know
tensors or nodes.
"""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from types import CodeType, FrameType
from typing import ClassVar, NamedTuple

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Site(NamedTuple):
    """A place in a program, kept as code object and offset: formatting waits until somebody asks."""

    code: CodeType
    offset: int

    def __str__(self) -> str:
        return f'File "{self.code.co_filename}", line {self.line}, in {self.code.co_name}'

    @property
    def line(self) -> int:
        for start, end, line in self.code.co_lines():
            if start <= self.offset < end and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def text(self) -> str:
        """The source of the line without indentation; '' where it cannot be read."""
        return linecache.getline(self.code.co_filename, self.line).strip()

    def frame_text(self) -> str:
        """The place as a traceback shows it, with the source below."""
        return f"  {self}\n" + (f"    {self.text}\n" if self.text else "")


_new_tuple = tuple.__new__                              # as Site(…) does, in half the time: each write takes one


def user_site(depth: int = 1) -> Site | None:
    """The innermost frame outside this package, counted from `depth` frames above the caller; None where none is."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return None if frame is None else _new_tuple(Site, (frame.f_code, frame.f_lasti))


def called() -> str:
    """The name of the package's function that the program called: of the outermost frame inside this package."""
    frame, name = sys._getframe(1), ""
    while frame.f_code.co_filename.startswith(PACKAGE):
        name = frame.f_code.co_name
        if frame.f_back is None:
            break
        frame = frame.f_back
    return name


class Said:
    """What was said that is said once a process, and whether it is to be said every time all the same."""

    messages: ClassVar[set[str]] = set()
    always: ClassVar[bool] = False


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called this package: the warning is given for their line, however deep it comes from."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str) -> None:
    """Warn, unless that was done before."""
    if Said.always or message not in Said.messages:
        if not Said.always:
            Said.messages.add(message)
        warn(message)


def set_warn_always(b: bool, /) -> None:
    """Whether warnings that are given once a process are given every time. Raises RuntimeError for what is no bool."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    Said.always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings that are given once a process are given every time. See `set_warn_always`."""
    return Said.always


def at(site: Site | None) -> str:
    """' (File "x.py", line 3, in f)' for a message, or '' where the place is not known."""
    return "" if site is None else f" ({site})"


class _LinAlgError(RuntimeError):
    """A matrix does not allow what was asked of it: it is singular, or not positive-definite, or not finite."""


LinAlgError = _LinAlgError
