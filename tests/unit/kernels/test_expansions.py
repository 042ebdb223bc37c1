"""The sums that special functions are made of, against NumPy's own and the C library's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from retrograd.kernels.special import expansions, normal, tables as special_tables

TABLES = [name for name in vars(special_tables) if name.isupper()]
X = np.random.default_rng(0).standard_normal(3000) * 2


@pytest.mark.parametrize("name", TABLES)
def test_powers_are_as_good_as_polynomials(name: str) -> None:
    """To a few units in the last place of the largest term, which is as near as Chebyshev polynomials come."""
    table = getattr(special_tables, name)
    x = np.linspace(-3, 5, 500)
    expected = np.polynomial.chebyshev.chebval((x - 1) / 4, np.array(table, np.longdouble))
    found = expansions.chebyshev(table, x, -3.0, 5.0)
    assert np.abs(found - expected).max() <= 1.5e-15 * np.abs(table).sum()


@pytest.mark.parametrize("length", [2, 4, 5, 6, 9])
def test_short_expansions(length: int) -> None:
    table = tuple(np.random.default_rng(length).random(length))
    x = np.linspace(0, 2, 50)
    np.testing.assert_allclose(expansions.chebyshev(table, x, 0.0, 2.0), np.polynomial.chebyshev.chebval(x - 1, table),
                               rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_only_the_elements_of_a_condition_are_computed(share: float) -> None:
    condition = np.random.default_rng(0).random(X.size) < share
    result, seen = np.full_like(X, -1.0), []

    def doubled(x: Any) -> Any:
        seen.append(x.size)
        return 2 * x

    expansions.where_so(condition, doubled, result, X)
    np.testing.assert_array_equal(result, np.where(condition, 2 * X, -1.0))
    assert sum(seen) == np.count_nonzero(condition)


@pytest.mark.parametrize(("dtype", "ulps"), [(np.float32, 2), (np.float64, 2)])
def test_erf(dtype: Any, ulps: int) -> None:
    x = X.astype(dtype)
    expected = np.array([math.erf(value) for value in x.tolist()])
    found = normal.erf(x)
    assert np.max(np.abs(found - expected) / np.spacing(np.abs(expected).astype(dtype))) <= ulps
    with np.errstate(invalid="ignore"):
        ends = normal.erf(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 7.0], dtype))
    np.testing.assert_array_equal(ends, np.array([0.0, -0.0, 1.0, -1.0, np.nan, 1.0], dtype))
    np.testing.assert_array_equal(np.signbit(ends[:2]), [False, True])


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 3e-7), (np.float64, 5e-16)])
def test_the_probability_of_gelu(dtype: Any, error: float) -> None:
    x = np.concatenate([X, [0.0, 5.9, 6.1, -6.1, 50.0, -50.0]]).astype(dtype)
    expected = np.array([1 + math.erf(value * math.sqrt(0.5)) for value in x.tolist()])
    found = normal.twice_ndtr(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=error)
    np.testing.assert_array_equal(found[-2:], [2.0, 0.0])
