"""Calls of `autograd.grad` and `backward` with any outputs, inputs, gradients and options end as in PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.gradient_calls import outcome


@pytest.mark.parametrize("block", range(10))
def test_a_call_ends_the_same(block: int) -> None:
    for seed in range(120 * block, 120 * block + 120):
        assert outcome(retrograd, seed) == outcome(torch, seed), seed
