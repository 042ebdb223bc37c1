"""Half precision against PyTorch: what is computed in single precision and rounded once."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

SETUP = """
h = torch.float16
half = lambda *numbers: torch.tensor(numbers, dtype=h)
full = lambda shape, number: torch.full(shape, number, dtype=h)
def slope(function, *numbers):
    x = half(*numbers).requires_grad_()
    return torch.autograd.grad(function(x).sum(), x)
"""
PRODUCTS = """
torch.addmm(full((1,1),1.),full((1,1),1000.),full((1,1),1000.),alpha=1e-3)
torch.addmm(full((1,1),60000.),full((1,1),-300.),full((1,1),300.))
torch.addmm(full((1,),60000.),full((2,1),-300.),full((1,1),300.),beta=1.5)
torch.addmv(full((2,),60000.),full((2,3),-300.),full((3,),100.))
torch.addmv(full((2,),1.),full((2,3),40.),full((3,),30.),alpha=0.3)
torch.baddbmm(full((1,1,1),1.),full((1,1,64),200.),full((1,64,1),200.),beta=0,alpha=0.0125)
torch.addbmm(full((1,1),60000.),full((2,1,1),-300.),full((2,1,1),300.))
torch.addbmm(full((1,1),1.),full((3,1,64),20.),full((3,64,1),20.3),alpha=0.3)
torch.addbmm(full((1,1),1.),full((0,1,2),20.),full((0,2,1),20.3),beta=0.5)
torch.addr(full((1,1),1.),full((1,),1000.),full((1,),1000.),alpha=0.3)
torch.addr(full((1,1),1.),full((1,),1000.),full((1,),1000.),alpha=1e-3)
torch.addr(torch.ones(1,1),torch.tensor([1e30]),torch.tensor([1e30]),alpha=1e-30)
"""


@pytest.mark.parametrize("expression", PRODUCTS.split("\n")[1:-1])
def test_products(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)


# Sums of 5000 numbers, and of more than 2048 ones, after which a sum in half precision does not grow.
MANY = SETUP + """
F = torch.nn.functional
n, zeros = 5000, torch.zeros(5000, dtype=torch.int64)
places, ones = torch.arange(5000) * 7 % 3, full((5000,), 1.)
values = ((torch.arange(5000.) * 37 % 101 - 40) / 64).half()
"""
SUMS = """
torch.zeros(3, dtype=h).scatter_add(0, places, values)
torch.zeros(3, dtype=h).scatter_add_(0, zeros, ones)
torch.zeros(2, 3, dtype=h).t().scatter_add_(0, places[:, None].expand(n, 2), values[:, None].expand(n, 2))
torch.ones(3, dtype=h).scatter_reduce(0, places, values, 'sum')
torch.ones(3, dtype=h).scatter_reduce(0, places, values, 'mean')
torch.ones(3, dtype=h).scatter_reduce(0, zeros, ones, 'mean', include_self=False)
torch.ones(3, dtype=h).scatter_reduce(0, places, 1 + values / 64, 'prod')
torch.ones(3, dtype=h).scatter(0, places, values, reduce='add')
torch.zeros(3, dtype=h).index_add(0, places, values)
torch.zeros(3, 2, dtype=h).index_add(0, places, values[:, None].expand(n, 2))
torch.zeros(2, 3, dtype=h).index_add_(1, places, values.expand(2, n))
torch.zeros(3, 2, dtype=h).index_add(0, places, values[:, None].expand(n, 2), alpha=0.3)
torch.zeros(2, 3, 2, dtype=h).index_add(1, places, values[:, None].expand(2, n, 2))
torch.zeros(3, dtype=h).index_put((zeros,), ones, accumulate=True)
F.embedding_bag(zeros, full((3, 2), 0.3), torch.tensor([0]), mode='sum')
F.embedding_bag(zeros, full((3, 2), 0.3), torch.tensor([0, 4000]), mode='mean')
F.embedding_bag(zeros, full((3, 2), 0.3), torch.tensor([0]), mode='sum', per_sample_weights=values)
slope(lambda x: x.gather(0, zeros) * values, 1, 2)
slope(lambda x: x.index_select(0, zeros) * values, 1, 2)
slope(lambda x: x[:, None].expand(2, 2).index_select(0, zeros) * values[:, None], 1, 2)
slope(lambda x: x.take_along_dim(zeros, 0) * values, 1, 2)
slope(lambda x: x[zeros] * values, 1, 2)
slope(lambda x: x.repeat(n, 1) * values[:, None], 1, 2)
slope(lambda x: x.tile(n), 1, 2)
slope(lambda x: x.as_strided((n,), (0,)) * values, 1, 2)
"""


@pytest.mark.parametrize("expression", SUMS.split("\n")[1:-1])
def test_sums_at_places(expression: str) -> None:
    check(torch, retrograd, MANY, expression)


POWERS = """
half(300.0, 0.002, -7.0)**-2
half(300.0, 0.002, 7.0)**-0.5
half(11.3, 0.07, -7.1)**3
slope(lambda x: x**-1, 300.0)
slope(lambda x: x.norm(), 1e-5, 0.0)
slope(lambda x: torch.nn.functional.gelu(x, approximate='tanh'), 1000.0, -1000.0, 60000.0, 0.0)
torch.round(half(1.25, 2.5, 60000.0, 1e-3, float('inf')), decimals=2)
torch.round(half(1.25, 2.5, 60000.0, 1e-3, float('inf')), decimals=5)
torch.clamp(half(1.0, 70.0), max=1e6)
torch.clamp(half(1.0, 70.0), -1e6)
torch.clamp(half(1.0, 70.0), 3, math.inf)
torch.clamp(torch.ones(2), max=1e300)
torch.clamp(torch.ones(2).double(), max=1e300)
torch.ones(2).clamp_(-1e300, 3)
torch.nn.functional.hardtanh(half(1.0, 70.0), -1e6, 1e6)
torch.nn.functional.hardtanh(torch.ones(2), -1e30, 1e300)
torch.round(half(1.25, 60000.0), decimals=-3)
torch.round(half(1.25, 60000.0), decimals=39)
torch.round(torch.tensor([1.25, 60000.0]), decimals=400)
torch.round(torch.tensor([1.25, 60000.0]), decimals=-400)
torch.round(torch.tensor([1.25, 60000.0]).double(), decimals=308)
torch.round(torch.tensor([1.25, 60000.0]).double(), decimals=309)
"""


@pytest.mark.parametrize("expression", POWERS.split("\n")[1:-1])
def test_powers_and_slopes(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)
