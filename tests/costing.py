"""What tests cost: a plugin for pytest that measures it, and the table that it writes, which `--quick` reads.

A cost is the time of processors, of a process and its children, so it hardly depends on what else a machine does.

    python -m pytest -p costing --costs --thorough --ignore=tests/parity         # or `make costs`
"""

from __future__ import annotations

import os
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


class _Measuring:
    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid.partition("[")[0]].append(sum(os.times()[:4]) - start)

    def pytest_sessionfinish(self) -> None:
        means = {name: sum(each) / len(each) for name, each in self.seconds.items()}
        lines = [f"{mean:.2f} {name}\n" for name, mean in means.items() if mean >= _LEAST]
        TABLE.write_text("".join(lines), encoding="utf-8")
