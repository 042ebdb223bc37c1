"""Random programs with sparse tensors, by both libraries: layouts, indices, values, flags, nodes and gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd
from programs.random_sparse_programs import program, seen

# Where PyTorch multiplies an empty product by numbers of another dtype, and where a gradient is known to be coalesced
# because of who holds its indices.
BESIDE = {303, 831}


def _over(theirs: Any, ours: Any) -> bool:
    """Whether the comparison ends: PyTorch raises an error, or broadcasts a sparse tensor, which retrograd does not."""
    return isinstance(theirs, Exception) or (isinstance(ours, Exception) and "expand" in str(ours))


@pytest.mark.parametrize("first", range(0, 2400, 100))
@pytest.mark.sampled(4)
def test_both_see_the_same(first: int) -> None:
    for seed in {*range(first, first + 100)} - BESIDE:
        for theirs, ours in zip(seen(torch, seed), seen(retrograd, seed), strict=False):
            if _over(theirs[1], ours[1]):
                break
            assert theirs == ours, (seed, program(seed))
