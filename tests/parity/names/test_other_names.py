"""What has no place in the table of operators: windows, constants, grids by their native names, odd properties."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing import near_expression
from comparing.same_expression import check

_SETUP = """
x = torch.linspace(-1, 1, 32).view(1, 2, 4, 4)
v = torch.linspace(-1, 1, 64).view(1, 1, 4, 4, 4)
grid = torch.linspace(-1.2, 1.2, 18).view(1, 3, 3, 2)
place = torch.linspace(-1.2, 1.2, 24).view(1, 2, 2, 2, 3)
theta = torch.tensor([[[1., 0.5, 0.], [0., 1., 0.2]]])
samples = torch.full((1, 2, 3), 0.3)
"""
# Tensors of floats, and what is the same to the last bit, or an error.
_TENSORS = """
torch.bartlett_window(7)
torch.bartlett_window(8, False)
torch.blackman_window(9)
torch.blackman_window(8, periodic=False, dtype=torch.float64)
torch.hann_window(0)
torch.hann_window(1)
torch.hann_window(10)
torch.hann_window(10, False)
torch.affine_grid_generator(theta, (1, 1, 2, 3), False)
torch.affine_grid_generator(theta, (1, 1, 2, 3), True)
torch.grid_sampler(x, grid, 0, 0, False)
torch.grid_sampler(x, grid, 1, 1, True)
torch.grid_sampler(v, place, 0, 2, False)
torch.grid_sampler_2d(x, grid, 2, 0, True)
torch.grid_sampler_3d(v, place, 0, 1, True)
torch.nn.functional.fractional_max_pool3d_with_indices(v, 2, output_size=2, _random_samples=samples[:, :1])[1]
"""
_EXACT = """
torch.hann_window(-1)
torch.hann_window(4, dtype=torch.int64)
torch.e
torch.get_default_dtype()
torch.channels_last_3d
isinstance(torch.seed(), int)
x.resolve_conj() is x
torch.resolve_conj(x) is x
(x.new_empty_strided((2, 3), (1, 2)).stride(), x.new_empty_strided((2, 3), (1, 2)).dtype)
len(x.storage())
"""


@pytest.mark.parametrize("expression", _TENSORS.split("\n")[1:-1])
def test_tensors(expression: str) -> None:
    near_expression.check(_SETUP, expression)


@pytest.mark.parametrize("expression", _EXACT.split("\n")[1:-1])
def test_what_is_exact(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)
