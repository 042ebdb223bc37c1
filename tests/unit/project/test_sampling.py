"""Which part of the tests runs in `make test` and `make quick`: no parameter loses a value, and no file is left out."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from costing import costs
from sampling import ALONE, MOST, SECONDS, cheap, on_diagonals, spread
from showing.pages import ROOT


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("sizes", [(3, 4), (5, 3, 2), (2, 9, 2, 4)])
def test_every_value_of_each_parameter_is_on_a_diagonal(sizes: tuple[int, ...], n: int) -> None:
    values = [[object() for _ in range(size)] for size in sizes]
    cases = [dict(enumerate(row)) for row in itertools.product(*values)]
    named = [{str(name): value for name, value in case.items()} for case in cases]
    places = on_diagonals(named, n)
    assert len(cases) / n - len(cases) / 6 <= len(places) <= len(cases) / n + len(cases) / 6
    for name, of_one in enumerate(values):
        if any(size >= n for other, size in enumerate(sizes) if other != name):
            assert {id(cases[place][name]) for place in places} == {id(value) for value in of_one}


@pytest.mark.parametrize(("sizes", "n"), [((15, 8, 2, 2), 7), ((15, 8, 2, 2, 2), 45), ((20, 2), 20), ((7, 7, 7), 20)])
def test_few_cases_are_spread_over_the_values_of_all_parameters(sizes: tuple[int, ...], n: int) -> None:
    cases = [*itertools.product(*[range(size) for size in sizes])]
    places = on_diagonals([{str(name): value for name, value in enumerate(case)} for case in cases], n)
    assert 0 <= len(places) - len(cases) / n <= 2
    for values in zip(*[cases[place] for place in places], strict=True):
        counts = [*Counter(values).values()]
        assert max(counts) <= 2 * min(counts) + 1


def test_parameters_that_go_together_count_once() -> None:
    kinds, names = [object() for _ in range(4)], [object() for _ in range(4)]
    cases = [{"kind": kind, "name": name} for kind, name in zip(kinds, names, strict=True)]
    assert on_diagonals(cases, 2) == [0, 2]


def test_a_quick_run_has_what_costs_little_and_something_of_each_file() -> None:
    counts = {"a::free": 3, "a::many": 1000, "a::dear": 5, "b::dear": 5, "b::dearer": 5, "c::slow": 2}
    cost = {"a::dear": SECONDS / 2, "b::dear": 2 * SECONDS, "b::dearer": 3 * SECONDS, "c::slow": 2 * ALONE}
    assert cheap(counts, cost) == {
        "a::free": 3, "a::many": MOST, "a::dear": 2, "b::dear": 1, "b::dearer": 0, "c::slow": 0}


def test_cases_are_spread() -> None:
    assert spread(10, 4) == [0, 2, 5, 7]
    assert spread(3, 3) == [0, 1, 2]
    assert spread(3, 0) == []


def test_the_table_of_costs_names_tests_that_there_are() -> None:
    for name in costs():
        path, _, function = name.partition("::")
        assert f"def {function.rpartition('::')[2]}(" in (ROOT / path).read_text(encoding="utf-8"), name
