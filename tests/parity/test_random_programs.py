"""Random programs, step by step, against PyTorch; and, as plain programs, the differences that they once found."""

import pytest
import torch

import retrograd
from found_programs import FOUND
from random_machine import OBSERVE, difference, shrunk
from random_programs import generate


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        steps = generate(torch, seed)
        if difference(torch, retrograd, steps) is not None:
            steps = shrunk(torch, retrograd, steps)
            told = "\n".join(steps)
            raise AssertionError(f"seed {seed}\n{told}\n{difference(torch, retrograd, steps)}")


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    lines = [line.strip() for line in FOUND[name].strip().splitlines()]
    found = difference(torch, retrograd, [step for line in lines for step in (line, OBSERVE)])
    assert found is None, found
