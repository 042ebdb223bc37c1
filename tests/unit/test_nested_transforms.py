"""Derivatives to third order in every nesting of the ways to differentiate, against differences of the function."""

from __future__ import annotations

import random
import warnings
from functools import cache
from itertools import product

import pytest

import retrograd as torch
from comparing.curves import at, derivative
from comparing.nestings import allowed, nested, order, ways

X = 0.7
CURVES = at(torch, ours=True)
WAYS = ways(torch)
NESTINGS = [nesting for count in (1, 2, 3) for nesting in product(WAYS, repeat=count)
            if order(nesting) <= 3 and allowed(nesting)]
# How many nestings of each order are drawn for each curve, and how far a derivative may be from the differences.
DRAWN = {1: 8, 2: 6, 3: 3}
NEAR = {1: 1e-7, 2: 1e-5, 3: 1e-3}


def number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


@cache
def expected(text: str, degree: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return derivative(lambda x: CURVES[text](number(x)).item(), X, degree)


@pytest.mark.parametrize("text", CURVES)
@pytest.mark.filterwarnings("ignore")
def test_every_nesting_gives_the_derivative(text: str) -> None:
    draw = random.Random(text)
    for degree, count in DRAWN.items():
        for nesting in draw.sample([each for each in NESTINGS if order(each) == degree], count):
            found = nested(WAYS, nesting, CURVES[text])(number(X)).item()
            assert found == pytest.approx(expected(text, degree), rel=NEAR[degree], abs=NEAR[degree]), nesting
