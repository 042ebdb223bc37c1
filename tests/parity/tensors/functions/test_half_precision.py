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
