"""A plugin for pytest that collects tests once and then runs some of them for each request, in a fork of the process.

A fork takes milliseconds, where a new process imports and collects for seconds. The fault of a request is planted in
the loaded functions of the fork. So a fault in what runs at import cannot be planted there.

    python -m pytest -p mutants.serving --serving=DESCRIPTOR tests/unit
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from types import CodeType, FrameType, FunctionType
from typing import NamedTuple

import pytest
from _pytest.main import pytest_runtestloop as run_all

# How many seconds of the processor a test may take, and how many seconds a request: a faulty loop may not end.
_FOR_A_TEST, _FOR_ALL = 60, 1800


class Planted(NamedTuple):
    """A file of the package, and its text without and with a fault."""

    file: str
    sound: bytes
    faulty: bytes


class Request(NamedTuple):
    """The tests to run, in their order, and the fault that is planted before."""

    tests: list[str]
    planted: Planted | None


class Reply(NamedTuple):
    """How the fork ended, as the operating system tells, and the test that failed first."""

    status: int
    failure: str


class Ready(NamedTuple):
    """The functions that ran at import, each by its file and first line."""

    ran: set[tuple[str, int]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--serving", type=int, help="the descriptor that requests come from and replies go to")


_ran: set[tuple[str, int]] = set()


def _note(frame: FrameType, event: str, argument: object) -> None:
    if event == "call":
        _ran.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    sys.setprofile(_note)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Answer requests until the other end closes."""
    sys.setprofile(None)
    connection = Connection(session.config.getoption("--serving"))
    items = {item.nodeid: item for item in session.items}
    functions = [each for each in gc.get_objects() if type(each) is FunctionType]
    gc.freeze()                                                 # else the first collection in a fork takes a second
    connection.send(Ready(_ran))
    while True:
        try:
            request: Request = connection.recv()
        except EOFError:
            os._exit(0)
        session.items = [items[test] for test in request.tests if test in items]
        faulty = [] if request.planted is None else replacements(request.planted, functions)
        connection.send(None if faulty is None else _answer(session, faulty))


def _answer(session: pytest.Session, faulty: list[tuple[FunctionType, CodeType]]) -> Reply:
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if not child:
            for function, code in faulty:
                function.__code__ = code
            _run(session, told.fileno())
        _, status = os.waitpid(child, 0)
        told.seek(0)
        return Reply(os.waitstatus_to_exitcode(status), told.read().decode())


def _run(session: pytest.Session, told: int) -> None:
    """Run the tests of the session until one fails, and end the process."""
    status = 2
    try:
        signal.alarm(_FOR_ALL)
        session.config.pluginmanager.register(_Ending(told))
        run_all(session)
        status = 0
    finally:
        os._exit(status)


class _Ending:
    """Ends the process when a test has failed, or has taken too long."""

    def __init__(self, told: int) -> None:
        self.told = told

    def pytest_runtest_logstart(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, _FOR_A_TEST)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self.told, report.nodeid.encode())
            os._exit(1)


def replacements(planted: Planted, functions: list[FunctionType]) -> list[tuple[FunctionType, CodeType]] | None:
    """The functions from a file that a fault is in, with their faulty code; None if they cannot take this code.

    Of a file that is not loaded yet there are no functions. What loads the file finds the fault.
    """
    sound, faulty = (compile(text, planted.file, "exec", dont_inherit=True) for text in planted[1:])
    changed = {old: new for old, new in _pairs(sound, faulty) if old != new}
    loaded = [function for function in functions if function.__code__.co_filename == planted.file]
    found = [(function, changed[function.__code__]) for function in loaded if function.__code__ in changed]
    fits = all(function.__code__.co_freevars == code.co_freevars for function, code in found)
    return found if fits and bool(found) == bool(loaded) else None


def _pairs(sound: CodeType, faulty: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of a file and of each function in the file, beside the code with the fault."""
    yield sound, faulty
    inner = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (sound, faulty)]
    if len(inner[0]) == len(inner[1]):
        for pair in zip(*inner):
            yield from _pairs(*pair)
