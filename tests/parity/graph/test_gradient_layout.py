"""How a first gradient lies in memory, and whether it counts as written, against real PyTorch."""

from __future__ import annotations

import warnings

import pytest
import torch

from programs.first_gradients import PROGRAMS, first_gradient


@pytest.mark.parametrize(("leaf", "program", "strides", "version"), PROGRAMS)
def test_pytorch_has_these(leaf: str, program: str, strides: tuple[int, ...], version: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert first_gradient(torch, leaf, program) == (strides, version)
