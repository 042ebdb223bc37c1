"""Sparse matrices of blocks, and copies of the parts of sparse tensors. The facts were taken from PyTorch 2.13."""

from __future__ import annotations

import copy
import pickle

import pytest

import retrograd as torch


def matrix() -> torch.Tensor:
    """A matrix of six blocks of (2, 2), two of them zero."""
    m = torch.arange(24.0).reshape(4, 6)
    m[:2, :2] = 0
    m[2:, 4:] = 0
    return m


def test_blocks_and_back() -> None:
    m = matrix()
    rows, columns = m.to_sparse_bsr((2, 2)), m.to_sparse_bsc((2, 3))
    assert (rows.layout, columns.layout) == (torch.sparse_bsr, torch.sparse_bsc)
    assert (rows.crow_indices().tolist(), rows.col_indices().tolist()) == ([0, 2, 4], [1, 2, 0, 1])
    assert (columns.ccol_indices().tolist(), columns.row_indices().tolist()) == ([0, 2, 4], [0, 1, 0, 1])
    assert rows.values()[0].tolist() == [[2.0, 3.0], [8.0, 9.0]]
    for blocks in (rows, columns, rows.t().t(), copy.deepcopy(rows), pickle.loads(pickle.dumps(columns))):
        assert blocks.to_dense().equal(m)
    assert rows.t().layout is torch.sparse_bsc
    assert rows.to_sparse().to_dense().equal(m)


def test_products_and_sums() -> None:
    m = matrix()
    b, x = m.to_sparse_bsr((2, 2)), torch.arange(12.0).reshape(6, 2)
    assert (b @ x).equal(m @ x)
    assert (b @ x[:, 0]).equal(m @ x[:, 0])
    assert torch.addmm(torch.ones(4, 2), b, x).equal(m @ x + 1)
    assert (b + b * 2).to_dense().equal(3 * m)
    assert b.sum().item() == m.sum().item()
    with pytest.raises(RuntimeError, match="not implemented for Strided \\+ SparseBsc @ Strided"):
        m.to_sparse_bsc((2, 2)) @ x
    with pytest.raises(NotImplementedError, match="Could not run 'aten::exp'"):
        b.exp()


def test_gradients_pass_through_the_blocks() -> None:
    values = torch.arange(8.0).view(2, 2, 2).requires_grad_()
    made = torch.sparse_bsr_tensor([0, 1, 2], [0, 1], values, (4, 4))
    assert type(made.grad_fn).__name__ == "SparseCompressedTensorBackward0"
    made.to_dense().pow(2).sum().backward()
    assert values.grad.equal(2 * values)
    x = torch.ones(4, 4, requires_grad=True)
    x.to_sparse_bsc((2, 2)).values().sum().backward()
    assert x.grad.equal(torch.ones(4, 4))


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"size \(4,6\) must be divisible by given blocksize \(3,2\)"):
        matrix().to_sparse_bsr((3, 2))
    with pytest.raises(RuntimeError, match=r"tensor shape\[1\] \(=5\) must be divisible with blocksize"):
        torch.sparse_bsr_tensor([0, 1, 2], [0, 1], torch.ones(2, 2, 2), (4, 5), check_invariants=True)
    with pytest.raises(RuntimeError, match="ccol_indices expected sparse column compressed tensor layout"):
        matrix().to_sparse_bsr((2, 2)).ccol_indices()


def test_copies_of_parts() -> None:
    b = matrix().to_sparse_bsr((2, 2))
    copied = torch.values_copy(b)
    copied.zero_()
    assert b.values().sum() > 0
    assert torch.crow_indices_copy(b).tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="crow_indices expected sparse row compressed tensor layout but got Strided"):
        torch.crow_indices_copy(matrix())
