"""What holds for every test: Hypothesis sets no deadline, since the machine may be busy with something else.

Nor does it matter which tests ran before: what is warned of once a process is warned of every time.
"""

import gc
from collections.abc import Iterator
from itertools import groupby

import pytest
from hypothesis import settings

import needing
import retrograd

retrograd.set_warn_always(True)

retrograd.manual_seed(0)                                   # tests may draw while they are collected

settings.register_profile("retrograd", deadline=None)
settings.load_profile("retrograd")


# These files start a Python for most of their tests, or build the documentation: a quarter of the time of all.
_SLOW_FILES = ("test_command.py", "test_command_explore.py", "test_examples.py", "test_learn.py", "test_site.py")
_SLOW_TESTS = ("test_a_chain_of_a_million_nodes", "test_the_table_reaches_every_operator")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="a part, in a minute at most: of a test with more than 100 "
                                                          "cases every fourth, and no files that start a Python a test")
    parser.addoption("--complete", action="store_true", help="all packages are here: a test that is skipped for an "
                                                             "absent one runs instead, and fails (see needing.py)")


def pytest_configure(config: pytest.Config) -> None:
    needing.complete = config.getoption("--complete")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skip a test that meets an absent package, with retrograd's own words about what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if needing.is_excuse(error):
            pytest.skip(str(error))
        raise


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under `--quick`, keep a part of the tests, which is the same each time."""
    if not config.getoption("--quick"):
        return
    kept = []
    for _, group in groupby(items, lambda item: item.nodeid.partition("[")[0]):
        cases = [item for item in group if item.path.name not in _SLOW_FILES and item.name not in _SLOW_TESTS]
        kept += cases if len(cases) <= 100 else cases[::4]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Restart the default stream of random numbers, so that each test draws the same numbers in any order of tests.

    Before every 200th test, what is there between two tests leaves the garbage collector's sight: the tests, 20,000 of
    them, and the reports on those that have run. Each collection went over them and took a second. Whatever a test
    makes is collected and counted as before.
    """
    if missing := needing.absent(*needing.needed(item)):
        pytest.skip(missing)
    retrograd.manual_seed(0)
    started = item.config.stash.setdefault(_COUNT, [0])
    if started[0] % 200 == 0:
        gc.collect()
        gc.freeze()
    started[0] += 1


_COUNT = pytest.StashKey[list[int]]()
