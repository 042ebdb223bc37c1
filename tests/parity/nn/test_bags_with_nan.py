"""`embedding_bag` of rows with nan, infinities and ties: results and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import retrograd
from comparing.all_modes import alike, outcome

CALLS = (
    "F.embedding_bag(i, x, o, mode={})", "F.embedding_bag(i[:6].view(2, 3), x, mode={})",
    "F.embedding_bag(i[:6].view(6, 1), x, mode={})", "F.embedding_bag(i, x, o, mode={}, padding_idx=1)",
    "F.embedding_bag(i[:6].view(2, 3), x, mode={}, padding_idx=2)", "F.embedding_bag(i[:0].view(2, 0), x, mode={})",
    "F.embedding_bag(i, x, last, mode={}, include_last_offset=True)", "F.embedding_bag(i[:0].view(0, 2), x, mode={})")
NUMBERS = np.array([np.nan, np.nan, 1, 2, 2, -1, np.inf, -np.inf, 0, -0.0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("mode", ["max", "sum", "mean"])
@pytest.mark.parametrize("call", CALLS)
def test_bags_with_nan(call: str, mode: str, dtype: str) -> None:
    drawn = np.random.default_rng(0)
    for _ in range(20):
        given = {"x": drawn.choice(NUMBERS, size=(5, 3)).astype(dtype), "i": drawn.integers(0, 5, size=7),
                 "o": np.array([0, 2, 2, 5]), "last": np.array([0, 2, 2, 7])}
        for way in ("value", "vjp"):
            theirs, ours = (outcome(t, call.format(repr(mode)), given, way) for t in (torch, retrograd))
            assert alike(theirs, ours), (given, way, theirs, ours)
