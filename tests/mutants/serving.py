"""A plugin for pytest that collects tests once and then runs some of them for each request, in a fork of the process.

A fork takes milliseconds, where a new process imports and collects for seconds. The fault of a request is planted in
the loaded functions of the fork, so a fault in what runs at import takes a new process.

    python -m pytest -p mutants.serving --serving=DESCRIPTOR tests/unit
"""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest
from _pytest.main import pytest_runtestloop as run_all

# How many seconds of the processor a test may take, and how many seconds a request: a faulty loop may not end.
_FOR_A_TEST, _FOR_ALL = 60, 600


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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--serving", type=int, help="the descriptor that requests come from and replies go to")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Answer requests until the other end closes."""
    connection = Connection(session.config.getoption("--serving"))
    items = {item.nodeid: item for item in session.items}
    functions = [each for each in gc.get_objects() if type(each) is FunctionType]
    gc.freeze()                                                 # else the first collection in a fork takes a second
    connection.send("ready")
    while True:
        try:
            request = connection.recv()
        except EOFError:
            os._exit(0)
        session.items = [items[test] for test in request.tests if test in items]
        connection.send(_answer(session, request.planted, functions))


def _answer(session: pytest.Session, planted: Planted | None, functions: list[FunctionType]) -> Reply:
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if not child:
            if planted is not None:
                plant(planted, functions)
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


def plant(planted: Planted, functions: list[FunctionType]) -> None:
    """Give those of the functions that are from a file their faulty code."""
    sound, faulty = (compile(text, planted.file, "exec", dont_inherit=True) for text in planted[1:])
    changed = {old: new for old, new in _pairs(sound, faulty) if old != new}
    for function in functions:
        code = function.__code__
        if code.co_filename == planted.file and code in changed and code.co_freevars == changed[code].co_freevars:
            function.__code__ = changed[code]


def _pairs(sound: CodeType, faulty: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code of a file and of each function in the file, beside the code with the fault."""
    yield sound, faulty
    inner = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (sound, faulty)]
    if len(inner[0]) == len(inner[1]):
        for pair in zip(*inner):
            yield from _pairs(*pair)
