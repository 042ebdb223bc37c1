"""How a first gradient lies in memory, and whether it counts as written: as recorded from PyTorch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import retrograd as torch
from programs.first_gradients import PROGRAMS, first_gradient


@pytest.mark.parametrize(("leaf", "program", "strides", "version"), PROGRAMS)
def test_strides_and_version(leaf: str, program: str, strides: tuple[int, ...], version: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                 # of the cycle that create_graph makes
        assert first_gradient(torch, leaf, program) == (strides, version)


def test_a_gradient_never_shares_the_memory_of_the_cotangent() -> None:
    given = torch.ones(6)
    x = torch.ones(2, 3, requires_grad=True)
    x.reshape(6).backward(given)
    assert not np.shares_memory(x.grad.numpy(), given.numpy())


def test_the_gradient_of_a_layers_weight_is_not_copied() -> None:
    weight, bias = torch.ones(4, 3, requires_grad=True), torch.ones(4, requires_grad=True)
    torch.nn.functional.linear(torch.ones(2, 3), weight, bias).sum().backward()
    assert weight.grad._version == 0
    assert weight.grad.numpy().base is not None         # the product that the rule took, as it stands


def test_a_transform_whose_result_is_alive_does_not_slow_other_passes() -> None:
    """A pass computes with tensors, and copies gradients, only if it leads into a transform itself."""
    w = torch.tensor(3.0, requires_grad=True)
    curvature = torch.func.hessian(lambda x: w ** 2 * x ** 2)(torch.tensor(5.0))
    weight = torch.ones(4, 3, requires_grad=True)
    torch.nn.functional.linear(torch.ones(2, 3), weight).sum().backward()
    assert weight.grad._version == 0
    curvature.backward()
    assert w.grad.item() == 12
