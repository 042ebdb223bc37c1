"""What the error about a saved value that was written to says, in random programs, beside PyTorch."""

import pytest
import torch

import retrograd
from programs.stale_programs import program, told


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
@pytest.mark.parametrize("block", range(8))
def test_random_writes(block: int) -> None:
    stale = 0
    for seed in range(block * 100, block * 100 + 100):
        text = program(seed)
        theirs, ours = told(torch, text), told(retrograd, text)
        assert ours == (theirs[0], pytest.approx(theirs[1], rel=1e-5)), text
        stale += "modified by an inplace operation" in ours[0]
    assert stale > 40
