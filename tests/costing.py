"""What tests cost: a plugin for pytest that measures it, and the table that it writes, which `--quick` reads.

A cost is the time of processors, of a process and its children, or the time that passes, if the test waits for
something. So run it on a machine that does nothing else.

    python -m pytest -p costing --costs --thorough --ignore=tests/parity         # or `make costs`
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TABLE = Path(__file__).parent / "costs.txt"
_LEAST = 0.02                                              # seconds; what costs less is not in the table


def costs() -> dict[str, float]:
    """The seconds that a case of a test takes, by the name of the test. Tests that are not listed take next to none."""
    rows = [line.split(maxsplit=1) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return {name: float(seconds) for seconds, name in rows}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", action="store_true", help=f"measure what tests cost, and write it to {TABLE.name}")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--costs"):
        config.pluginmanager.register(_Measuring())


def _now() -> tuple[float, float]:
    """The seconds of processors that this process and its children have used, and the seconds of a clock."""
    return sum(os.times()[:4]), time.perf_counter()


def _since(start: tuple[float, float]) -> float:
    """The seconds of processors that were used since then, or those that have passed, if these are more."""
    return max([now - then for now, then in zip(_now(), start, strict=True)])


class _Measuring:
    """A fixture that several tests share counts for each of them: any of them may be the only one that runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.shared: dict[tuple[str, str], float] = {}     # by the file and the name of the fixture
        self.prepared = 0.0                                # seconds in shared fixtures, of the present test

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start, self.prepared = _now(), 0.0
        try:
            return (yield)
        finally:
            own, names = _since(start) - self.prepared, getattr(item, "fixturenames", ())
            around = sum([self.shared.get((place, name), 0.0) for name in names for place in (str(item.path), "")])
            self.seconds[item.nodeid.partition("[")[0]].append(own + around)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> object:
        if fixturedef.scope == "function":
            return (yield)
        start, inner = _now(), self.prepared
        try:
            return (yield)
        finally:
            seconds = _since(start) - (self.prepared - inner)
            place = str(request.path) if fixturedef.scope == "module" else ""
            self.shared[place, fixturedef.argname] = seconds
            self.prepared += seconds

    def pytest_sessionfinish(self) -> None:
        means = {name: sum(each) / len(each) for name, each in self.seconds.items()}
        lines = [f"{mean:.2f} {name}\n" for name, mean in means.items() if mean >= _LEAST]
        TABLE.write_text("".join(lines), encoding="utf-8")
