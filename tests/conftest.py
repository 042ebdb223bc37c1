"""What holds for every test: Hypothesis sets no deadline, since the machine may be busy with something else.

Nor does it matter which tests ran before: what is warned of once a process is warned of every time.
"""

import gc
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings

import retrograd

retrograd.set_warn_always(True)

retrograd.manual_seed(0)                                   # tests may draw while they are collected

settings.register_profile("retrograd", deadline=None)
settings.load_profile("retrograd")


# These files start a Python for most of their tests, or build the documentation: a quarter of the time of all.
_SLOW_FILES = ("command/test_command.py", "command/test_explore.py", "docs/test_examples.py", "docs/test_learn.py",
               "docs/test_site.py")
_SLOW_TESTS = ("test_a_chain_of_a_million_nodes", "test_the_table_reaches_every_operator")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="a part, in a minute at most: of a test with more than 100 "
                                                          "cases every fourth, and no files that start a Python a test")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under `--quick`, keep a part of the tests, which is the same each time."""
    if not config.getoption("--quick"):
        return
    kept = []
    for _, group in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        cases = [item for item in group
                 if not item.path.as_posix().endswith(_SLOW_FILES) and item.name not in _SLOW_TESTS]
        kept += cases if len(cases) <= 100 else cases[::4]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Restart the default stream of random numbers, so that each test draws the same numbers in any order of tests.

    Before the first test of a file, and before every 200th test, what is there between two tests leaves the garbage
    collector's sight: the tests, 40,000 of them, the reports on those that have run, and the syntax trees that some tests
    keep. Each collection went over them and took a second. Whatever a test makes is collected and counted as before.
    """
    retrograd.manual_seed(0)
    count, path = item.config.stash.get(_BEFORE, (0, None))
    if count % 200 == 0 or item.path != path:
        gc.collect()
        gc.freeze()
    item.config.stash[_BEFORE] = count + 1, item.path


_BEFORE = pytest.StashKey[tuple[int, Path | None]]()
