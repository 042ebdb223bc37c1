"""A plugin for pytest that notes which functions of the package each test calls, and how long the test takes.

Tests that fail are left out.

    python -m pytest -p mutants.covering --covering=FILE tests/unit
"""

from __future__ import annotations

import pickle
import sys
import threading
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import pytest


@dataclass
class Map:
    """For each function, by file and first line, the places of the tests that call it in the list of tests."""

    tests: list[tuple[str, float]] = field(default_factory=list)
    covers: dict[tuple[str, int], array[int]] = field(default_factory=dict)
    sources: dict[str, bytes] = field(default_factory=dict)

    def of_function(self, path: str, line: int) -> set[int]:
        """The tests that call a function."""
        return set(self.covers.get((path, line), ()))

    def below(self, path: str) -> set[int]:
        """The tests that call any function of a file, or of the files in a folder."""
        return {test for (file, _), tests in self.covers.items() if file.startswith(path) for test in tests}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--covering", help="the file that the map is written to")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--covering"):
        config.pluginmanager.register(_Noting(Path(config.getoption("--covering"))))


class _Noting:
    def __init__(self, target: Path) -> None:
        self.target = target
        self.map = Map()
        self.package = str(Path("src/retrograd").resolve()) + "/"
        self.codes: dict[int, CodeType] = {}                    # by identity, since a hash of code takes long
        self.called: set[int] = set()
        self.passed = False

    def _trace(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if id(code) not in self.called:
            self.called.add(id(code))
            self.codes[id(code)] = code

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.called, self.passed = set(), True
        start = time.process_time()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            if self.passed:
                self._note(item.nodeid, time.process_time() - start)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and report.passed

    def _note(self, test: str, seconds: float) -> None:
        self.map.tests.append((test, seconds))
        found = {(code.co_filename.removeprefix(self.package), code.co_firstlineno)
                 for code in map(self.codes.__getitem__, self.called) if code.co_filename.startswith(self.package)}
        for place in found:
            self.map.covers.setdefault(place, array("I")).append(len(self.map.tests) - 1)

    def pytest_sessionfinish(self) -> None:
        self.map.sources = {str(p.relative_to(self.package)): p.read_bytes() for p in Path(self.package).rglob("*.py")}
        self.target.write_bytes(pickle.dumps(self.map))
