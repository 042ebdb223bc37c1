"""Functions that make sparse tensors of indices and values, and their checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...foundations.devices import DeviceLike, checked
from ...foundations.dtypes import I64, Array, Shape, dtype as torch_dtype, legacy
from ...kernels.sparse.arrays import Blocks, Compressed, Coo
from ...kernels.sparse.coordinates import keys
from ...ops import sparse as ops
from ...ops.basic import cast
from ..arguments.options import (
    asked,
    check_tensors,
    element_type,
    layout as Layout,
    refuse_complex_gradient,
    require_grad,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
)
from ..functions.creation.creation import tensor
from ..recording.calls import recorded
from ..state.base import TensorBase, with_edge
from .recording import record, sparse

_cast = recorded(cast)


class Invariants:
    """Whether new sparse tensors are checked, unless the call says otherwise."""

    checked = False


def _data(value: Any, dtype: torch_dtype | None = None) -> Any:
    """The tensor `value`, or a tensor made of data; in another dtype if that is given."""
    if not isinstance(value, TensorBase):
        return tensor(value, dtype=dtype)
    target = None if dtype is None else element_type("sparse_coo_tensor", dtype)
    return value if target is None or target == value._array.dtype else _cast(value, target)


def _numbers(value: Any) -> Array:
    """Indices as int64."""
    array: Array = _data(value)._array
    return array if array.dtype == I64 else array.astype(I64)


def _finished(result: TensorBase, device: DeviceLike | None, requires_grad: bool) -> Any:
    if device is not None:
        checked(device)
    if requires_grad is not False and asked(requires_grad):
        result = with_edge(result._array, None)
        require_grad(result)
    return result


@sparse("sparse_coo_tensor")
def sparse_coo_tensor(indices: Any = None, values: Any = None, size: Shape | None = None, *,
                      dtype: torch_dtype | None = None, device: DeviceLike | None = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None,
                      is_coalesced: bool | None = None) -> Any:
    """See `torch.sparse_coo_tensor`."""
    if values is None:
        if indices is None and size is None:
            raise TypeError("sparse_coo_tensor() received an invalid combination of arguments - got (), but expected "
                            "one of:\n * (object indices, object values, tuple of ints size)\n * (tuple of ints size)")
        given = indices if size is None else size
        return _finished(empty((given,) if isinstance(given, int) else tuple(given), dtype), device, requires_grad)
    values, indices = _data(values, dtype), _numbers(indices)
    indices = indices.reshape(1, -1) if indices.ndim == 1 and size is None else indices
    stored = values._array
    if not indices.ndim:
        raise RuntimeError("indices must be sparse_dim x nnz, but got: []")
    if indices.ndim == 1:
        indices = indices[:, None] if stored.ndim == 0 else indices.reshape(indices.size, -1)
    if not stored.ndim:
        values, stored = values.reshape(1), stored.reshape(1)
    if size is None:
        if indices.size and indices.min() < 0:
            _refuse_index(indices, (0,) * indices.shape[0])
        largest = indices.max(axis=1) + 1 if indices.shape[1] else np.zeros(indices.shape[0], np.int64)
        size = (*largest.tolist(), *stored.shape[1:])
    shape = tuple(int(n) for n in size)
    _check_coo(indices, stored, shape)
    if Invariants.checked if check_invariants is None else check_invariants:
        _check_indices(indices, shape)
        if is_coalesced and np.any(np.diff(keys(indices, shape)) <= 0):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    return _finished(record(ops.coo_tensor, values, indices, shape, bool(is_coalesced)), device, requires_grad)


def _check_coo(indices: Array, values: Array, shape: tuple[int, ...]) -> None:
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    sparse_dim, dense_dim = indices.shape[0], values.ndim - 1
    if len(shape) != sparse_dim + dense_dim:
        sizes = f"len(size) = {len(shape)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: {sizes}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError("indices and values must have same nnz, but got nnz from indices: "
                           f"{indices.shape[1]}, nnz from values: {values.shape[0]}")
    if values.shape[1:] != shape[sparse_dim:]:
        raise RuntimeError(f"values has incorrect size, expected {[values.shape[0], *shape[sparse_dim:]]}, got "
                           f"{list(values.shape)}")


def _check_indices(indices: Array, shape: tuple[int, ...]) -> None:
    if indices.size and (indices.min() < 0 or any(row.max() >= size for row, size in zip(indices, shape))):
        _refuse_index(indices, shape)


def _refuse_index(indices: Array, shape: tuple[int, ...]) -> None:
    for dim, (row, size) in enumerate(zip(indices, shape)):
        if row.min() < 0:
            raise RuntimeError(f"found negative index {row.min()} for dim {dim}")
        if row.max() >= size:
            raise RuntimeError(f"size is inconsistent with indices: for dim {dim}, size is {size} but found index "
                               f"{row.max()}")


def empty(shape: tuple[int, ...], dtype: torch_dtype | None = None, sparse_dim: int | None = None) -> Any:
    """A sparse tensor that stores nothing."""
    shape = tuple(int(n) for n in shape)
    sparse_dim = len(shape) if sparse_dim is None else sparse_dim
    values = np.zeros((0, *shape[sparse_dim:]), element_type("zeros", dtype))
    array: Any = Coo(np.zeros((sparse_dim, 0), np.int64), values, shape, True)
    return with_edge(array, None)


def c_name(name: str) -> str:
    """The name that PyTorch's errors have for a layout: "SparseCsr" for "sparse_csr"."""
    return {"strided": "Strided", "sparse_coo": "Sparse"}.get(name) or f"Sparse{name[7:].title()}"


