"""Random indices read and written, by both libraries: values, types, versions, nodes, gradients and refusals."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.index_programs import program, seen

# Where PyTorch finds out late, or not at all, that an index is outside, and retrograd refuses before it writes.
LATER = {2081, 2619, 2788, 3740, 6063, 6644, 6768, 7793}


@pytest.mark.parametrize("first", range(2000, 3600, 100))
def test_both_see_the_same(first: int) -> None:
    for seed in range(first, first + 100):
        if seed not in LATER:
            for theirs, ours in zip(seen(torch, seed), seen(retrograd, seed), strict=True):
                assert theirs == ours, (seed, program(seed))
