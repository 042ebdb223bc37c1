"""Element by element: functions that keep zeros, products, quotients, and sums with sparse and dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ..shape import clash
from .arrays import Coo, SparseLike, of_values, unsupported
from .coordinates import add_to, coalesce, keys, masked, places, to_dense, with_sparse_dims


def on_values(function: Callable[..., Any], *, coalesced: bool) -> Callable[..., Any]:
    """The kernel of a function that maps 0 to 0: it computes with the stored elements.

    A function that is not linear is applied after elements with the same index were added.
    """

    def kernel(a: Coo, *options: Any) -> Coo:
        a = coalesce(a) if coalesced else a
        return a.with_values(of_values(function, a.values, *options))

    return kernel


def _clash(a: tuple[int, ...], b: tuple[int, ...], name: str) -> RuntimeError:
    return noted(RuntimeError(f"{name}: expected sizes of 'self' and 'other' to match, but {list(a)} != {list(b)}"),
                 because="sparse tensors do not broadcast")


def multiply(a: Any, b: Any) -> Any:
    """The product, with a sparse array, a dense array or a number."""
    if isinstance(a, Coo) and isinstance(b, Coo):
        return _product_of_sparse(a, b)
    sparse, dense = (a, b) if isinstance(a, Coo) else (b, a)
    dense = np.asarray(dense)
    if not dense.ndim:
        return sparse.with_values(sparse.values * dense)
    if dense.shape != sparse.shape:
        sparse, dense = _broadcast(sparse, dense)
    at = dense[places(sparse)] if sparse.indices.shape[0] else dense
    return sparse.with_values(sparse.values * at)


def _broadcast(sparse: Coo, dense: Array) -> tuple[Coo, Array]:
    words = clash(dense.shape, sparse.shape)
    if words is not None:
        raise RuntimeError(words)
    shape = np.broadcast_shapes(sparse.shape, dense.shape)
    if shape != sparse.shape:
        raise unsupported("expand", sparse.backend)
    return sparse, np.broadcast_to(dense, shape)


def _product_of_sparse(a: Coo, b: Coo) -> Coo:
    """The product, which is stored where both factors are.

    As in PyTorch, the indices of a factor that is not coalesced stay as they are: of two such factors, those of the
    factor that stores less.
    """
    if a.shape != b.shape:
        if not a.ndim or not b.ndim:
            return _product_with_number(a, b)
        raise _clash(a.shape, b.shape, "mul")
    b = with_sparse_dims(b, a.indices.shape[0])
    if not (a.nnz and b.nnz):
        return Coo(a.indices[:, :0], (a.values[:0] if a.nnz else b.values[:0]), a.shape)
    if not (a.coalesced and b.coalesced):
        first = not a.coalesced and (b.coalesced or a.nnz < b.nnz)
        kept, other = (a, b) if first else (b, a)
        return kept.with_values(kept.values * masked(other, kept).values)
    _, left, right = np.intersect1d(keys(a.indices, a.shape), keys(b.indices, b.shape), assume_unique=True,
                                    return_indices=True)
    return Coo(np.ascontiguousarray(a.indices[:, left]), a.values[left] * b.values[right], a.shape, True)


def _product_with_number(a: Coo, b: Coo) -> Coo:
    number, array = (a, b) if not a.ndim else (b, a)
    return array.with_values(array.values * coalesce(number).values.sum())


def divide(a: Any, b: Any) -> Any:
    """The quotient by a number. The divisor may be an array without dimensions."""
    if not isinstance(b, Coo) and np.ndim(b):
        return a.with_values(a.values / b[places(a)])
    if isinstance(b, Coo):
        raise noted(
            RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                         f"{list(b.shape)} for divisor)"),
            because="divide x.to_dense() instead")
    quotient = coalesce(a) if a.dtype.kind in "iub" else a
    return quotient.with_values(np.true_divide(quotient.values, b))


def add(a: Any, b: Any, out: Any = None) -> Any:
    """The sum, of sparse arrays or of a sparse and a dense array; written to `out` if that is given."""
    if isinstance(a, Coo) and isinstance(b, Coo):
        total = sum_of_sparse(a, b)
        if out is not None:
            out.take(total)
        return total if out is None else out
    dense, sparse = (b, a) if isinstance(a, Coo) else (a, b)
    if isinstance(dense, SparseLike):
        raise unsupported("add.Tensor", sparse.backend)
    if not np.ndim(dense) and out is None:
        return np.asarray(to_dense(sparse) + dense)
    if np.shape(dense) != sparse.shape:
        raise _clash(np.shape(dense), sparse.shape, "add")
    if out is None:
        out = np.array(dense, np.result_type(dense, sparse.dtype), order="C")
    elif out is not dense:
        out[...] = dense
    return add_to(out, sparse)


def subtract(a: Coo, b: Coo) -> Any:
    """The difference, of sparse arrays or of a dense and a sparse array."""
    return add(a, -b)


def sum_of_sparse(a: Coo, b: Coo) -> Coo:
    """The sum of sparse arrays.

    The stored elements are merged as two sorted lists, as PyTorch does even if they are not sorted. If the values of
    one array are a view with gaps, as gradients may be, the elements are only put one behind the other.
    """
    if a.shape != b.shape:
        raise _clash(a.shape, b.shape, "add")
    b = with_sparse_dims(b, a.indices.shape[0])
    if not (a.values.flags.c_contiguous and b.values.flags.c_contiguous):
        joined = Coo(np.concatenate([a.indices, b.indices], axis=1), np.concatenate([a.values, b.values]), a.shape)
        return joined if joined.nnz <= joined.size else _unmarked(coalesce(joined))
    to_a, to_b, count = _merged(keys(a.indices, a.shape), keys(b.indices, b.shape), a.coalesced and b.coalesced)
    # As in PyTorch, the indices are a part of memory for all elements, so they have gaps if elements share a place.
    indices = np.empty((a.indices.shape[0], a.nnz + b.nnz), np.int64)[:, :count]
    indices[:, to_a], indices[:, to_b] = a.indices, b.indices
    values = np.zeros((count, *a.values.shape[1:]), np.result_type(a.values, b.values))
    values[to_a] += a.values
    values[to_b] += b.values
    return Coo(indices, values, a.shape).marked((a.coalesced and b.coalesced) or not count)


def _unmarked(a: Coo) -> Coo:
    """The array, which is not known to be coalesced."""
    return Coo(a.indices, a.values, a.shape, False, a.rounds)


def _merged(a: Array, b: Array, in_order: bool) -> tuple[Array, Array, int]:
    """The places of the elements of two lists in the merged list, and its length. Equal heads share a place."""
    if in_order:
        union = np.union1d(a, b)
        return np.searchsorted(union, a), np.searchsorted(union, b), union.size
    if np.array_equal(a, b):
        places_of = np.arange(a.size)
        return places_of, places_of, a.size
    left, right = a.tolist(), b.tolist()
    to_a, to_b = np.empty(len(left), np.int64), np.empty(len(right), np.int64)
    i = j = count = 0
    while i < len(left) or j < len(right):
        take_a = j >= len(right) or (i < len(left) and left[i] <= right[j])
        take_b = i >= len(left) or (j < len(right) and right[j] <= left[i])
        if take_a:
            to_a[i], i = count, i + 1
        if take_b:
            to_b[j], j = count, j + 1
        count += 1
    return to_a, to_b, count


def zeros_like(a: Coo, **options: Any) -> Coo:
    """An array of the same shape that stores no elements."""
    sparse_dim = a.indices.shape[0]
    return Coo(np.zeros((sparse_dim, 0), np.int64), np.zeros((0, *a.shape[sparse_dim:]), a.dtype), a.shape, True)


def stored_exp(x: Coo) -> Coo:
    """The exponentials of the stored elements. The other elements stay 0."""
    return x.with_values(np.exp(x.values))


def threshold_backward(g: Any, result: Coo) -> Coo:
    """The elements of `g` at the stored elements of `result`, and 0 where these are not positive."""
    found = masked(g, result)
    return found.with_values(np.where(result.values <= 0, 0, found.values))
