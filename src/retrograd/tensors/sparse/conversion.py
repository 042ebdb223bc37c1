"""Sparse tensors to and from other layouts and dtypes; their parts; and what they are."""

from __future__ import annotations

from typing import Any, NoReturn

from ...foundations.devices import DeviceLike, checked
from ...foundations.dtypes import C_NAMES, dtype as torch_dtype
from ...foundations.errors import noted, user_site
from ...graph.versions import written
from ...kernels.sparse.arrays import Blocks, Compressed, Coo, unsupported
from ...ops import sparse as ops
from ...ops.basic import cast, clone as clone_op
from ..arguments.options import (
    element_type,
)
from ..functions.creation.creation import warn_of_copy
from ..state.base import TensorBase, as_leaf, meta_of, plain, sharing
from ..state.inside import is_sparse
from ..state.refusals import VALUES
from .recording import TABLE, counted_with, record, sparse


def kind_of(x: Any) -> str:
    """The layout of a tensor as PyTorch's errors name it."""
    array = x._array
    if isinstance(array, Compressed):
        return f"Sparse{'B' if isinstance(array, Blocks) else 'C'}s{'r' if array.by_rows else 'c'}"
    return "Sparse" if isinstance(array, Coo) else "Strided"


def _refuse(name: str, wanted: str, x: Any) -> NoReturn:
    remedy = {"Strided": "call .to_sparse() first", "Sparse": "call .to_sparse_csr() first"}
    raise noted(
        RuntimeError(f"{name} expected sparse {wanted} tensor layout but got {kind_of(x)}"),
        instead=remedy.get(kind_of(x), "call .to_sparse() first"))


def coo_of(name: str, x: Any) -> Coo:
    """The array of a COO tensor. Raises RuntimeError for any other layout."""
    if not isinstance(x._array, Coo):
        _refuse(name, "coordinate", x)
    return x._array


# Parts

@sparse("indices")
def indices(self: Any) -> Any:
    if not coo_of("indices", self).coalesced:
        raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
    return plain(counted_with(self._array.indices, self._array))


@sparse("values")
def values(self: Any) -> Any:
    if not is_sparse(self):
        _refuse_values(self)
    if isinstance(self._array, Coo) and not self._array.coalesced:
        raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    result = record(ops.values, self)
    result._array = counted_with(result._array, self._array)
    meta_of(result).creation = VALUES
    return result


def _refuse_values(x: Any) -> NoReturn:
    raise noted(
        RuntimeError(f"values expected sparse tensor layout but got {kind_of(x)}"), instead="call .to_sparse() first")


def _part_of(x: Any, name: str) -> Coo:
    if not isinstance(x._array, Coo):
        raise unsupported(name, x._array.backend if is_sparse(x) else "CPU")
    return x._array


@sparse("_indices")
def raw_indices(self: TensorBase) -> Any:
    array = _part_of(self, "_indices")
    return plain(counted_with(array.indices, array))


@sparse("_values")
def raw_values(self: Any) -> Any:
    array = self._array if is_sparse(self) else _part_of(self, "_values")
    return plain(counted_with(array.values, array))


@sparse("_nnz")
def nnz(self: Any) -> int:
    return int(self._array.nnz) if is_sparse(self) else _part_of(self, "_nnz").nnz


@sparse("is_coalesced")
def is_coalesced(self: TensorBase) -> bool:
    return coo_of("is_coalesced", self).coalesced


@sparse("_coalesced_")
def coalesced_(self: Any, coalesced: bool) -> Any:
    _part_of(self, "_coalesced_").coalesced = coalesced
    written(self._array, user_site())
    return self


@sparse("sparse_dim", "_dimI")
def sparse_dim(self: Any) -> int:
    array = self._array
    if isinstance(array, Coo):
        return int(array.indices.shape[0])
    return 2 if isinstance(array, Compressed) else 0


