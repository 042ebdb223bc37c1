"""Methods and attributes of tensors that PyTorch has given up, or has for other devices, and types of gradients."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

_SETUP = """
x = torch.arange(6.).reshape(2, 3)
y, z = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
double = torch.float64

def leaf(kind, held=None):
    made = torch.ones(2, requires_grad=True)
    made.grad_dtype = kind
    made.grad = held
    return made

def after(tensor, loss=lambda t: (t * t).sum(), **options):
    loss(tensor).backward(**options)
    return tensor.grad, tensor.grad_dtype
"""
_METHODS = """
x.reinforce(1)
x.resize(3, 2)
x.T.resize(6)
x.resize(4)
x.resize(-1)
x.resize((3, 2))
x.resize()
(x * y[0]).resize(6).grad_fn.name()
x.resize_as(torch.ones(3, 2))
x.resize_as(torch.ones(3))
x.resize_as(3)
x.volatile
setattr(x, 'volatile', True)
x.ipu()
x.xpu()
x.mtia()
torch.hash_tensor(x, 5)
torch.hash_tensor(x, (0, 1))
torch.hash_tensor(x, (0, 0))
torch.hash_tensor(x, [])
torch.hash_tensor(x, mode=1)
torch.hash_tensor(torch.empty(0))
torch.hash_tensor(torch.empty(2, 0), 1)
torch.hash_tensor(torch.empty(0, 3), 1)
torch.hash_tensor(torch.tensor(3.))
torch.hash_tensor(torch.tensor([1, -1], dtype=torch.int8))
torch.hash_tensor(torch.tensor([1], dtype=torch.uint64))
torch.hash_tensor(torch.tensor([1], dtype=torch.complex64))
torch.hash_tensor(torch.tensor([1.5]).bfloat16())
torch.hash_tensor(x, out=torch.empty(0))
torch.hash_tensor(x, out=torch.empty(0, dtype=torch.uint64))
torch.hash_tensor(y)
torch.hash_tensor(3)
x.hash_tensor(keepdim=True)
"""
_GRADIENTS = """
x.grad_dtype
y.grad_dtype
(2 * y).grad_dtype
setattr(2 * y, 'grad_dtype', double)
setattr(y, 'grad_dtype', 3)
after(leaf(double))
after(leaf(torch.bfloat16))
after(leaf(double, torch.ones(2, dtype=torch.float64)))
leaf(double, torch.ones(2))
leaf(None, torch.ones(2, dtype=torch.float16)).grad
leaf(None).grad_dtype
after(leaf(None))
after(leaf(double), inputs=None)
after(leaf(double), lambda t: t.double().sum())
torch.autograd.grad((lambda t: (t * t).sum())(y), y)[0].dtype
torch.autograd.grad(leaf(double).sum(), y)
[torch.autograd.grad((t * t).sum(), t) for t in (leaf(double), leaf(torch.float16))]
leaf(double).detach().grad_dtype
setattr(leaf(double, torch.ones(2, dtype=torch.float64)), 'grad_dtype', torch.float32)
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", (_METHODS + _GRADIENTS[1:]).split("\n")[1:-1])
def test_what_is_exact(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)
