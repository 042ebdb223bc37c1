"""Random tensors and fills against real PyTorch: numbers, types, messages and derivatives."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd
from same_expression import check

torch: Any = pytest.importorskip("torch")

SETUP = """
t = torch.tensor
x = torch.ones(2, 3, requires_grad=True)
y = x * 2
i = t([1, 2])
h = torch.ones(4)
c = t([1j])
p = torch.zeros(2, 3, 4).permute(2, 0, 1)
"""
EXPRESSIONS = """
torch.rand(2,3,generator=torch.Generator().manual_seed(0))
torch.rand((2,),dtype=torch.float64,requires_grad=True)
torch.rand(2,dtype=torch.int64)
torch.randn(2,dtype=torch.int64)
torch.rand(-1)
torch.rand(2.)
torch.randn(2,dtype=torch.complex64)
torch.rand(2,dtype=torch.complex64)
torch.randint(3,(2,))
torch.randint(1,3,(2,))
torch.randint(3,2)
torch.randint(3,3,(2,))
torch.randint(3,1,(2,))
torch.randint(3,(2,),dtype=torch.float32)
torch.randint(3,(2,),dtype=torch.bool)
torch.randint(300,(2,),dtype=torch.int8)
torch.randint(low=0,high=3,size=(2,))
torch.randint(high=3,size=(2,))
torch.randint(2.5,(2,))
torch.randint(0,2,(2,),requires_grad=True)
torch.randint(-2,2,(2,),dtype=torch.uint8)
torch.randint(0,2**63,(2,))
torch.randint(0,2**62,(2,))
torch.randint_like(h,5)
torch.randint_like(h,2,5,dtype=torch.int8)
torch.randperm(3)
torch.randperm(-1)
torch.randperm(3,dtype=torch.float32)
torch.randperm(3,dtype=torch.int32)
torch.randperm(300,dtype=torch.int8)
torch.randperm(3.)
torch.normal(0,1,(2,))
torch.normal(0.,1.,(2,))
torch.normal(h,1.)
torch.normal(h)
torch.normal(h,h)
torch.normal(0.,h)
torch.normal(mean=0.,std=h)
torch.normal(0.,1.)
torch.normal(0.,-1.,(2,))
torch.normal(h,-h)
torch.normal(h,torch.ones(2))
torch.normal(i,1.)
torch.normal(x,1.)
torch.normal(x,x.detach())
torch.normal(0.,x)
torch.normal(0.,1.,size=(2,),dtype=torch.float64,requires_grad=True)
torch.normal(mean=0.,std=1.,size=[2])
torch.normal(h,1)
torch.bernoulli(t(0.5))
torch.bernoulli(t([0.5,2.]))
torch.bernoulli(h)
torch.bernoulli(x)
torch.bernoulli(h,0.5)
torch.bernoulli(i)
torch.bernoulli(h,p=2.)
torch.multinomial(h,2)
torch.multinomial(h,5)
torch.multinomial(h,5,True)
torch.multinomial(torch.ones(2,3),2)
torch.multinomial(torch.ones(2,3,1),2)
torch.multinomial(t([1.,-1.]),1)
torch.multinomial(t([1.,float('inf')]),1)
torch.multinomial(t([0.,0.]),1)
torch.multinomial(t([0.,1.]),2)
torch.multinomial(i,1)
torch.multinomial(h,0)
torch.multinomial(h,-1)
torch.multinomial(h,num_samples=1,replacement=True)
torch.multinomial(t(1.),1)
torch.multinomial(x,2)
torch.empty(2).uniform_()
torch.empty(2).uniform_(2,1)
torch.empty(2).uniform_(0,float('inf'))
i.uniform_()
x.uniform_()
torch.empty(2).uniform_(from_=0)
torch.empty(2).uniform_(**{'from':0,'to':2})
torch.empty(2).normal_()
torch.empty(2).normal_(1,2)
torch.empty(2).normal_(mean=1,std=-2)
i.normal_()
torch.empty(2).random_()
torch.empty(2).random_(5)
torch.empty(2).random_(2,5)
torch.empty(2).random_(5,2)
torch.empty(2).random_(2,None)
torch.empty(2,dtype=torch.int8).random_()
torch.empty(2,dtype=torch.int8).random_(300)
torch.empty(2).random_(to=5)
torch.empty(2,dtype=torch.bool).random_()
torch.empty(2).bernoulli_()
torch.empty(2).bernoulli_(0.3)
torch.empty(2).bernoulli_(t(0.3))
torch.empty(2).bernoulli_(t([0.3,2]))
torch.empty(2).bernoulli_(1.3)
torch.empty(2).bernoulli_(torch.ones(3))
torch.empty(2,dtype=torch.int64).bernoulli_(0.3)
torch.empty(2).exponential_()
torch.empty(2).exponential_(-1)
torch.empty(2).exponential_(0)
i.exponential_()
torch.empty(2).geometric_(0.5)
torch.empty(2).geometric_(1.5)
torch.empty(2).geometric_(0)
torch.empty(2,dtype=torch.int64).geometric_(0.5)
torch.empty(2).log_normal_()
torch.empty(2).log_normal_(1,-2)
i.log_normal_()
torch.empty(2).cauchy_()
torch.empty(2).cauchy_(0,-1)
i.cauchy_()
torch.manual_seed('a')
torch.manual_seed(1.5)
torch.manual_seed(2**64)
torch.manual_seed(-1)
torch.manual_seed(t(3))
torch.initial_seed()
torch.get_rng_state().shape
torch.get_rng_state().dtype
torch.set_rng_state(torch.zeros(3,dtype=torch.uint8))
torch.set_rng_state(torch.zeros(3))
torch.set_rng_state([1])
torch.default_generator
torch.Generator()
torch.Generator().device
torch.Generator('cpu')
torch.Generator(device='cpu').initial_seed()
torch.Generator().manual_seed(3)
torch.Generator().manual_seed('a')
torch.Generator().get_state().dtype
torch.Generator().clone_state()
torch.random.manual_seed(3)
torch.empty(2).uniform_(generator=torch.Generator().manual_seed(0))
torch.rand_like(h, generator=torch.Generator().manual_seed(0))
torch.rand_like(h,requires_grad=True)
torch.randn_like(torch.zeros(2,3).T)
"""
# Each fills what was computed from the leaf x, or draws from it, and its backward is compared too.
FILLED = ["(x * 1).uniform_(2, 3)", "(x * 1).normal_()", "(x * 1).random_()", "(x * 1).random_(5)",
          "(x * 1).random_(2, 5)", "(x * 1).bernoulli_()", "(x * 1).bernoulli_(x)", "(x * 1).exponential_()",
          "(x * 1).geometric_(0.5)", "(x * 1).log_normal_()", "(x * 1).cauchy_()", "torch.bernoulli(x)",
          "torch.normal(x, 1.0)", "torch.normal(0.0, x)", "torch.normal(x, x)", "torch.complex(x, y)",
          "torch.complex(x, torch.ones(3))"]


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_same(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)


@pytest.mark.parametrize("expression", FILLED)
def test_gradients(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)
    check(torch, retrograd, SETUP + f"\nr = {expression}\nr.backward(torch.full_like(r, 2.0))", "x.grad")
