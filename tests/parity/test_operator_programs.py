"""Random programs of operators, step by step and through two derivatives, against PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from found_operator_programs import FOUND
from operator_machine import difference
from operator_programs import generate
from random_machine import OBSERVE, shrunk


@pytest.mark.parametrize("block", range(8))
def test_random_programs_of_operators(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        steps = generate(torch, seed)
        if difference(torch, retrograd, steps) is not None:
            steps = shrunk(torch, retrograd, steps, difference)
            told = "\n".join(steps)
            raise AssertionError(f"seed {seed}\n{told}\n{difference(torch, retrograd, steps)}")


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    lines = [line.strip() for line in FOUND[name].strip().splitlines()]
    found = difference(torch, retrograd, [step for line in lines for step in (line, OBSERVE)])
    assert found is None, found