def empty_compressed(shape: tuple[int, ...], dtype: Any, layout: Layout, dense: int = 0,
                     block: tuple[int, ...] = ()) -> Any:
    """A compressed matrix, or a stack of matrices, that stores nothing. Its last `dense` dimensions are dense ones."""
    by_rows, end = layout in (sparse_csr, sparse_bsr), len(shape) - dense
    lines = shape[end - 2] // (block or (1, 1))[0] if by_rows else shape[end - 1] // (block or (1, 1))[1]
    stack, kind = shape[:end - 2], Blocks if block else Compressed
    values = np.zeros((*stack, 0, *block, *shape[end:]), element_type("zeros", dtype))
    array: Any = kind(np.zeros((*stack, lines + 1), np.int64), np.zeros((*stack, 0), np.int64), values, shape, by_rows)
    return with_edge(array, None)


@sparse("_with_layout")
def with_layout(name: str, shape: tuple[int, ...], layout: Layout, dtype: Any, device: Any, requires_grad: Any) -> Any:
    """What `zeros` and `empty` make in a sparse layout."""
    if not isinstance(layout, Layout):
        raise TypeError(f"{name}(): argument 'layout' must be torch.layout, not {type(layout).__name__}")
    if layout is sparse_coo:
        return _finished(empty(shape, dtype), device, requires_grad)
    if len(shape) < 2:
        raise RuntimeError(f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, but got "
                           f"size {[*shape]}")
    if layout in (sparse_bsr, sparse_bsc):
        raise RuntimeError(f"{name}_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
                           f"{c_name(layout.name)}")
    return _finished(empty_compressed(shape, dtype, layout), device, requires_grad)


@sparse("_spdiags")
def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Layout | None = None) -> Any:
    """See `torch.sparse.spdiags`."""
    check_tensors("_spdiags", diagonals=diagonals, offsets=offsets)
    rows, at, size = diagonals._array, np.atleast_1d(offsets._array), tuple(map(int, shape))
    count = len(np.atleast_2d(rows))
    for refused, words in (
            (rows.ndim not in (1, 2), "Diagonals must be vector or matrix"),
            (len(size) != 2, "Output shape must be 2d"), (at.ndim > 1, "Offsets must be scalar or vector"),
            (count != at.size,
             f"Number of diagonals ({count}) does not match the number of offsets ({at.size})"),
            (layout not in (None, sparse_coo, sparse_csr, sparse_csc),
             f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {c_name(str(layout)[6:])}"),
            (at.dtype != I64, f"Offset Tensor must have dtype Long but got {legacy(at)}"),
            (np.unique(at).size != at.size, "Offset tensor contains duplicate values")):
        if refused:
            raise RuntimeError(words)
    return record(ops.spdiags, diagonals, at, size, None if layout in (None, sparse_coo) else layout is sparse_csr)


# Compressed rows and columns

@sparse("sparse_compressed_tensor")
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: TensorBase, size: Shape | None = None,
                             *, dtype: torch_dtype | None = None, layout: Layout | None = None,
                             device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
                             check_invariants: bool | None = None) -> Any:
    """See `torch.sparse_compressed_tensor`."""
    if layout is None:
        raise RuntimeError("sparse_compressed_tensor expected sparse compressed tensor layout but got none")
    if layout not in (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc):
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got "
                           f"{'Strided' if layout.name == 'strided' else 'Sparse'}")
    values, by_rows = _data(values, dtype), layout in (sparse_csr, sparse_bsr)
    outer, inner = _data(compressed_indices)._array, _data(plain_indices)._array
    in_blocks = layout in (sparse_bsr, sparse_bsc)
    if in_blocks and values._array.ndim < 3:
        raise RuntimeError("values must have dimensionality > sum of batch and block dimensionalities (=0 + 2) but got "
                           f"{values._array.ndim}")
    sized = size is not None
    if size is None:
        counts = outer.shape[-1] - 1, int(inner.max()) + 1 if inner.size else 0
        if in_blocks:
            height, width = values._array.shape[-2:][::1 if by_rows else -1]
            counts = counts[0] * height, counts[1] * width
        dense = values._array.shape[inner.ndim + 2 * in_blocks:]
        size = (*outer.shape[:-1], *(counts if by_rows else counts[::-1]), *dense)
    shape = tuple(int(n) for n in size)
    if Invariants.checked if check_invariants is None else check_invariants:
        counted = _in_blocks(shape, values._array) if in_blocks else shape
        for refused, words in _broken(outer, inner, values._array, counted, by_rows):
            if refused:
                raise RuntimeError(words)
    if sized:
        refuse_complex_gradient("sparse_compressed_tensor", values)
        op = ops.block_tensor if in_blocks else ops.compressed_tensor
    else:
        op = ops.unsized_blocks if in_blocks else ops.unsized_compressed
    result = record(op, values, outer, inner, shape, by_rows)
    return _finished(result, device, requires_grad)


