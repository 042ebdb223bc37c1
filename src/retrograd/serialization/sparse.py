"""Sparse tensors in files: their layouts, and the dense tensors that they consist of."""

from __future__ import annotations

from typing import Any

from ..tensors.arguments.options import (
    layout as Layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ..tensors.state.base import TensorBase

LAYOUTS: dict[str, Layout] = {f"torch.{kind.name}": kind for kind in (
    strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)}


def parts_of(tensor: TensorBase) -> list[Any]:
    """The indices and the values of a sparse tensor, as dense tensors. Unless it is COO, values may require grad."""
    if tensor.layout is sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (sparse_csr, sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]


def _get_layout(name: str) -> Layout:
    """The layout of this name, such as "torch.sparse_coo". Raises KeyError for a layout that does not exist here."""
    return LAYOUTS[name]