@sparse("dense_dim", "_dimV")
def dense_dim(self: Any) -> int:
    array = self._array
    leading = array.compressed.ndim - 1 if isinstance(array, Compressed) else 0
    return int(array.ndim - sparse_dim(self) - leading)


def _compressed_part(name: str, x: Any, by_rows: bool) -> Compressed:
    array = x._array
    if not isinstance(array, Compressed) or array.by_rows != by_rows:
        _refuse(name, "row compressed" if by_rows else "column compressed", x)
    return array


@sparse("crow_indices")
def crow_indices(self: TensorBase) -> Any:
    return plain(_compressed_part("crow_indices", self, True).compressed)


@sparse("col_indices")
def col_indices(self: TensorBase) -> Any:
    return plain(_compressed_part("col_indices", self, True).plain)


@sparse("ccol_indices")
def ccol_indices(self: TensorBase) -> Any:
    return plain(_compressed_part("ccol_indices", self, False).compressed)


@sparse("row_indices")
def row_indices(self: TensorBase) -> Any:
    return plain(_compressed_part("row_indices", self, False).plain)


def _copy_of(part: str) -> Any:
    def copied(input: Any, *, out: Any = None) -> Any:
        if isinstance(input._array, Coo):
            raise unsupported(f"{part}_copy", input._array.backend)
        found = TABLE[part](input)
        if out is not None and out._array.dtype != found._array.dtype:
            wanted, given = (C_NAMES[x._array.dtype.name] for x in (found, out))
            raise RuntimeError(f"Expected out tensor to have dtype {wanted}, but got {given} instead")
        return found.clone() if out is None else out.resize_(found._array.shape).copy_(found)

    return copied


for _part in ("crow_indices", "col_indices", "ccol_indices", "row_indices", "indices", "values"):
    TABLE[f"{_part}_copy"] = _copy_of(_part)


# Dtypes, copies

@sparse("to")
def to(self: Any, *args: Any, dtype: torch_dtype | None = None, device: Any = None, non_blocking: bool = False,
       copy: bool = False, memory_format: Any = None) -> Any:
    if not is_sparse(self):
        return self.to(args[0].dtype)
    for value in args[:2]:
        if isinstance(value, TensorBase):
            dtype = value.dtype
        elif isinstance(value, torch_dtype) or value in (bool, int, float, complex):
            dtype = value
        elif value is not None and not isinstance(value, bool):
            device = value
    if device is not None:
        checked(device)
    target = self._array.dtype if dtype is None else element_type("to", dtype)
    if target is self._array.dtype:
        return clone(self) if copy else self
    return record(cast, self, target)


@sparse("clone")
def clone(input: TensorBase, *, memory_format: Any = None) -> Any:
    return record(clone_op, input, "K")


@sparse("detach")
def detach(input: Any) -> Any:
    array = input._array
    return sharing(input, counted_with(array.with_values(array.values), array))


@sparse("detach_")
def detach_(input: Any) -> Any:
    meta_of(input).leaf = False
    input._edge = None
    return input


@sparse("type")
def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    if dtype is None:
        return f"torch.sparse.{self.dtype.legacy}Tensor"
    return to(self, dtype)


@sparse("tensor")
def tensor(data: Any, *args: Any, dtype: torch_dtype | None = None, device: DeviceLike | None = None,
           requires_grad: bool = False, pin_memory: bool = False) -> Any:
    warn_of_copy("torch.tensor")
    return copied(data, dtype, requires_grad)


def copied(data: Any, dtype: torch_dtype | None, requires_grad: bool) -> Any:
    """A leaf with the numbers of a sparse tensor."""
    return as_leaf(to(clone(detach(data)), dtype=dtype), requires_grad)


@sparse("as_tensor", "asarray")
def as_tensor(data: Any, dtype: torch_dtype | None = None, device: DeviceLike | None = None) -> Any:
    return to(data, dtype=dtype, device=device)
