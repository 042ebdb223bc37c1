"""Where in the user's program something happened, and how a message says so.

A message is PyTorch's to the letter, so that people and programs recognize it. What helps is a note below the message:
the operation, the argument, the line, the remedy, one fact a line. This module also remembers the messages that are
given only once.
"""

from __future__ import annotations

import linecache
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import Any, ClassVar, NamedTuple, TypeVar

from .forks import held

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# The folders with the package's own code: in a checkout, that of PyTorch's names is another one.
OWN = tuple([os.path.abspath(folder) + os.sep for folder in sys.modules[__name__.partition(".")[0]].__path__])

# Of two threads that warn with notes, one shows its warning after the other.
_one_by_one = threading.RLock()
held(_one_by_one)


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


def outside(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside this package, from this one on, or None."""
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return frame


def user_site(depth: int = 1) -> Site | None:
    """The innermost frame outside this package, counted from `depth` frames above the caller, or None."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None and frame.f_code.co_filename.startswith(OWN):   # as `outside`, for each write
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


class Heard:
    """Who hears the warnings of this package. `by` is called with a function that gives the warning again, or with None
    if the warning was raised as an error.
    """

    by: ClassVar[Callable[[Callable[[], None] | None], None] | None] = None


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn the caller of this package. The warning names the caller's line, from any depth of calls.

    A warning with notes is given as an object, which has its category itself.
    """
    _warn(message, category, Heard.by)


def _warn(message: str | Warning, category: type[Warning],
          heard: Callable[[Callable[[], None] | None], None] | None) -> None:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    give = _warning(message, category, frame)
    try:
        give()
    except BaseException:
        if heard is not None:
            heard(None)
        raise
    if heard is not None:
        heard(give)


def _warning(message: str | Warning, category: type[Warning], frame: FrameType) -> Callable[[], None]:
    """What gives a warning that names the line of a frame. Its notes are shown below the text."""
    names = frame.f_globals
    give = partial(warnings.warn_explicit, message, category, frame.f_code.co_filename, frame.f_lineno,
                   names.get("__name__") or "<string>", names.setdefault("__warningregistry__", {}))
    return partial(_with_notes, message, give) if isinstance(message, Warning) else give


def _with_notes(message: Warning, give: Callable[[], None]) -> None:
    """Give a warning, and show the notes below the text: Python shows the notes of errors, but not those of warnings.
    """
    with _one_by_one:
        text = warnings.formatwarning
        notes = "".join([f"{line}\n" for line in message.__notes__])
        warnings.formatwarning = lambda *args, **options: text(*args, **options) + notes
        try:
            give()
        finally:
            warnings.formatwarning = text


def warn_once(message: str, name: str = "") -> None:
    """Warn, unless the same warning was given before, or another warning of this name."""
    if Said.always:
        warn(message)
    elif (name or message) not in Said.messages:
        Said.messages.add(name or message)
        _warn(message, UserWarning, None)                  # a repetition does not give the warning again


def warn_of_discarded_part(source: Any, target: Any) -> None:
    """Warn once if complex numbers become real ones (a bool is no real number). The arguments are dtypes of NumPy."""
    if source.kind == "c" and target.kind not in "cb":
        warn_once("Casting complex values to real discards the imaginary part")


def set_warn_always(b: bool, /) -> None:
    """Choose whether warnings given once per process are repeated. Raises RuntimeError if `b` is not a bool."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    Said.always = b


def is_warn_always_enabled() -> bool:
    """Whether warnings given once per process are repeated. See `set_warn_always`."""
    return Said.always


def noted(error: E, entry: str = "", /, **facts: str) -> E:
    """The error, with what helps as notes below PyTorch's message: a line for each fact, with a label like `instead`.

    A fact without text is left out. `entry` is an entry of the pages on errors, such as "backward#second-backward".
    """
    if "_pytest" in sys.modules:
        _hide_from_pytest(sys._getframe(1))
    for label, fact in facts.items():
        if fact:
            note(error, label.replace("_", " "), fact)
    if entry:
        note(error, "read more", f"retrograd help {entry.partition('#')[2]}")
    return error


def no_kernel(operator: str, backend: str, **facts: str) -> NotImplementedError:
    """The error for an operator that has no kernel for a backend. PyTorch lists its kernels behind it."""
    return noted(
        NotImplementedError(
            f"Could not run '{operator}' with arguments from the '{backend}' backend. This could be because the "
            "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if "
            "using custom build). If you are a Facebook employee using PyTorch on mobile, please visit "
            "https://fburl.com/ptmfixes for possible resolutions."), **facts)


def unsaid(check: str) -> str:
    """PyTorch's message about a check that fails and for which it has no words of its own."""
    return (f"{check}, but got false.  (Could this error message be improved?  If so, please report an enhancement "
            "request to PyTorch.)")


def full() -> bool:
    """Whether tracebacks are to show the frames of this package, too. See `tracebacks`."""
    return os.environ.get("RETROGRAD_TRACEBACK") == "full"


def _hide_from_pytest(frame: FrameType | None) -> None:
    """Have pytest leave out the frames of this package that are running. It asks for this variable of their modules."""
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame.f_globals.setdefault("__tracebackhide__", _hidden)
        frame = frame.f_back


def _hidden(error: object) -> bool:
    return not full()


def note(error: BaseException, label: str, fact: str) -> None:
    """Add a note to an error, unless the error has it already: an error may pass here several times.

    The entry to read stays last, and is that of the first who named one.
    """
    line = f"  {label:<{_LABEL}}{fact}".replace("\n", "\n  " + " " * _LABEL)
    notes = getattr(error, "__notes__", [])
    last = bool(notes) and notes[-1].startswith(_MORE)
    if line in notes or (last and line.startswith(_MORE)):
        return
    error.add_note(line)
    if last:
        notes[-2:] = [line, notes[-2]]


_LABEL = 11      # the width of the words to the left of the facts
_MORE = "  read more"
E = TypeVar("E", bound=BaseException)


def at(site: Site | None) -> str:
    """'program.py:3    y = x.exp()' for a note, or '' if the place is not known."""
    if site is None:
        return ""
    file, here = site.code.co_filename, os.path.join(os.getcwd(), "")
    return f"{file.removeprefix(here)}:{site.line}" + (f"    {site.text}" if site.text else "")


def span(low: Any, high: Any) -> str:
    """'from 2 to 5' for a note, or '2' if both are 2."""
    return f"{low}" if low == high else f"from {low} to {high}"


class _LinAlgError(RuntimeError):
    """A matrix does not allow the operation: it is singular, or not positive-definite, or not finite."""


LinAlgError = _LinAlgError


class OutOfMemoryError(RuntimeError):
    """A device has too little memory. Programs catch it; the CPU raises Python's MemoryError instead."""


class AcceleratorError(RuntimeError):
    """A device other than the CPU failed. Programs catch it; there is no such device."""


# Types that are C types in PyTorch.
_IN_C = {**{name: f"torch.{name}" for name in ("device", "dtype", "finfo", "iinfo", "layout", "memory_format", "Size")},
         "Generator": "torch._C.Generator"}
# Flags of types, from CPython's object.h: a type that nobody may change, and a type that `class` or a module has made.
_IMMUTABLE, _ON_HEAP = 1 << 8, 1 << 9


def kind_of(value: object) -> str:
    """The name of a value's type in the messages of C code: with its module, if C code made the type."""
    kind = type(value)
    module, name = kind.__module__, kind.__name__
    if module.partition(".")[0] == __name__.partition(".")[0]:
        return _IN_C.get(name, name)
    in_c = kind.__flags__ & _IMMUTABLE or not kind.__flags__ & _ON_HEAP or module == "numpy.dtypes"
    return f"{module}.{name}" if in_c and module != "builtins" else name


def kinds_of(args: Sequence[Any], named: Mapping[str, Any], kind: Callable[[Any], str] = kind_of) -> str:
    """The types of the arguments of a call. PyTorch lists those by name from the last one on."""
    kinds = [*map(kind, args), *[f"{key}={kind(value)}" for key, value in reversed([*named.items()])]]
    return f"({', '.join(kinds)}{', ' if named and not args else ''})"


def unfitting(name: str, given: str, rest: str) -> TypeError:
    """The error of a call whose arguments have types that do not fit. `rest` says what would fit."""
    return TypeError(f"{name}() received an invalid combination of arguments - got {given}{rest}")


def invalid_combination(name: str, args: Sequence[Any], named: dict[str, Any], *ways: str) -> TypeError:
    """The error of a call that fits none of the ways to call a small type, such as `device`."""
    return unfitting(name, kinds_of(args, named), one_of([f" * {way}" for way in ways]))


def one_of(lines: Sequence[str]) -> str:
    """The end of an error about arguments: a line for each way to call, perhaps with lines about this way."""
    return ", but expected one of:\n" + "".join([f"{line}\n" for line in lines])
