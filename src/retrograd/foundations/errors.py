"""Where in the user's program something happened, and how a message says so.

A message starts with PyTorch's own sentence, so that people and programs recognize it. The rest names the operation,
the argument, the line and the remedy. This module also remembers the messages that are given only once.
"""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from types import CodeType, FrameType
from typing import ClassVar, NamedTuple

# The address of an entry of the documentation on errors: the page and the anchor of the entry are filled in.
ENTRY = "errors/{}.html#{}"

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# The folders with the package's own code: in a checkout, that of PyTorch's names is another one.
OWN = tuple([os.path.abspath(folder) + os.sep for folder in sys.modules[__name__.partition(".")[0]].__path__])


class Site(NamedTuple):
    """A place in a program, kept as code object and offset. The text is made only when it is needed."""

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
        """The source of the line without indentation, or '' if it cannot be read."""
        return linecache.getline(self.code.co_filename, self.line).strip()

    def frame_text(self) -> str:
        """The place as a traceback shows it, with the source line below."""
        return f"  {self}\n" + (f"    {self.text}\n" if self.text else "")


_new_tuple = tuple.__new__  # does the same as Site(…) in half the time, and each write makes a Site


def user_site(depth: int = 1) -> Site | None:
    """The innermost frame outside this package, counted from `depth` frames above the caller, or None."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return None if frame is None else _new_tuple(Site, (frame.f_code, frame.f_lasti))


# How the files begin (`public.py` and `public_facts.py`) whose frames stand between a program and a public function.
# These frames have no names of their own.
ENTRIES = os.path.join(PACKAGE, "tensors", "recording", "public")


def called() -> str:
    """The name of the package's function that the program called: of the outermost frame inside this package."""
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        if not frame.f_code.co_filename.startswith(ENTRIES):
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


class Said:
    """The messages that were given once per process, and whether to repeat them every time."""

    messages: ClassVar[set[str]] = set()
    always: ClassVar[bool] = False


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn the caller of this package. The warning names the caller's line, from any depth of calls."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_once(message: str, name: str = "") -> None:
    """Warn, unless the same warning was given before, or another warning of this name."""
    if Said.always or (name or message) not in Said.messages:
        if not Said.always:
            Said.messages.add(name or message)
        warn(message)


def set_warn_always(b: bool, /) -> None:
    """Choose whether warnings given once per process are repeated. Raises RuntimeError if `b` is not a bool."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    Said.always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings given once per process are repeated. See `set_warn_always`."""
    return Said.always


def see(entry: str) -> str:
    """The last line of a message: the address of its entry, such as "backward#second-backward"."""
    page, _, anchor = entry.partition("#")
    return f"{_SEE}{ENTRY.format(page, anchor)} in the documentation."


_SEE = "\nSee "


def with_more(message: str, more: str) -> str:
    """A message with more text, which stands before the address if the message ends with one."""
    said, line, address = message.rpartition(_SEE)
    return f"{said}{more}{line}{address}" if line else message + more


def at(site: Site | None) -> str:
    """' (File "x.py", line 3, in f)' for a message, or '' if the place is not known."""
    return "" if site is None else f" ({site})"


class _LinAlgError(RuntimeError):
    """A matrix does not allow the operation: it is singular, or not positive-definite, or not finite."""


LinAlgError = _LinAlgError


class OutOfMemoryError(RuntimeError):
    """A device has too little memory. Programs catch it; the CPU raises Python's MemoryError instead."""


class AcceleratorError(RuntimeError):
    """A device other than the CPU failed. Programs catch it; there is no such device."""
