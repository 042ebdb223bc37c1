"""The entries of operators of sparse arrays: functions from dense tensors to dense tensors, with sparse ones between.

PyTorch has no second derivatives of most of them. `tests/parity/tensors/test_sparse.py` compares them with PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry

_INDICES = [[2, 0, 1, 2], [3, 1, 0, 1]]
_VALUES = (((4,),),)
_MATRIX = (((3, 4),),)


def matrix(t: Any, values: Any) -> Any:
    """A sparse matrix (3, 4) with these four values."""
    return t.sparse_coo_tensor(t.tensor(_INDICES), values, (3, 4))


def _of_values(call: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda t, values: call(t, matrix(t, values))


def _dense(x: Any) -> Any:
    """A dense tensor whose gradient is dense, even if that of the result is sparse."""
    return x.to_sparse().to_dense(masked_grad=False)


_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "to_dense": lambda t, a: a.to_dense(),
    "to_dense unmasked": lambda t, a: a.to_dense(masked_grad=False),
    "values": lambda t, a: a.coalesce().values(),
    "to_sparse_csr": lambda t, a: a.to_sparse_csr().to_dense(),
    "to_sparse_csc": lambda t, a: a.to_sparse_csc().to_dense(),
    "from csr": lambda t, a: a.to_sparse_csr().to_sparse().to_dense(),
    "csr unmasked": lambda t, a: a.to_sparse_csr() @ t.ones(4, 2, dtype=a.dtype),
    "square": lambda t, a: (a ** 2).to_dense(),
    "fill_": lambda t, a: (a.to_sparse_csr() * 1).fill_(2.0).to_dense(),
    "sparse_mask": lambda t, a: a.sparse_mask(t.eye(3, 4).to_sparse()).to_dense(),
    "softmax": lambda t, a: t.sparse.softmax(a, 1).to_dense(),
    "log_softmax": lambda t, a: t.sparse.log_softmax(a, 0).to_dense(),
    "sum": lambda t, a: t.sparse.sum(a, 0).to_dense(),
    "sum all": lambda t, a: t.sparse.sum(a),
    "norm": lambda t, a: a.norm(),
    "product": lambda t, a: t.sparse.mm(a, a.t()).to_dense(),
    "transposed": lambda t, a: a.t().to_dense(),
    "narrow_copy": lambda t, a: t.narrow_copy(a, 1, 1, 2).to_dense(),
    "hspmm": lambda t, a: t.hspmm(a, t.ones(4, 2, dtype=a.dtype)).to_dense(),
    "sspaddmm": lambda t, a: t.smm(a, t.ones(4, 2, dtype=a.dtype)).to_dense(),
}
_REFUSED = ("hspmm", "sspaddmm")

SPARSE = [
    *[Entry(f"sparse {name}", _of_values(call), _VALUES, refused=name in _REFUSED)
      for name, call in _CALLS.items()],
    Entry("sparse mm", lambda t, values, x: t.sparse.mm(matrix(t, values), x), (((4,), (4, 2)),)),
    *[Entry(f"sparse mm {reduce}", lambda t, values, x, reduce=reduce: t.sparse.mm(t.sparse_csr_tensor(
        [0, 2, 2, 4], [3, 1, 0, 1], values, (3, 4)), x, reduce), (((4,), (4, 2)),),
        first_only="PyTorch has no second derivative of it") for reduce in ("sum", "mean", "amax", "amin")],
    Entry("sparse addmm", lambda t, values, x: t.sparse.addmm(t.ones(3, 2, dtype=x.dtype), matrix(t, values), x,
                                                              beta=2, alpha=3), (((4,), (4, 2)),)),
    Entry("sparse diagonals", lambda t, x: t.sparse.spdiags(x, t.tensor([0, 1, -1]), (3, 4)).to_dense(), _MATRIX,
          refused=True),
    Entry("sparse from dense", lambda t, x: x.to_sparse().to_dense(masked_grad=False), _MATRIX),
    Entry("sparse hybrid", lambda t, x: x.to_sparse(1).to_dense(masked_grad=False), _MATRIX),
    Entry("sparse csr from dense", lambda t, x: x.to_sparse_csr() @ t.ones(4, 2, dtype=x.dtype), _MATRIX),
    Entry("sparse csc from dense", lambda t, x: x.to_sparse_csc() @ t.ones(4, 2, dtype=x.dtype), _MATRIX),
    Entry("sparse bsr from dense", lambda t, x: x.to_sparse_bsr((3, 2)).to_dense(), _MATRIX),
    Entry("sparse bsc from dense", lambda t, x: x.to_sparse_bsc((1, 4)).to_dense(), _MATRIX),
    Entry("sparse blocks", lambda t, values: t.sparse_bsr_tensor([0, 1, 2], [1, 0], values.reshape(2, 1, 2),
                                                                      (2, 4)).to_dense(), _VALUES),
    Entry("sparse blocks of columns", lambda t, values: t.sparse_bsc_tensor(
        [0, 1, 2], [1, 0], values.reshape(2, 2, 1), (4, 2)).to_dense(), _VALUES),
    Entry("sparse blocks mm", lambda t, values: t.sparse_bsr_tensor(
        [0, 1, 2], [1, 0], values.reshape(2, 1, 2), (2, 4)) @ t.ones(4, 2, dtype=values.dtype), _VALUES),
    Entry("sparse blocks without a size", lambda t, values: t.sparse_bsr_tensor(
        [0, 1, 2], [1, 0], values.reshape(2, 1, 2)).to_dense(), _VALUES, refused=True),
    Entry("sparse masked", lambda t, x: x.sparse_mask(t.eye(3, 4).to_sparse()).to_dense(), _MATRIX),
    Entry("sparse compressed", lambda t, values: t.sparse_csr_tensor(
        [0, 1, 2, 4], [3, 1, 0, 1], values, (3, 4)).to_dense(), _VALUES),
    Entry("sparse compressed columns", lambda t, values: t.sparse_csc_tensor(
        [0, 1, 2, 4], [3, 1, 0, 1], values, (4, 3)).to_dense(), _VALUES),
    Entry("sparse compressed mm", lambda t, values, x: t.sparse_csr_tensor(
        [0, 1, 2, 4], [3, 1, 0, 1], values, (3, 4)) @ x, (((4,), (4, 2)),)),
    Entry("sparse compressed values", lambda t, values: t.sparse_csr_tensor(
        [0, 1, 2, 4], [3, 1, 0, 1], values, (3, 4)).values(), _VALUES),
    Entry("sparse compressed without a size", lambda t, values: t.sparse_csr_tensor(
        [0, 1, 2, 4], [3, 1, 0, 1], values).to_dense(), _VALUES, refused=True),
    Entry("sparse sampled_addmm", lambda t, x, y, z: t.sparse.sampled_addmm(x.to_sparse_csr(), y, z) @ t.ones(
        4, 2, dtype=x.dtype), (((3, 4), (3, 2), (2, 4)),)),
    Entry("sparse embedding", lambda t, x: t.nn.functional.embedding(t.tensor([2, 0, 2]), _dense(x), sparse=True),
          _MATRIX),
    Entry("sparse embedding_bag", lambda t, x, scales: t.nn.functional.embedding_bag(
        t.tensor([[2, 0], [2, 1]]), _dense(x), mode="sum", per_sample_weights=scales, sparse=True),
        (((3, 4), (2, 2)),)),
    Entry("sparse gather", lambda t, x: t.gather(_dense(x), 1, t.tensor([[0, 3], [1, 1], [2, 0]]), sparse_grad=True),
          _MATRIX),
]
