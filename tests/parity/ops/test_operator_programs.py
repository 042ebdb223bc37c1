"""Random programs of operators, step by step and through two derivatives, against PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.found_operator_programs import FOUND
from programs.operator_machine import difference
from programs.operator_programs import generate
from programs.random_machine import disagreement, observed


@pytest.mark.parametrize("block", range(8))
def test_random_programs_of_operators(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        found = disagreement(torch, retrograd, seed, generate, difference)
        assert found is None, found


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    found = difference(torch, retrograd, observed(FOUND[name]))
    assert found is None, found
