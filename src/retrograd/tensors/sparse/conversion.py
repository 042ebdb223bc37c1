"""Sparse tensors to and from other layouts and dtypes; their parts; and what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...foundations.devices import DeviceLike, checked
from ...foundations.dtypes import C_NAMES, Shape, dtype as torch_dtype
from ...foundations.errors import noted
from ...kernels.sparse.arrays import Blocks, Compressed, Coo, unsupported
from ...ops import sparse as ops
from ...ops.basic import cast, clone as clone_op
from ..arguments.options import (
    element_type,
    layout as Layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ..functions.creation.creation import warn_of_copy
from ..recording.public import METHODS
from ..state.base import TensorBase, as_leaf, meta_of, plain, sharing
from .construction import empty, empty_compressed
from .recording import TABLE, counted_with, is_sparse, record, sparse


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
    return plain(self._array.indices)


@sparse("values")
def values(self: Any) -> Any:
    if not is_sparse(self):
        _refuse_values(self)
    if isinstance(self._array, Coo) and not self._array.coalesced:
        raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    result = record(ops.values, self)
    result._array = counted_with(result._array, self._array)
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
    return plain(_part_of(self, "_indices").indices)


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


def _refuse_stack(array: Any, name: str) -> NoReturn:
    """Raises RuntimeError for an array that is no matrix: for sparse arrays in PyTorch's words."""
    kind = f"Sparse{name.title()}"
    said = (f"coo_to_sparse_{name}: conversion from Sparse to {kind} for input tensors with sparse_dim()!=2 is not "
            "supported") if isinstance(array, Coo) else f"to_sparse_{name}: stacks of matrices are not converted"
    raise noted(RuntimeError(said), instead="convert the matrices of a stack one by one")


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


# Layouts

@sparse("coalesce")
def coalesce(self: TensorBase) -> Any:
    return self if coo_of("coalesce", self).coalesced else record(ops.coalesce, self)


@sparse("to_dense")
def to_dense(self: Any, dtype: torch_dtype | None = None, *, masked_grad: bool | None = None) -> Any:
    if dtype is not None and isinstance(self._array, Coo):
        raise noted(
            RuntimeError("dtype argument is not supported by sparse_to_dense"), instead="call .to_dense().to(dtype)")
    masked = masked_grad is None or masked_grad or isinstance(self._array, Compressed)
    result = record(ops.to_dense if masked else ops.to_dense_unmasked, self)
    return result if dtype is None else result.to(dtype)


@sparse("to_sparse")
def to_sparse(self: Any, sparse_dim: Any = None, *, layout: Layout | None = None, blocksize: Any = None,
              dense_dim: Any = None) -> Any:
    if isinstance(sparse_dim, Layout):
        sparse_dim, layout = None, sparse_dim
    if layout is not None and layout in _BLOCKS:
        if blocksize is None:
            raise RuntimeError(f"dense_to_sparse: conversion from {kind_of(self)} to Sparse{layout.name[7:].title()} "
                               "without blocksize argument given is not supported")
        return _to_blocks(layout.name, self, blocksize, layout is sparse_bsr)
    if blocksize is not None:
        kind = "Sparse" if layout is None or layout is sparse_coo else f"Sparse{layout.name[7:].title()}"
        way = "to_sparse" if is_sparse(self) else "dense_to_sparse"
        raise RuntimeError(f"{way}: conversion from {kind_of(self)} to {kind} with blocksize argument given is not "
                           "supported")
    if layout is not None and layout is not sparse_coo:
        return _TO[layout](self)
    array = self._array
    if isinstance(array, Coo):
        return self
    if isinstance(array, Compressed):
        return record(ops.coo_of_compressed, self)
    if sparse_dim is None:
        return record(ops.stored, self)
    if not 0 <= sparse_dim <= array.ndim:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{array.ndim}] range, but {sparse_dim} "
                           "is given")
    if not sparse_dim and array.ndim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    return record(ops.to_sparse, self, sparse_dim)


@sparse("to_sparse_coo")
def to_sparse_coo(self: Any) -> Any:
    return to_sparse(self)


def _to_compressed(self: Any, by_rows: bool) -> Any:
    array = self._array
    if isinstance(array, Blocks):
        raise noted(
            RuntimeError(f"sparse_compressed_to_sparse_{'csr' if by_rows else 'csc'}: expected SparseCsr or "
                         f"SparseCsc layout but got {kind_of(self)}"),
            instead="call .to_dense() first")
    if isinstance(array, Compressed):
        if array.by_rows == by_rows:
            return self
        self = record(ops.coo_of_compressed, self)
    if array.ndim != 2:
        _refuse_stack(array, "csr" if by_rows else "csc")
    if is_sparse(self):
        return record(ops.csr_of_coo if by_rows else ops.csc_of_coo, self)
    return record(ops.to_sparse_csr if by_rows else ops.to_sparse_csc, self)


