"""Random programs, step by step, against PyTorch; and, as plain programs, the differences that they once found."""

import pytest
import torch

import retrograd
from programs.found_programs import FOUND
from programs.random_machine import difference, disagreement, observed
from programs.random_programs import generate


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        found = disagreement(torch, retrograd, seed, generate)
        assert found is None, found


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    found = difference(torch, retrograd, observed(FOUND[name]))
    assert found is None, found
