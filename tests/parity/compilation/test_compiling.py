"""Programs that compile see the same with both packages."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

SETUP = """
def f(x): return x * 2
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 1)
        self.size = 3
    def forward(self, x): return self.inner(x) * self.size
net = Net()
outer = torch.compile(net, backend="eager")
x = torch.ones(2, requires_grad=True)
"""


@pytest.mark.parametrize("expression", [
    "torch.compile(f, backend='eager').__name__", "torch.compile(backend='eager')(f)(x)",
    "torch.compile(f, mode='default', options={'max_autotune': True})", "torch.compile(f, mode='quick')",
    "torch.compile(f, backend='quick')", "torch.compile(f, backend='eager', mode='quick')(x)",
    "torch.compile(f, dynamic=3)", "torch.compile(f, quick=1)", "torch.compile(3)", "torch.compile('f')",
    "torch.compile(f, True)", "torch.compile()(None)", "torch.compile(f, disable=True) is f",
    "torch.compile(f, disable=True, mode='quick')", "torch.compile(f, backend='quick', disable=True)",
    "torch.compile(outer, backend='eager')(x)", "torch.compile(f, mode='default', backend='eager')(x)",
    "str(outer)", "outer(x)", "list(outer.state_dict())", "[name for name, _ in outer.named_modules()]",
    "[name for name, _ in outer.named_parameters()]", "outer.size", "outer.inner is net.inner",
    "outer._orig_mod is net",
    "(outer.train(False).training, net.training, net.inner.training)", "setattr(outer, 'size', 4) or net.size",
    "setattr(outer, 'bias', torch.nn.Parameter(torch.ones(1))) or list(outer.state_dict())", "outer.nothing",
    "delattr(outer, 'size') or net.size", "len(outer)", "outer[0]", "isinstance(outer, Net)", "'size' in dir(outer)",
    "len(torch.compile(torch.nn.Sequential(net), backend='eager'))", "type(outer).__name__",
    "list(copy.deepcopy(outer).state_dict())", "net.compile(backend='eager')", "list(net.state_dict())",
    "net.compile(mode='quick')", "net.compile(quick=1)",
])
def test_the_same_is_seen(expression: str) -> None:
    check(torch, retrograd, SETUP, expression)