@sparse("to_sparse_csr")
def to_sparse_csr(self: TensorBase, dense_dim: Any = None) -> Any:
    return _to_compressed(self, True)


@sparse("to_sparse_csc")
def to_sparse_csc(self: TensorBase, dense_dim: Any = None) -> Any:
    return _to_compressed(self, False)


def _to_strided(self: TensorBase) -> Any:
    return to_dense(self) if is_sparse(self) else self


@sparse("to_sparse_bsr")
def to_sparse_bsr(self: TensorBase, blocksize: Shape, dense_dim: Any = None) -> Any:
    return _to_blocks("sparse_bsr", self, blocksize, True)


@sparse("to_sparse_bsc")
def to_sparse_bsc(self: TensorBase, blocksize: Shape, dense_dim: Any = None) -> Any:
    return _to_blocks("sparse_bsc", self, blocksize, False)


def _to_blocks(layout: str, self: Any, blocksize: Any, by_rows: bool) -> Any:
    """The matrix in blocks. Raises RuntimeError if the sizes of a block do not divide those of the matrix."""
    block = (blocksize, blocksize) if isinstance(blocksize, int) else tuple(blocksize)
    name, array = f"dense_to_{layout}", self._array
    if len(block) != 2:
        raise RuntimeError(f"{name}: blocksize needs to be a tuple of size 2, but got {len(block)}")
    if min(block) < 1:
        raise RuntimeError(f"{name}: blocksize needs to be positive, but got {[*block]}")
    if isinstance(array, Blocks) and array.by_rows == by_rows:
        if array.block == block:
            return self
        kind = kind_of(self)
        raise noted(
            RuntimeError(f"to_{layout}: conversion from {kind} to {kind} with blocksize changed from {[*array.block]}"
                         f" to {[*block]} is not supported"),
            instead="call .to_dense() first")
    if array.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-1, 0], but got {-2})")
    if array.ndim > 2:
        _refuse_stack(array, layout.removeprefix("sparse_"))
    if array.shape[0] % block[0] or array.shape[1] % block[1]:
        raise RuntimeError(f"{name}: tensor sparse size ({array.shape[0]},{array.shape[1]}) must be divisible by given "
                           f"blocksize ({block[0]},{block[1]})")
    return record(ops.to_sparse_bsr if by_rows else ops.to_sparse_bsc, _to_strided(self), block)


_BLOCKS = (sparse_bsr, sparse_bsc)
_TO: dict[Any, Callable[[Any], Any]] = {sparse_csr: to_sparse_csr, sparse_csc: to_sparse_csc, strided: _to_strided}


@sparse("sparse_mask")
def sparse_mask(self: TensorBase, mask: TensorBase) -> Any:
    if not is_sparse(mask):
        raise unsupported("sparse_mask", "CPU")
    if self._array.shape != mask._array.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{list(self._array.shape)} but mask has size {list(mask._array.shape)}")
    return record(ops.masked_sparse if is_sparse(self) else ops.masked, self, mask)


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
    parts = (array.indices, array.values, array.shape, array.coalesced) if isinstance(array, Coo) else (
        array.compressed, array.plain, array.values, array.shape, array.by_rows)
    return sharing(input, counted_with(type(array)(*parts), array))


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


@sparse("zeros_like", "empty_like")
def zeros_like(input: Any, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
               device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
               memory_format: Any = None) -> Any:
    array, chosen = input._array, torch_dtype.of[input._array.dtype] if dtype is None else dtype
    if layout is strided:
        result = METHODS["new_zeros"](plain(array.values), array.shape, dtype=chosen)
    elif isinstance(array, Compressed) and layout is None:
        result = empty_compressed(array.shape, chosen, array.by_rows)
    else:
        result = empty(array.shape, chosen, array.indices.shape[0] if isinstance(array, Coo) else None)
    return as_leaf(result, requires_grad)


@sparse("new_zeros", "new_empty")
def new_zeros(self: Any, *sizes: Any, size: Any = None, dtype: torch_dtype | None = None,
              device: DeviceLike | None = None, requires_grad: bool = False, layout: Layout | None = None,
              pin_memory: bool = False) -> Any:
    shape = size if size is not None else sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    chosen = torch_dtype.of[self._array.dtype] if dtype is None else dtype
    return as_leaf(empty(tuple(shape), chosen), requires_grad)
