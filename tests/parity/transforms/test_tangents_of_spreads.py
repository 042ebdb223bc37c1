"""Tangents of `std`, `var`, `std_mean` and `var_mean`: of nothing, of one element, of equal elements, of nan."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import retrograd
from comparing.all_modes import alike, outcome

INPUTS = {
    "nothing": np.zeros(0), "no rows": np.zeros((0, 3)), "rows of nothing": np.zeros((3, 0)), "0-d": np.array(2.0),
    "one": np.array([2.0]), "one row": np.array([[2.0, 3.0]]), "equal": np.array([[1.0, 1.0], [2.0, 5.0]]),
    "nan": np.array([math.nan, 1.0]), "complex": np.array([1.0 + 3j, 2.0 + 1j]), "no complex": np.zeros(0, complex),
    "float32": np.array([[1, 2, 4], [3, 3, 3]], np.float32)}
OPTIONS = ("", ", correction=0", ", 0", ", -1, keepdim=True", ", 0, correction=0", ", unbiased=False",
           ", correction=0.5", ", 0, correction=1.5", ", (0, -1) if x.ndim > 1 else 0")


@pytest.mark.parametrize("mode", ["value", "vjp", "jvp", "vmap", "vmap of vjp", "vmap of jvp"])
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("function", ["std", "var", "std_mean", "var_mean"])
def test_derivatives_of_spreads(function: str, option: str, name: str, mode: str) -> None:
    theirs, ours = (outcome(t, f"t.{function}(x{option})", {"x": INPUTS[name]}, mode) for t in (torch, retrograd))
    assert alike(theirs, ours), (theirs, ours)
