"""The machine code of calls of eager programs: what is there, and what makes it.

The first call of a kernel for a layout class looks for object code on disk. If there is none, a thread makes it, and
ends when nothing is to be made. Calls wait for the thread, unless they were asked not to: then NumPy computes them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar

from ...foundations.forks import held
from ...foundations.modes import Waiting, tape
from ...foundations.names import reached
from ..native.host import available
from ..native.objects import Linked
from ..native.team import offer_help
from ..program.interrupts import interrupts
from . import store
from .calls import SEEN, elementwise
from .plans import unpacked
from .ready import Ready, TooWide
from .written import WRITTEN

# How many kinds of calls are known at most. Options such as the slope of an activation are part of the kind.
_MOST = 512


class _Making:
    """The calls whose machine code is to be made, and the thread that makes it."""

    lock = threading.RLock()                               # a handler of a signal may call kernels, too
    busy = threading.RLock()                               # held while something is made, or the process is forked
    waiting: ClassVar[deque[tuple[Any, Callable[..., Any], tuple[Any, ...]]]] = deque()
    thread: threading.Thread | None = None
    # By kernel and kind; None while, or if, there is none.
    known: ClassVar[dict[Any, Any]] = {}
    reasons: ClassVar[dict[str, str]] = {}                 # why kinds of calls have no machine code

    @classmethod
    def forget(cls) -> None:
        """Start anew in a forked process, which has no thread."""
        cls.busy.release()
        cls.lock, cls.thread = threading.RLock(), None
        for key, *_ in cls.waiting:
            cls.known.pop(key, None)
        cls.waiting.clear()


# A fork waits for what the thread is making: it holds locks of LLVM and of imports, which a child could not open.
held(_Making.busy, _Making.forget)


def compute(kernel: Any, args: tuple[Any, ...]) -> Any:
    """The results of machine code for a call, or None if NumPy is to compute them."""
    call = (SEEN.get(kernel) or elementwise)(*args)
    if call is None:
        return None
    key = kernel, call.given
    try:
        ready = _Making.known[key]
    except KeyError:
        ready = _begin(key, kernel, call.given)
    except TypeError:                                       # an option cannot be hashed
        return None
    if ready is None and Waiting.on and not _is_making() and tape() is None:
        wait()
        ready = _Making.known.get(key)
    if ready is None:
        return None
    try:
        found = ready(call.arrays, call.sizes, call.shapes)
    except TooWide:
        return None
    return found[0] if len(found) == 1 else tuple(found)


def _begin(key: Any, kernel: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """The machine code of a kind of calls that was not met before, if it is on disk. Otherwise it is made."""
    if not available() or len(_Making.known) >= _MOST or _is_making() or tape() is not None:
        return None                                         # a traced call may not do anything else
    if _Making.thread is None:
        try:
            found = store.kept(_name(kernel, given))
            if found is not None:
                return _Making.known.setdefault(key, _ready(kernel, *found))
        except Exception as error:
            if interrupts(error):
                raise
            _given_up(key, kernel, given, error)
            return None
    with _Making.lock:
        if key not in _Making.known:
            _Making.known[key] = None
            _Making.waiting.append((key, kernel, given))
            if _Making.thread is None:
                _start(key)
    return None


def _start(key: Any) -> None:
    """Start the thread. If this fails, a later call for the key begins anew."""
    _Making.thread = thread = threading.Thread(target=_make, name="retrograd machine code")
    try:
        thread.start()
    except BaseException as error:                          # Python refuses new threads at its end; an interrupt
        _Making.thread = None
        _Making.waiting = deque([each for each in _Making.waiting if each[0] != key])
        del _Making.known[key]
        if not isinstance(error, RuntimeError):
            raise


def _given_up(key: Any, kernel: Any, given: tuple[Any, ...], error: Exception) -> None:
    """NumPy serves a kind of calls from now on. The reason can be asked for."""
    _Making.reasons[_name(kernel, given)] = f"{type(error).__name__}: {error}"
    _Making.known[key] = None


def _is_making() -> bool:
    """Whether this thread makes machine code. Kernels that it calls to learn shapes are those of NumPy."""
    return threading.current_thread() is _Making.thread


def _name(kernel: Any, given: tuple[Any, ...]) -> str:
    """A kind of calls in words. A rule is told from others by its place, since it may have no name."""
    code = getattr(kernel, "__code__", None)
    place = f"{getattr(kernel, '__module__', '')}.{getattr(kernel, '__qualname__', kernel)}"
    return f"{place} {code.co_firstlineno if code else ''} {given}"


def _ready(kernel: Any, plan: Any, code: bytes) -> Any:
    """What calls the machine code of a kernel."""
    linked = Linked(code, ("run", "help"))
    offer_help(linked.addresses["help"], linked)
    run = linked.addresses["run"]
    written = WRITTEN.get(kernel)
    return written.called(run, linked) if written else Ready(unpacked(plan), run, linked)


def _make() -> None:
    """Make what waits, until nothing waits, or the program ends."""
    while True:
        with _Making.lock:
            if not _is_making():                            # an interrupt ended the call that started this thread
                return
            if not _Making.waiting or not threading.main_thread().is_alive():
                _Making.thread = None
                return
            key, kernel, given = _Making.waiting[0]
        with _Making.busy:
            try:
                _Making.known[key] = _ready(kernel, *_object_code(kernel, given))
            except Exception as error:
                _given_up(key, kernel, given, error)
        with _Making.lock:
            _Making.waiting.popleft()


def _object_code(kernel: Callable[..., Any], given: tuple[Any, ...]) -> tuple[Any, bytes]:
    """The plan and the object code of a kind of calls, from disk or made now."""
    name = _name(kernel, given)
    found = store.kept(name)
    if found is not None:
        return found
    plan, code = reached("compilation.eager.making").made(kernel, given)
    store.keep(name, plan, code)
    return plan, code


def wait() -> None:
    """Wait until all machine code that calls have asked for is made."""
    while True:
        with _Making.lock:                                  # or the thread might not have started yet
            thread = _Making.thread
        if thread is None or not thread.is_alive():         # a handler of a signal may interrupt the start
            return
        thread.join()


def reasons() -> dict[str, str]:
    """Why kinds of calls that a program has made have no machine code."""
    return {**_Making.reasons}
