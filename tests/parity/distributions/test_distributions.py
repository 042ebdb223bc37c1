"""Distributions, transforms and constraints against PyTorch: numbers, gradients, shapes, printing, and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd
from comparing import distribution_calls as calls, transform_calls
from comparing.against_torch import as_array, same_error
from comparing.same_distribution import same


def compare(outcomes: Callable[[Any, str], dict[str, Any]], line: str) -> None:
    theirs, ours = (outcomes(library, line) for library in (torch, retrograd))
    for where, expected in theirs.items():
        same(expected, ours.get(where), where)
    assert ours.keys() == theirs.keys()


@pytest.mark.parametrize("line", calls.lines(calls.CONTINUOUS))
def test_continuous(line: str) -> None:
    compare(calls.outcomes, line)


@pytest.mark.parametrize("line", calls.lines(transform_calls.TRANSFORMS))
def test_transforms(line: str) -> None:
    compare(transform_calls.outcomes_of_transform, line)


@pytest.mark.parametrize("line", calls.lines(transform_calls.CONSTRAINTS))
def test_constraints(line: str) -> None:
    compare(transform_calls.outcomes_of_constraint, line)


@pytest.mark.parametrize("line", calls.lines(calls.WRONG) + calls.lines(transform_calls.WRONG))
def test_errors(line: str) -> None:
    theirs, ours = (calls.error_of(library, line) for library in (torch, retrograd))
    assert theirs is not None
    same_error(theirs, ours)


@pytest.mark.parametrize("line", ["Normal(t([0.5, -1.0]), 2.0)", "Uniform(-1.0, t([2.0, 3.0]))", "Exponential(3.0)",
                                  "Cauchy(0.5, 2.0)", "HalfNormal(2.0)", "HalfCauchy(t([2.0, 0.1], dtype=f64))"])
def test_samples_are_the_same_bit_for_bit(line: str) -> None:
    found = []
    for library in (torch, retrograd):
        library.manual_seed(7)
        d = calls.Made(library, line).value
        found.append([as_array(d.sample((50,))).tobytes(), as_array(d.rsample((50,))).tobytes()])
    assert found[0] == found[1]
