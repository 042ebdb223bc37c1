"""The explorer in a real browser: Chromium from the system's packages.

A newcomer's machine need not have one. Where it is missing, the tests in this folder skip and say so.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from needing import absent
from programs.explored import opened
from showing.browsers import Browser, browser


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pages, the browser's profile and its downloads are."""
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="session")
def shown(folder: Path) -> Iterator[Browser]:
    """A browser."""
    if missing := absent("chromium", "chromedriver"):
        pytest.skip(missing)
    with browser(folder) as started:
        yield started


@pytest.fixture
def page(shown: Browser, folder: Path) -> Iterator[Any]:
    """Opens the explorer's page of a pass. At the end, the browser must not have complained of anything."""
    yield partial(opened, shown, folder)
    assert not shown.complaints
