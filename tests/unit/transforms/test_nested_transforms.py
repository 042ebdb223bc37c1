"""Derivatives to third order in every nesting of the ways to differentiate, against differences of the function."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product

import pytest

import retrograd as torch
from comparing.curves import at, derivative
from comparing.nestings import NEAR, NESTINGS, X, nested, order, ways

CURVES = at(torch, ours=True)
WAYS = ways(torch)
# How many nestings of each order are drawn for each curve. `comparing.nesting_counts` tries all of them.
DRAWN = {1: 4, 2: 3, 3: 2}


def number(value: float) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


@cache
def expected(text: str, degree: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return derivative(lambda x: CURVES[text](number(x)).item(), X, degree)


@pytest.mark.sampled(6)                                    # each curve runs all nestings
@pytest.mark.parametrize("text", CURVES)
@pytest.mark.filterwarnings("ignore")
def test_every_nesting_gives_the_derivative(text: str) -> None:
    draw = random.Random(text)
    for degree, count in DRAWN.items():
        for nesting in draw.sample([each for each in NESTINGS if order(each) == degree], count):
            found = nested(WAYS, nesting, CURVES[text])(number(X)).item()
            assert found == pytest.approx(expected(text, degree), rel=NEAR[degree], abs=NEAR[degree]), nesting


def with_weight(w: torch.Tensor) -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
    """Functions of a number that use another number, which is no argument of theirs."""
    return {"sine": lambda x: (w * x).sin() * w.exp(), "softmax": lambda x: torch.stack([w, x, x * w]).softmax(0)[2],
            "matrix": lambda x: (torch.stack([x, w, w * x, x * x]).reshape(2, 2) @ torch.stack([w, x])).prod()}


def curvature(nesting: tuple[str, str], name: str, w: torch.Tensor) -> torch.Tensor:
    """The sum of the second derivatives of three samples."""
    points = torch.tensor([0.4, 0.7, 1.1], dtype=torch.float64)
    return torch.vmap(nested(WAYS, nesting, with_weight(w)[name]))(points).sum()


@cache
def expected_curvature(name: str) -> float:
    return derivative(lambda v: curvature(("backward", "backward"), name, number(v)).item(), X, 1)


@pytest.mark.parametrize("name", with_weight(number(0)))
@pytest.mark.parametrize("nesting", [*product(["grad", "jvp", "jacfwd", "backward", "vmap of grad"], repeat=2)],
                         ids=" of ".join)
@pytest.mark.sampled(2)
def test_gradients_by_what_a_function_uses_cross_every_level(name: str, nesting: tuple[str, str]) -> None:
    w = number(X).requires_grad_()
    curvature(nesting, name, w).backward()
    assert w.grad is not None
    assert w.grad.item() == pytest.approx(expected_curvature(name), rel=1e-8)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_a_gradient_that_is_tied_to_an_input_outside_of_a_batch(reduction: str) -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        scores = torch.stack([x.sin(), x * x]).reshape(1, 2)
        return torch.nn.functional.nll_loss(scores, torch.tensor([1]), reduction=reduction) * x

    assert nested(WAYS, ("vjp", "jacrev", "vjp"), loss)(number(X)).item() == pytest.approx(-6)
