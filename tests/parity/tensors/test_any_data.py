"""What is made from data of any kind is what PyTorch makes: types, sizes, numbers, and the first error."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.tensor_data import outcome


@pytest.mark.parametrize("block", range(10))
def test_the_same_is_made(block: int) -> None:
    for seed in range(150 * block, 150 * block + 150):
        assert outcome(retrograd, seed) == outcome(torch, seed), seed
