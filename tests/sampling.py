"""Which cases of a test run, if not all do: some along diagonals of the parameters, or as many as cost little.

It knows cases by their parameters and costs by the names of tests, and no pytest.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections import defaultdict
from collections.abc import Mapping, Sequence

# In a quick run: how many cases of a test run at most, how many seconds they may take together, and how many seconds a
# test may take of which nothing else in its file runs.
MOST, SECONDS, ALONE = 4, 0.25, 1.5


def on_diagonals(cases: Sequence[Mapping[str, object]], n: int) -> list[int]:
    """The places of about one of n cases, which are given as the values of their parameters.

    A case is on a diagonal if the weighted places of its values, each among the values of its parameter, add up to a
    multiple of n. So every value of a parameter occurs, if another parameter has n values. If none has so many, the
    cases are spread over the values, and some values may be absent if few cases are kept.
    """
    columns = {_numbered([id(case[name]) for case in cases]) for name in cases[0]}      # those that go together once
    longest_first = sorted(columns, key=lambda places: (-max(places), places))
    weights = _weights([max(places) + 1 for places in longest_first], n)
    rows = zip(*longest_first, strict=True)
    return [place for place, row in enumerate(rows) if sum(map(operator.mul, weights, row)) % n == 0]


def _weights(sizes: Sequence[int], n: int) -> list[int]:
    """The weights of parameters with so many values: about those by which the sum is another one for each case, each
    without a common factor with n.
    """
    weights, least = list[int](), 1
    for size in sizes:
        weights.append(next(weight for weight in itertools.count(least) if math.gcd(weight, n) == 1))
        least = weights[-1] * size
    return weights


def _numbered(values: list[int]) -> tuple[int, ...]:
    """Each value as its place among the different values."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return tuple([places[value] for value in values])


def cheap(counts: Mapping[str, int], cost: Mapping[str, float]) -> dict[str, int]:
    """How many cases of each test run, out of those that it has: what costs little, and one case of each file at least,
    unless this is slow. A cost is the seconds of one case; a test without one takes next to none.
    """
    kept, files = {}, defaultdict(list)
    for name, count in counts.items():
        each = cost.get(name, 0.0)
        kept[name] = min(count, MOST, int(SECONDS / each) if each else MOST)
        files[name.partition("::")[0]].append(name)
    for names in files.values():
        least = min(names, key=lambda name: cost.get(name, 0.0))
        if not any(kept[name] for name in names) and cost.get(least, 0.0) < ALONE:
            kept[least] = 1
    return kept


def spread(count: int, kept: int) -> list[int]:
    """The places of some of the cases, at equal distances."""
    return [place * count // kept for place in range(kept)]
