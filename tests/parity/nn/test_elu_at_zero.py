"""ELU at zeros, where the straight side counts, whatever `alpha` is, against PyTorch."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import retrograd


@pytest.mark.parametrize("way", ["NumPy", "machine code", "compiled"])
@pytest.mark.parametrize("size", [4, 40_000])
@pytest.mark.parametrize("alpha", [1.0, -0.5, -0.0, math.inf, math.nan])
def test_zeros_stay_zeros(alpha: float, size: int, way: str) -> None:
    array = np.resize(np.array([0.0, -0.0, 1.5, math.inf], np.float32), size)
    elu = retrograd.nn.functional.elu
    if way == "compiled":
        elu = retrograd.compile(elu)
        elu(retrograd.from_numpy(array), alpha)
    want = torch.nn.functional.elu(torch.from_numpy(array), alpha).numpy()
    with retrograd.backends.native.flags(enabled=way != "NumPy"):
        found = elu(retrograd.from_numpy(array), alpha).numpy()
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(want))
