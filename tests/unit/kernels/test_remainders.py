"""Exact quotients and remainders of many floats at once: number by number what NumPy's loops give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd.kernels.elementwise import elementary, remainders

RNG = np.random.default_rng(0)
MANY = 40_000
OPERANDS = {
    "normal": (RNG.standard_normal(MANY) * 10, RNG.standard_normal(MANY) + 0.01),
    "decimals, whose quotients round up": (np.round(RNG.random(MANY) * 20, 1), np.full(MANY, 0.1)),
    "one divisor": (RNG.standard_normal(MANY) * 1e3, np.array(-0.7)),
    "whole": (RNG.integers(-9, 10, MANY), RNG.choice([-3.0, 2.0, 5.0, 0.5], MANY)),
    "small": (RNG.standard_normal(MANY) * 1e-30, RNG.standard_normal(MANY) * 1e-32),
    "infinite": (RNG.standard_normal(MANY), np.where(RNG.random(MANY) < 0.01, np.inf, 1.0)),
    "zero": (RNG.standard_normal(MANY), np.where(RNG.random(MANY) < 0.01, 0.0, 1.0)),
    "nan": (np.where(RNG.random(MANY) < 0.01, np.nan, 1.5), np.ones(MANY)),
    "large quotients": (RNG.standard_normal(MANY) * 1e20, np.ones(MANY)),
    "broadcast": (RNG.standard_normal((200, 200)), RNG.random((200, 1)) + 0.1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", OPERANDS)
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_bits_of_numpy(name: str, case: str, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        x, y = (operand.astype(dtype) for operand in OPERANDS[case])
        expected = getattr(np, name)(x, y)
        found = getattr(remainders, name)(x, y, ...)
        written = getattr(remainders, name)(x, y, np.empty_like(expected))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(written, expected)
    if name == "remainder":                                 # NumPy gives zeros the sign of y, PyTorch that of x
        expected = np.where(expected == 0, np.copysign(expected, x), expected)
    for result in (found, written):
        np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


def test_the_exact_way_is_taken() -> None:
    for case in ("normal", "decimals, whose quotients round up", "one divisor", "whole"):
        x, y = (operand.astype(np.float64) for operand in OPERANDS[case])
        assert remainders._whole_and_rest(x, y) is not None, case


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30, 0.0])
def test_hypot_neither_over_nor_underflows(scale: float, dtype: Any) -> None:
    x, y = (RNG.standard_normal(100).astype(dtype) * dtype(scale) for _ in range(2))
    with np.errstate(all="ignore"):
        np.testing.assert_array_max_ulp(elementary.hypot(x, y), np.hypot(x, y), 2)
