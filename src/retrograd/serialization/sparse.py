"""Sparse tensors in files: the dense tensors that they consist of, and how they are made again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernels.kinds import OtherArray
from ..tensors.arguments.options import layout as Layout, sparse_coo, sparse_csc, sparse_csr
from ..tensors.functions.sparse import sparse_compressed_tensor, sparse_coo_tensor
from ..tensors.state.base import TensorBase

LAYOUTS: dict[str, Layout] = {f"torch.{kind.name}": kind for kind in (sparse_coo, sparse_csr, sparse_csc)}


def is_sparse(obj: Any) -> bool:
    """Whether an object is a sparse tensor."""
    return isinstance(obj, TensorBase) and isinstance(obj._array, OtherArray)


def parts_of(tensor: Any) -> list[Any]:
    """The indices and the values of a sparse tensor, as dense tensors."""
    if tensor.layout is sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout is sparse_csr:
        return [tensor.crow_indices(), tensor.col_indices(), tensor._values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor._values()]


def layout_of(name: str) -> Layout:
    """The layout of this name, such as "torch.sparse_coo". Raises KeyError for a layout that does not exist here."""
    return LAYOUTS[name]


def made(layout: Layout, parts: Sequence[Any]) -> Any:
    """The sparse tensor of indices, values and a size, whose indices are checked. COO ends with `is_coalesced`."""
    if layout is sparse_coo:
        indices, values, size, *coalesced = parts
        return sparse_coo_tensor(indices, values, size, is_coalesced=coalesced[0] if coalesced else None,
                                 check_invariants=True)
    return sparse_compressed_tensor(*parts, layout=layout, check_invariants=True)
