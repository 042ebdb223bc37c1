"""torch.func: results and errors of the transforms, against PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.function_transforms import AT_POINT, ON_ROWS, POINT_CALLS, ROW_CALLS
from comparing.same_expression import check
from comparing.transform_uses import SETUP, USES


@pytest.mark.parametrize("call", [line for line in POINT_CALLS.split("\n") if line])
def test_gradients_and_tangents_end_as_in_pytorch(call: str) -> None:
    check(torch, retrograd, AT_POINT, call)


@pytest.mark.parametrize("call", [line for line in ROW_CALLS.split("\n") if line])
def test_batches_end_as_in_pytorch(call: str) -> None:
    check(torch, retrograd, ON_ROWS, call)


@pytest.mark.parametrize("use", [line for line in USES.split("\n") if line])
def test_uses_end_as_in_pytorch(use: str) -> None:
    check(torch, retrograd, SETUP, use)
