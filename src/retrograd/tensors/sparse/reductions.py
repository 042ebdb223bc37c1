"""Sums, norms and softmax of sparse tensors, by the names of the public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import FLOATING, category, dtype as torch_dtype, legacy
from ...foundations.errors import noted
from ...kernels.sparse.arrays import Compressed
from ...ops import sparse as ops
from ...ops.framework import Op
from ...ops.reductions import sum_all, sum_dim
from ..arguments.options import refuse_complex_gradient
from ..recording.public import METHODS
from ..state.base import TensorBase, plain
from .conversion import coo_of, kind_of, to
from .dimensions import axes_of, distinct_axes
from .recording import TABLE, record, sparse


@sparse("sum")
def sum_(input: TensorBase, dim: Any = None, keepdim: bool = False, *, dtype: torch_dtype | None = None) -> Any:
    input = input if dtype is None else to(input, dtype)
    if dim is None:
        return record(sum_all, input, None if dtype is None else input._array.dtype)
    if isinstance(input._array, Compressed) and kind_of(input) != "SparseCsr":
        raise RuntimeError("Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got "
                           f"layout {kind_of(input)}")
    if isinstance(input._array, Compressed) and not keepdim:
        raise noted(
            RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported"),
            instead="call it on x.to_sparse_coo()")
    return record(sum_dim, input, distinct_axes(dim, input._array.ndim), keepdim,
                  None if dtype is None else input._array.dtype)


@sparse("_sparse_sum")
def sparse_sum(input: TensorBase, dim: Any = None, dtype: torch_dtype | None = None) -> Any:
    """`torch.sparse.sum`."""
    array = coo_of("coalesce" if dim is None else "sum", input)
    input = input if dtype is None else to(input, dtype)
    if dim is None:
        return METHODS["sum"](TABLE["values"](TABLE["coalesce"](input)))
    refuse_complex_gradient("_sparse_sum", input)
    return record(ops.sparse_sum, input, distinct_axes(dim, array.ndim))


def _softmax(op: Op, input: TensorBase, dim: int, dtype: Any) -> Any:
    array = coo_of(op.name, input)
    if not array.size:                                      # else the kernel says that complex numbers do not fit
        refuse_complex_gradient(op.name, input)
    return record(op, input if dtype is None else to(input, dtype), *axes_of(dim, array.ndim))


@sparse("_sparse_softmax")
def softmax(input: TensorBase, dim: int, *, dtype: torch_dtype | None = None) -> Any:
    """`torch.sparse.softmax`."""
    return _softmax(ops.softmax, input, dim, dtype)


@sparse("_sparse_log_softmax")
def log_softmax(input: TensorBase, dim: int, *, dtype: torch_dtype | None = None) -> Any:
    """`torch.sparse.log_softmax`."""
    return _softmax(ops.log_softmax, input, dim, dtype)


@sparse("norm")
def norm(input: TensorBase, p: Any = "fro", dim: Any = None, keepdim: bool = False,
         dtype: torch_dtype | None = None) -> Any:
    if dim is not None:
        raise noted(
            RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
                         "contain all dimensions of the input"), instead="call it on x.to_dense()")
    if category(input._array.dtype) < FLOATING:
        raise noted(
            RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                         f"{legacy(input._array)} instead."), instead="call .float() first")
    if p in ("fro", 2):
        return record(ops.frobenius, input)
    return METHODS["norm"](TABLE["values"](TABLE["coalesce"](input)), p)


@sparse("any")
def any_(input: Any) -> Any:
    values = TABLE["coalesce"](input)._array.values
    return plain(np.asarray(values.any()).astype(values.dtype if values.dtype == np.uint8 else bool))
