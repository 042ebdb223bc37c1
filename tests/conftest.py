"""What holds for every test, and which tests run.

Hypothesis sets no deadline, since the machine may be busy with something else. Nor does it matter which tests ran
before: what is warned of once a process is warned of every time.

`--thorough` runs everything. Without it, a test that is marked as `sampled(n)` runs about one of n of its cases, and
Hypothesis tries fewer examples. `--quick` runs a part of this that takes a minute: of each test the few cases that cost
little. What a case costs is measured by `make costs`.
"""

import gc
from collections import defaultdict
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import settings

import retrograd
from costing import costs

retrograd.set_warn_always(True)

retrograd.manual_seed(0)                                   # tests may draw while they are collected

# How many examples Hypothesis tries.
_EXAMPLES = {"thorough": 100, "usual": 30, "quick": 5}
for _name, _count in _EXAMPLES.items():
    settings.register_profile(_name, deadline=None, max_examples=_count)

# Under `--quick`: how many cases of a test run at most, how many seconds they may take, and how many seconds a test may
# take that is the only one of its file.
_CASES, _SECONDS, _ALONE = 10, 0.08, 1.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="all cases of all tests")
    parser.addoption("--quick", action="store_true",
                     help="a part, in a minute at most: of each test a few cases that cost little")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sampled(n): without --thorough, one of n cases runs, along diagonals")
    settings.load_profile(_extent(config))


def _extent(config: pytest.Config) -> str:
    return "thorough" if config.getoption("--thorough") else "quick" if config.getoption("--quick") else "usual"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep a part of the tests, which is the same each time. A test that is asked for by its name runs as a whole."""
    if config.getoption("--thorough") or any("::" in argument for argument in config.args):
        return
    tests = {name: _sampled([*group]) for name, group in groupby(items, lambda item: item.nodeid.partition("[")[0])}
    if config.getoption("--quick"):
        tests = _cheap(tests)
    kept = [case for cases in tests.values() for case in cases]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept


def _sampled(cases: list[pytest.Item]) -> list[pytest.Item]:
    """One of n cases, along diagonals of the parameters, so that all values of each parameter occur."""
    mark = cases[0].get_closest_marker("sampled")
    if mark is None:
        return cases
    values = [case.callspec.params for case in cases if isinstance(case, pytest.Function)]
    columns = {_numbered([id(each[name]) for each in values]) for name in values[0]}    # those that go together once
    return [case for case, row in zip(cases, zip(*columns, strict=True), strict=True) if sum(row) % mark.args[0] == 0]


def _numbered(values: list[int]) -> tuple[int, ...]:
    """Each value as its place among the different values."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return tuple([places[value] for value in values])


def _cheap(tests: dict[str, list[pytest.Item]]) -> dict[str, list[pytest.Item]]:
    """Of each test as many cases as cost little, spread over all; of each file one case at least, unless it is slow."""
    cost, files, kept = costs(), defaultdict(list), {}
    for name, cases in tests.items():
        each = cost.get(name, 0.0)
        count = min(len(cases), _CASES, int(_SECONDS / each) if each else _CASES)
        kept[name] = [cases[place * len(cases) // count] for place in range(count)]
        files[name.partition("::")[0]].append(name)
    for names in files.values():
        least = min(names, key=lambda name: cost.get(name, 0.0))
        if not any(kept[name] for name in names) and cost[least] < _ALONE:
            kept[least] = tests[least][:1]
    return kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Restart the default stream of random numbers, so that each test draws the same numbers in any order of tests.

    Before the first test of a file, and before every 200th test, what is there between two tests leaves the garbage
    collector's sight: the tests, 40,000 of them, the reports on those that have run, and the syntax trees that some
    tests keep. Each collection went over them and took a second. Whatever a test makes is collected as before.
    """
    retrograd.manual_seed(0)
    count, path = item.config.stash.get(_BEFORE, (0, None))
    if count % 200 == 0 or item.path != path:
        gc.collect()
        gc.freeze()
    item.config.stash[_BEFORE] = count + 1, item.path


_BEFORE = pytest.StashKey[tuple[int, Path | None]]()
