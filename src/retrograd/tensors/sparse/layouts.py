"""Sparse tensors in other layouts: coalesced, dense, by coordinates, compressed, in blocks, and by a mask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ...foundations.dtypes import Shape, dtype as torch_dtype
from ...foundations.errors import noted
from ...kernels.sparse.arrays import Blocks, Compressed, Coo, unsupported
from ...ops import sparse as ops
from ..arguments.options import (
    layout as Layout,
    refuse_complex_gradient,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ..state.base import TensorBase
from ..state.inside import is_sparse
from .construction import c_name
from .conversion import coo_of, dense_dim as dense_dims, kind_of, sparse_dim as sparse_dims
from .recording import record, sparse


def _refuse_stack(array: Any, name: str) -> NoReturn:
    """Raises RuntimeError for a sparse array that is no matrix."""
    kind = f"Sparse{name.title()}"
    said = (f"coo_to_sparse_{name}: conversion from Sparse to {kind} for input tensors with sparse_dim()!=2 is not "
            "supported") if isinstance(array, Coo) else f"to_sparse_{name}: stacks of matrices are not converted"
    raise noted(RuntimeError(said), instead="convert the matrices of a stack one by one")


@sparse("coalesce")
def coalesce(self: TensorBase) -> Any:
    return self if coo_of("coalesce", self).coalesced else record(ops.coalesce, self)


def _layout(x: Any) -> tuple[Any, ...]:
    """What tells a rule the layout of a gradient."""
    return sparse_dims(x), dense_dims(x), getattr(x._array, "by_rows", None), getattr(x._array, "block", None)


@sparse("to_dense")
def to_dense(self: Any, dtype: torch_dtype | None = None, *, masked_grad: bool | None = None) -> Any:
    if dtype is not None and isinstance(self._array, Coo):
        raise noted(
            RuntimeError("dtype argument is not supported by sparse_to_dense"), instead="call .to_dense().to(dtype)")
    if masked_grad is None or masked_grad:
        result = record(ops.to_dense, self)
    else:
        result = record(ops.to_dense_unmasked, self, _layout(self))
    return result if dtype is None else result.to(dtype)


@sparse("to_sparse")
def to_sparse(self: Any, sparse_dim: Any = None, *, layout: Layout | None = None, blocksize: Any = None,
              dense_dim: Any = None) -> Any:
    if isinstance(sparse_dim, Layout):
        sparse_dim, layout = None, sparse_dim
    if layout is not None and layout in _BLOCKS:
        return _to_blocks("sparse", layout.name, self, blocksize, dense_dim)
    kind = "Sparse" if layout is None or layout is sparse_coo else c_name(layout.name)
    if blocksize is not None:
        way = "to_sparse" if is_sparse(self) else "dense_to_sparse"
        raise RuntimeError(f"{way}: conversion from {kind_of(self)} to {kind} with blocksize argument given is not "
                           "supported")
    if layout is not None and layout is not sparse_coo:
        return _TO[layout](self, dense_dim)
    array, words = self._array, ""
    if is_sparse(self):
        way, held = ("to_sparse", "self.sparse_dim()") if isinstance(array, Coo) else (
            "sparse_compressed_to_sparse", "2")
        if sparse_dim is not None and sparse_dim != sparse_dims(self):
            words = f"sparse_dim argument !={held}"
        elif dense_dim is not None:
            words = "dense_dim argument given"
        if words:
            raise RuntimeError(f"{way}: conversion from {kind_of(self)} to Sparse with {words} is not supported")
        if not isinstance(array, Coo):
            refuse_complex_gradient("_to_sparse", self)
        return self if isinstance(array, Coo) else record(ops.coo_of_compressed, self, _layout(self))
    refuse_complex_gradient("_to_sparse", self)
    if sparse_dim is None and dense_dim is None:
        return record(ops.stored, self, array.ndim)
    name, given = ("sparse_dim", sparse_dim) if dense_dim is None else ("dense_dim", dense_dim)
    if not 0 <= given <= array.ndim:
        raise RuntimeError(f"dense_to_sparse: {name} argument must be in [0,{array.ndim}] range, but {given} is given")
    if array.ndim and given == (0 if dense_dim is None else array.ndim):
        wanted = "in >0" if dense_dim is None else "!=self.dim()"
        raise RuntimeError(f"dense_to_sparse: {name} argument must be {wanted} when self.dim()>0")
    return record(ops.to_sparse, self, given) if dense_dim is None else record(ops.stored, self, array.ndim - given)


@sparse("to_sparse_coo")
def to_sparse_coo(self: Any) -> Any:
    return to_sparse(self)


def _to_compressed(self: Any, by_rows: bool, dense: int | None) -> Any:
    array, name = self._array, "csr" if by_rows else "csc"
    if dense is not None and is_sparse(self):
        same = isinstance(array, Compressed) and array.by_rows == by_rows and not isinstance(array, Blocks)
        way = "coo_to_sparse" if isinstance(array, Coo) else "to_sparse" if same else "sparse_compressed_to_sparse"
        raise RuntimeError(f"{way}_{name}: conversion from {kind_of(self)} to Sparse{name.title()} with dense_dim "
                           "argument given is not supported")
    if isinstance(array, Blocks):
        raise noted(
            RuntimeError(f"sparse_compressed_to_sparse_{'csr' if by_rows else 'csc'}: expected SparseCsr or "
                         f"SparseCsc layout but got {kind_of(self)}"),
            instead="call .to_dense() first")
    if isinstance(array, Compressed):
        if array.by_rows == by_rows:
            return self
        refuse_complex_gradient(f"_to_sparse_{name}", self)
        self = record(ops.coo_of_compressed, self, _layout(self))
    if is_sparse(self):
        if sparse_dims(self) != 2 or array.ndim - dense_dims(self) != 2:
            _refuse_stack(array, name)
        refuse_complex_gradient(f"_to_sparse_{name}", self)
        return record(ops.csr_of_coo if by_rows else ops.csc_of_coo, self)
    if array.ndim < 2:
        raise IndexError(f"select(): index 1 out of range for tensor of size {[*(array.shape or (1,)), array.ndim]} at "
                         "dimension 1" if by_rows else
                         "Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if dense is not None and not 0 <= dense <= array.ndim - 2:
        raise RuntimeError(f"dense_to_sparse_{name}: dense_dim argument must be in [0,{array.ndim - 2}] range, but "
                           f"{dense} is given")
    refuse_complex_gradient(f"_to_sparse_{name}", self)
    return record(ops.to_sparse_csr if by_rows else ops.to_sparse_csc, self, dense or 0)


@sparse("to_sparse_csr")
def to_sparse_csr(self: TensorBase, dense_dim: Any = None) -> Any:
    return _to_compressed(self, True, dense_dim)


@sparse("to_sparse_csc")
def to_sparse_csc(self: TensorBase, dense_dim: Any = None) -> Any:
    return _to_compressed(self, False, dense_dim)


def _to_strided(self: TensorBase, dense_dim: Any = None) -> Any:
    return to_dense(self) if is_sparse(self) else self


@sparse("to_sparse_bsr")
def to_sparse_bsr(self: TensorBase, blocksize: Shape, dense_dim: Any = None) -> Any:
    return _to_blocks("sparse_bsr", "sparse_bsr", self, blocksize, dense_dim)


@sparse("to_sparse_bsc")
def to_sparse_bsc(self: TensorBase, blocksize: Shape, dense_dim: Any = None) -> Any:
    return _to_blocks("sparse_bsc", "sparse_bsc", self, blocksize, dense_dim)


def _to_blocks(called: str, layout: str, self: Any, blocksize: Any, dense: int | None) -> Any:
    """The matrix in blocks. `called` is the function's name without "to_".

    Raises RuntimeError if the sizes of a block do not divide those of the matrix.
    """
    array, by_rows = self._array, layout == "sparse_bsr"
    way = _way_to_blocks(called, array, by_rows)
    conversion = f"{way}: conversion from {kind_of(self)} to Sparse{layout[7:].title()}"
    if blocksize is None and called == layout:
        raise TypeError(f"to_{called}(): argument 'blocksize' (position 1) must be tuple of ints, not NoneType")
    if isinstance(array, Coo) and (sparse_dims(self) != 2 or array.ndim - dense_dims(self) != 2):
        raise RuntimeError(f"{conversion} for input tensors with sparse_dim()!=2 is not supported")
    if isinstance(array, Compressed) and array.compressed.ndim > 1:
        raise RuntimeError(f"{conversion} for batched inputs is not supported")
    if blocksize is None:
        raise RuntimeError(f"{conversion} without blocksize argument given is not supported")
    block = (blocksize, blocksize) if isinstance(blocksize, int) else tuple(blocksize)
    if len(block) != 2:
        raise RuntimeError(f"{way}: blocksize needs to be a tuple of size 2, but got {len(block)}")
    if min(block) < 1:
        raise RuntimeError(f"{way}: blocksize needs to be positive, but got {[*block]}")
    within = dense_dims(self) if is_sparse(self) else dense or 0
    if not isinstance(array, Blocks):
        _check_divisible(way, array.shape, block, within)
    elif array.block != block:
        raise noted(
            RuntimeError(f"{conversion} with blocksize changed from {[*array.block]} to {[*block]} is not supported"),
            instead="call .to_dense() first")
    if dense is not None and is_sparse(self):
        raise RuntimeError(f"{conversion} with dense_dim argument given is not supported")
    if isinstance(array, Blocks) and array.by_rows == by_rows:
        return self
    if 0 in array.shape[:-2 - within]:
        raise RuntimeError(f"to_{layout}: Expected product of batch dimensions to be non-zero.")
    if array.ndim > 2:
        raise noted(RuntimeError(f"to_{layout}: stacks of matrices are not converted"),
                    instead="convert the matrices of a stack one by one")
    refuse_complex_gradient(f"_to_{layout}", self)
    return record(ops.to_sparse_bsr if by_rows else ops.to_sparse_bsc, _to_strided(self), block)


def _way_to_blocks(called: str, array: Any, by_rows: bool) -> str:
    """PyTorch's name for the way from an array to blocks."""
    if isinstance(array, Coo):
        return "sparse_coo_to_sparse" if called == "sparse" else f"coo_to_{called}"
    if isinstance(array, Blocks) and array.by_rows == by_rows:
        return f"to_{called}"
    return f"{'sparse_compressed' if isinstance(array, Compressed) else 'dense'}_to_{called}"


