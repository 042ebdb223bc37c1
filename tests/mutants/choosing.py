"""A plugin for pytest that runs the tests named in a file, in that order.

    python -m pytest -p mutants.choosing --chosen=FILE tests/unit/test_a.py ...
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chosen", help="a file with the name of a test in each line")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--chosen"):
        places = {name: i for i, name in enumerate(Path(config.getoption("--chosen")).read_text().splitlines())}
        items[:] = sorted((item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid])
