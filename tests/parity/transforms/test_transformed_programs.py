"""What random programs are refused inside of `vmap`, PyTorch refuses too."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.transformed_programs import Program, StepError, batch, runs, written


@pytest.mark.parametrize("block", range(4))
@pytest.mark.filterwarnings("ignore")
def test_refusals_are_those_of_pytorch(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        program, samples = written(retrograd, seed)
        for found, arguments, in_dims in runs(program, samples):
            for refused in found.refused:
                with pytest.raises(StepError):
                    torch.vmap(Program(torch, refused.steps), in_dims=in_dims)(*batch(torch, arguments, in_dims))
