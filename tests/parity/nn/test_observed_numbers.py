"""`fused_moving_avg_obs_fake_quant` of nan and infinities: results, statistics and gradients."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

NAN, INF = math.nan, math.inf
ROWS = ([NAN, 1.0, 2.0], [INF, 1.0], [-INF, 1.0], [1.0, NAN], [NAN, INF], [1.0, 2.0])


@pytest.mark.parametrize("begin", [0.0, NAN, INF, -INF])
@pytest.mark.parametrize("row", ROWS)
def test_numbers_without_a_scale(row: list[float], begin: float) -> None:
    def seen(t: Any, each_row: bool, on: int, observing: int) -> Any:
        x, count = t.tensor([row, row], requires_grad=True), 2 if each_row else 1
        low, high, scale = t.full((count,), begin), t.ones(count), t.ones(count)
        zero = t.zeros(count, dtype=t.int32)
        try:
            out = t.fused_moving_avg_obs_fake_quant(x, t.tensor([observing]), t.tensor([on]), low, high, scale, zero,
                                                    0.1, 0, 255, 0, each_row)
            out.sum().backward()
        except RuntimeError as error:
            return str(error)
        return [tensor.tolist() for tensor in (out, low, high, scale, zero, x.grad)]

    for case in product((False, True), (0, 1), (0, 1)):
        theirs, ours = seen(torch, *case), seen(retrograd, *case)
        if isinstance(theirs, str):
            assert ours == theirs, case
        else:
            for one, other in zip(theirs, ours, strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-6)