def _in_blocks(shape: tuple[int, ...], values: Array) -> tuple[int, ...]:
    """The size of a matrix counted in blocks. Raises RuntimeError unless the blocks fill the matrix."""
    for dim, (n, block) in enumerate(zip(shape, values.shape[-2:])):
        if n % block:
            raise RuntimeError(f"tensor shape[{dim}] (={n}) must be divisible with blocksize[{dim}] (={block}) as "
                               "defined by values shape")
    return tuple(n // block for n, block in zip(shape, values.shape[-2:]))


def _broken(outer: Array, inner: Array, values: Array, shape: tuple[int, ...], by_rows: bool
            ) -> Iterator[tuple[bool, str]]:
    """For each rule about compressed indices, whether these break it, and PyTorch's words."""
    names = ("crow_indices", "col_indices") if by_rows else ("ccol_indices", "row_indices")
    lines, width = (shape[-2], shape[-1]) if by_rows else (shape[-1], shape[-2])
    yield outer.shape[-1] != lines + 1, (
        f"{names[0]}.shape[-1] must be equal to the number of {'rows' if by_rows else 'columns'} + 1 "
        f"(={lines + 1}), but got {outer.shape[-1]}")
    yield inner.shape[-1] != values.shape[inner.ndim - 1], (
        f"{names[1]}.shape[-1] must be equal to nnz (={values.shape[inner.ndim - 1]}) as defined by values.shape[0], "
        f"but got {inner.shape[-1]}")
    yield bool((outer[..., 0] != 0).any()), f"`{names[0]}[..., 0] == 0` is not satisfied."
    yield bool((outer[..., -1] != inner.shape[-1]).any()), f"`{names[0]}[..., -1] == nnz` is not satisfied."
    steps = np.diff(outer)
    yield bool(((steps < 0) | (steps > width)).any()), (
        f"`0 <= {names[0]}[..., 1:] - {names[0]}[..., :-1] <= {'ncols' if by_rows else 'nrows'}` is not satisfied.")
    yield bool(((inner < 0) | (inner >= width)).any()), (
        f"`0 <= {names[1]} < {'ncols' if by_rows else 'nrows'}` is not satisfied.")
    if outer.ndim == 1:
        rows = np.repeat(np.arange(steps.size), steps)
        tied = (rows[1:] == rows[:-1]) & (inner[1:] <= inner[:-1])
        yield bool(tied.any()), (
            f"`{names[1]}[..., {names[0]}[..., i - 1]:{names[0]}[..., i]] for all i = 1, ..., "
            f"{'nrows' if by_rows else 'ncols'} are sorted and distinct along the last dimension values` is not "
            "satisfied.")


@sparse("sparse_csr_tensor")
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """See `torch.sparse_csr_tensor`."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=sparse_csr, **options)


@sparse("sparse_csc_tensor")
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """See `torch.sparse_csc_tensor`."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=sparse_csc, **options)


@sparse("sparse_bsr_tensor")
def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Shape | None = None,
                      **options: Any) -> Any:
    """See `torch.sparse_bsr_tensor`."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=sparse_bsr, **options)


@sparse("sparse_bsc_tensor")
def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any) -> Any:
    """See `torch.sparse_bsc_tensor`."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=sparse_bsc, **options)
