"""What holds for every test, and which tests run.

Hypothesis sets no deadline, since the machine may be busy with something else. Nor does it matter which tests ran
before: what is warned of once a process is warned of every time.

`--thorough` runs everything. Without it, a test that is marked as `sampled(n)` runs about one of n of its cases, and
Hypothesis tries fewer examples. `--quick` runs a part of this that takes a minute: of each test the few cases that
cost little. What a case costs is measured by `make costs`.
"""

import gc
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings

import needing
import retrograd
from costing import costs
from sampling import cheap, on_diagonals, spread

retrograd.set_warn_always(True)
os.environ.setdefault("RETROGRAD_TRACEBACK", "full")       # who reads a failed test wants all frames

os.environ.setdefault("RETROGRAD_CACHE", str(Path(__file__).parents[1] / "build" / "object-code"))

retrograd.manual_seed(0)                                   # tests may draw while they are collected

# How many examples Hypothesis tries.
_EXAMPLES = {"thorough": 100, "usual": 30, "quick": 5}
for _name, _count in _EXAMPLES.items():
    settings.register_profile(_name, deadline=None, max_examples=_count)


@pytest.fixture
def no_collector() -> Iterator[None]:
    """No garbage collector: what goes during the test goes by reference counts alone."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="all cases of all tests")
    parser.addoption("--quick", action="store_true",
                     help="a part, in a minute: of each test a few cases that cost little")
    parser.addoption("--complete", action="store_true", help="all packages are here: a test that is skipped for an "
                                                             "absent one runs instead, and fails (see needing.py)")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Iterator[int]:
    """One worker more than processors: a test that waits for a program or a clock leaves its processor to others."""
    return (yield) + 1


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "site: reads the built documentation, which is built while other tests run")
    config.addinivalue_line("markers", "sampled(n): without --thorough, one of n cases runs, along diagonals")
    settings.load_profile(_extent(config))
    needing.complete = config.getoption("--complete")


def _extent(config: pytest.Config) -> str:
    return "thorough" if config.getoption("--thorough") else "quick" if config.getoption("--quick") else "usual"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests without the garbage collector, which would go over all of them and find nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


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
    """Keep a part of the tests, which is the same each time. A test that is asked for by its name runs as a whole."""
    if not config.getoption("--thorough") and not any("::" in argument for argument in config.args):
        _keep_part(config, items)
    items.sort(key=_reads_site)


def _reads_site(item: pytest.Item) -> bool:
    return item.get_closest_marker("site") is not None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin to build the documentation, if a test reads it. Building takes as long as many tests."""
    readers = [item for item in session.items if _reads_site(item) and not needing.absent(*needing.needed(item))]
    if readers and not session.config.getoption("collectonly"):
        from showing import site

        site.begin()


def _keep_part(config: pytest.Config, items: list[pytest.Item]) -> None:
    tests = {name: _sampled([*group]) for name, group in groupby(items, lambda item: item.nodeid.partition("[")[0])}
    if config.getoption("--quick"):                        # the pages alone take a minute to build
        tests = {name: cases for name, cases in tests.items() if not _reads_site(cases[0])}
        counts = cheap({name: len(cases) for name, cases in tests.items()}, costs())
        tests = {name: [cases[place] for place in spread(len(cases), counts[name])] for name, cases in tests.items()}
    kept = [case for cases in tests.values() for case in cases]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


def _sampled(cases: list[pytest.Item]) -> list[pytest.Item]:
    mark = cases[0].get_closest_marker("sampled")
    if mark is None:
        return cases
    parameters = [case.callspec.params for case in cases if isinstance(case, pytest.Function)]
    return [cases[place] for place in on_diagonals(parameters, mark.args[0])]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Restart the default stream of random numbers, and give every warning again, so that each test draws and says the
    same in any order of tests.

    Before the first test of a file, and before every 200th test, what is there between two tests leaves the garbage
    collector's sight: the tests, 40,000 of them, the reports on those that have run, and the syntax trees that some
    tests keep. Each collection went over them and took a second. Whatever a test makes is collected as before.
    """
    if missing := needing.absent(*needing.needed(item)):
        pytest.skip(missing)
    retrograd.manual_seed(0)
    retrograd.set_warn_always(True)
    count, path = item.config.stash.get(_BEFORE, (0, None))
    if count % 200 == 0 or item.path != path:
        gc.collect()
        gc.freeze()
    item.config.stash[_BEFORE] = count + 1, item.path


_BEFORE = pytest.StashKey[tuple[int, Path | None]]()
