"""Norms of one dim against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import retrograd


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("size", [100, 5000])
def test_second_derivatives_of_a_layer_norm_of_one_dim(size: int, native: bool) -> None:
    array, found = np.random.default_rng(0).standard_normal(size), []
    for t in (torch, retrograd):
        x = t.from_numpy(array).requires_grad_()
        with retrograd.backends.native.flags(enabled=native):
            first, = t.autograd.grad(t.nn.functional.layer_norm(x, (size,)).sin().sum(), x, create_graph=True)
            found.append(t.autograd.grad(first.square().sum(), x)[0].numpy())
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)
