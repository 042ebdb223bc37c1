"""Sparse matrices of blocks (BSR and BSC), and copies of the parts of sparse tensors, against PyTorch."""

from __future__ import annotations

import pytest
import torch

import retrograd
from comparing.same_expression import check

_SETUP = """
m = torch.arange(24.).reshape(4, 6)
m[:2, :2] = 0
m[2:, 4:] = 0
b, c = m.to_sparse_bsr((2, 2)), m.to_sparse_bsc((2, 3))
blocks = torch.arange(8.).view(2, 2, 2)

def gradient(leaf, call):
    leaf = leaf.clone().requires_grad_()
    call(leaf).backward()
    return leaf.grad
"""
_EXPRESSIONS = """
b
c
b.to_dense()
c.to_dense()
(b.values(), b.crow_indices(), b.col_indices(), b._nnz(), b.layout, b.is_sparse, b.is_sparse_csr)
(c.values().shape, c.ccol_indices(), c.row_indices(), c.layout)
b.ccol_indices()
b.indices()
(b.shape, b.dim(), b.numel(), b.sparse_dim(), b.dense_dim())
m.to_sparse_bsr(2)
m.to_sparse_bsr((3, 2))
m.to_sparse_bsr((0, 2))
m.to_sparse_bsr((2,))
m[0].to_sparse_bsr((1, 1))
m.to_sparse(layout=torch.sparse_bsr, blocksize=(2, 2))
m.to_sparse(layout=torch.sparse_bsr)
m.to_sparse(blocksize=(2, 2))
b @ torch.ones(6, 2)
b @ torch.ones(6)
torch.ones(2, 4) @ b
c @ torch.ones(6, 2)
torch.mm(b, torch.ones(6, 2))
torch.sparse.mm(b, torch.ones(6, 2))
torch.addmm(torch.ones(4, 2), b, torch.ones(6, 2))
b + b
b * 2
-b
b.abs().values()
b.sum()
b.t()
b.transpose(0, 1).layout
c.t().layout
b.to_sparse_csr()
b.to_sparse_csc()
b.to_sparse()
b.to_sparse_bsr((2, 2)) is b
b.to_sparse_bsr((1, 2))
b.to_sparse_bsc((2, 2)).values()
m.to_sparse_csr().to_sparse_bsr((2, 2)).values()
b.clone().values()
(b.double().dtype, b.detach().layout)
torch.sparse_bsr_tensor([0, 1, 2], [0, 1], blocks)
torch.sparse_bsc_tensor([0, 1, 2], [0, 1], blocks, (4, 4)).to_dense()
torch.sparse_bsc_tensor([0, 1], [1], [[[3., 4.]]])
torch.sparse_bsr_tensor([0, 1, 2], [0, 1], blocks.view(2, 4), (4, 4), check_invariants=True)
torch.sparse_bsr_tensor([0, 1, 3], [0, 1], blocks, (4, 4), check_invariants=True)
torch.sparse_bsr_tensor([0, 1, 2], [0, 5], blocks, (4, 4), check_invariants=True)
torch.sparse_bsr_tensor([0, 1, 2], [0, 1], blocks, (4, 5), check_invariants=True)
torch.sparse_bsr_tensor([0, 1, 2], [0, 1], torch.arange(2.))
torch.sparse_compressed_tensor([0, 1, 2], [0, 1], blocks, layout=torch.sparse_bsr).shape
torch.sparse_bsr_tensor([0, 1, 2], [0, 1], blocks, requires_grad=True)
m.requires_grad_().to_sparse_bsr((2, 2))
gradient(blocks, lambda v: torch.sparse_bsr_tensor([0, 1, 2], [0, 1], v, (4, 4)).to_dense().pow(2).sum())
gradient(torch.ones(4, 4), lambda x: x.to_sparse_bsr((2, 2)).to_dense().pow(2).sum())
gradient(torch.ones(4, 4), lambda x: x.to_sparse_bsc((2, 2)).values().sum())
torch.crow_indices_copy(b)
torch.values_copy(b)
torch.values_copy(m.to_sparse())
torch.crow_indices_copy(b, out=torch.empty(0, dtype=torch.int64))
torch.values_copy(b, out=torch.empty(0))
torch.values_copy(b, out=torch.empty(0).double())
torch.crow_indices_copy(b, out=torch.empty(0))
torch.indices_copy(m.to_sparse())
torch.crow_indices_copy(m)
torch.values_copy(m)
(torch.crow_indices_copy(m.to_sparse_csr()), torch.col_indices_copy(m.to_sparse_csr()))
(torch.ccol_indices_copy(m.to_sparse_csc()), torch.row_indices_copy(m.to_sparse_csc()))
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", _EXPRESSIONS.split("\n")[1:-1])
def test_what_is_exact(expression: str) -> None:
    check(torch, retrograd, _SETUP, expression)