def _check_divisible(way: str, shape: Shape, block: tuple[int, ...], dense: int) -> None:
    """Raise IndexError for too few dims, RuntimeError if the sizes of a block do not divide those of the matrix."""
    ndim = len(shape)
    if ndim < 2 + dense:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got "
                         f"{-2 - dense})")
    rows, columns = shape[ndim - dense - 2:ndim - dense]
    if rows % block[0] or columns % block[1]:
        raise RuntimeError(f"{way}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize "
                           f"({block[0]},{block[1]})")


_BLOCKS = (sparse_bsr, sparse_bsc)
_TO: dict[Any, Callable[..., Any]] = {sparse_csr: to_sparse_csr, sparse_csc: to_sparse_csc, strided: _to_strided}


@sparse("sparse_mask")
def sparse_mask(self: Any, mask: Any) -> Any:
    if not is_sparse(mask):
        raise unsupported("sparse_mask", "CPU")
    if self._array.shape != mask._array.shape:
        raise RuntimeError("sparse_mask(): operands have incompatible sizes; self has size "
                           f"{list(self._array.shape)} but mask has size {list(mask._array.shape)}")
    if isinstance(self._array, Coo) and isinstance(mask._array, Coo) and self._array.nnz and mask._array.nnz:
        mine, other = sparse_dims(self), sparse_dims(mask)
        if mine != other:
            raise RuntimeError("sparse_mask(): the number of sparse dimensions in `self` should match that of the "
                               f"`mask`. Got `self.sparse_dim() == {mine}` != `mask.sparse_dim() == {other}`.")
    if not is_sparse(self) or isinstance(mask._array, Compressed):
        return record(ops.masked, self, mask)
    return record(ops.masked_sparse, self, mask)
