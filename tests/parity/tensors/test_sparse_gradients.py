"""Gradients of sparse leaves against PyTorch: layout, indices, numbers, and whether the gradient is coalesced."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd
from programs.running import transcript

LEAVES = {
    "coalesced": "coo([[0, 0, 1], [0, 1, 0]], [1., -2, 3]).coalesce().requires_grad_()",
    "repeated": "coo([[1, 0, 0, 0, 1], [0, 1, 0, 1, 0]], [1., -2, 3, 5, 7]).requires_grad_()",
    "parameter": "torch.nn.Parameter(coo([[0, 0, 1], [0, 1, 0]], [1., -2, 3]).coalesce())",
    "one": "coo([[2], [2]], [3.]).requires_grad_()",
    "none": "coo([[], []], []).requires_grad_()",
    "wide": "torch.sparse_coo_tensor([[1, 0, 1]], torch.arange(9.).reshape(3, 3) - 4, (3, 3)).requires_grad_()",
}
USES = """
s.to_dense().sum()
(s.to_dense() * d).sum()
s.to_dense(masked_grad=False).sum()
torch.sparse.mm(s, d).sum()
(d @ s).sum()
torch.sparse.addmm(d, s, d).sum()
(s @ d[0]).sum()
torch.sparse.sum(s)
torch.sparse.sum(s, 0).to_dense().sum()
torch.sparse.sum(s, (0, 1))
s.coalesce().values().sum()
s.coalesce().to_dense().sum()
(s * 2).to_dense().sum()
(s * s).to_dense().sum()
(s * d).to_dense().sum()
(s + s).to_dense().sum()
(d + s).sum()
(-s).to_dense().sum()
s.sin().to_dense().sum()
torch.sparse.sum(s.abs())
s.relu().to_dense().sum()
(s ** 2).to_dense().sum()
s.t().to_dense().sum()
torch.sparse.softmax(s, 1).to_dense().pow(2).sum()
torch.sparse.log_softmax(s, 0).to_dense().sum()
s.to_dense().sum() + (s * 3).to_dense().sum()
torch.sparse.mm(s, d).sum() + torch.sparse.mm(s, d).sum()
torch.sparse.sum(s / 2)
s.sparse_mask(coo([[0, 2, 0, 0], [0, 2, 1, 0]], [1., 1, 1, 1])).to_dense().sum()
d.sparse_mask(s).to_dense().sum()
s.to_sparse_csr().to_dense().sum()
s.to_sparse_csr().values().sum()
torch.cat([s, s]).to_dense().sum()
s.permute(1, 0).to_dense().sum()
s.clone().mul_(2).to_dense().sum()
s.clone().add_(s).to_dense().sum()
s.conj().to_dense().sum()
""".strip().split("\n")
PROGRAM = """
def coo(indices, values):
    return torch.sparse_coo_tensor(torch.tensor(indices, dtype=torch.int64), values, (3, 3), dtype=torch.float64)

def told(g):
    if g is None or g.layout != torch.sparse_coo:
        return g
    values = g._values().mul(1e4).round()
    return g.is_coalesced(), g.sparse_dim(), g._indices().tolist(), values.tolist(), g.dtype, g.requires_grad

d = torch.arange(9., dtype=torch.float64).reshape(3, 3) - 3
s = {leaf}
d = d.to(s.dtype)

def use():
    return {use}

def by_backward(count):
    s.grad, y = None, use()
    for _ in range(count):
        y.backward(retain_graph=True)
    return told(s.grad)

attempt(lambda: told(torch.autograd.grad(use(), s, allow_unused=True)[0]))
attempt(lambda: by_backward(1))
attempt(lambda: by_backward(2))
s.register_hook(lambda g: print(told(g)))
attempt(lambda: by_backward(1))
"""


def _said(package: Any, source: str) -> list[str]:
    return [line for line in transcript(package, source) if not line.startswith("UserWarning: Sparse ")]


@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("use", USES)
@pytest.mark.sampled(3)
def test_gradients(leaf: str, use: str) -> None:
    source = PROGRAM.format(leaf=LEAVES[leaf], use=use)
    assert _said(retrograd, source) == _said(torch, source)


# What two sparse or dense matrices give. If PyTorch raises an error, nothing is compared.
PAIRS = """
a.mm(b)
a @ b
torch.addmm(x, a, b)
torch.sparse.addmm(x, a, b)
torch.addmm(x.to_sparse_csr(), a, b)
torch.nn.functional.linear(a, b)
a + b
a - b
a * b
a / 2
a.sparse_mask(b)
a.clone().add_(b)
a.clone().mul_(b)
a.clone().copy_(b)
torch.cat([a, b])
torch.stack([a, b])
torch.hspmm(a, b)
torch.smm(a, b)
torch.sspaddmm(x.to_sparse(), a, b)
torch.sparse.sampled_addmm(x.to_sparse_csr(), a, b)
torch.zeros_like(a, layout=b.layout)
torch.add(a, b, alpha=2)
a.is_same_size(b)
""".strip().split("\n")
LAYOUTS = ("to_dense()", "to_sparse()", "to_sparse_csr()", "to_sparse_csc()", "to_sparse_bsr((2, 2))",
           "to_sparse_bsc((2, 2))", "to_sparse()._coalesced_(False)")
OF_TWO = """
x, y = torch.tensor([[0., 1, 2, 0], [3, 0, 0, 4], [0, 0, -5, 6], [7, 0, 8, 9]]), torch.arange(16.).reshape(4, 4) % 5 - 2

def told(r):
    if not isinstance(r, torch.Tensor) or r.layout == torch.strided:
        return r
    return r.layout, r.dtype, r.is_coalesced() if r.layout == torch.sparse_coo else None, r.to_dense()

a, b = x.{first}, y.{second}
attempt(lambda: told({pair}))
"""


@pytest.mark.parametrize("pair", PAIRS)
def test_layouts_of_two(pair: str) -> None:
    for first in LAYOUTS:
        for second in LAYOUTS:
            source = OF_TWO.format(first=first, second=second, pair=pair)
            theirs = _said(torch, source)
            if "Error: " not in theirs[-1]:
                assert _said(retrograd, source) == theirs


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_gradients_of_stacks(layout: str) -> None:
    """Those through coordinates are refused, as in PyTorch. That of `to_dense` PyTorch has for compressed rows only."""
    def stack(library: Any) -> Any:
        x = library.tensor([[[1., 0, 2, 0], [0, 0, 3, 0]], [[0, 4., 0, 5], [6, 0, 0, 0]]], requires_grad=True)
        return x, getattr(x, f"to_sparse_{layout}")()

    errors = []
    for library in (torch, retrograd):
        x, compressed = stack(library)
        with pytest.raises(RuntimeError) as error:
            library.autograd.grad(compressed.to_sparse().to_dense().pow(2).sum(), x)
        errors.append(str(error.value).split("\n")[0])
    assert errors[0] == errors[1]
    x, compressed = stack(retrograd)
    (gradient,) = retrograd.autograd.grad(compressed.to_dense().pow(2).sum(), x)
    assert gradient.tolist() == (2 * x).tolist()
