"""Matrices with compressed rows or columns: the ways to and from coordinates, and products.

All computing is done with coordinates; the compressed indices of a result follow from its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import I64, Array, Shape
from . import blocks
from .arrays import Blocks, Compressed, Coo, SparseLike, of_values
from .coordinates import coalesce, from_dense, to_dense as dense_of
from .elementwise import add as sum_of, multiply as product_of
from .structure import select as select_of


def to_coo(x: Compressed) -> Coo:
    """The same matrix by coordinates. The elements of a matrix by columns stay in the order of columns."""
    if isinstance(x, Blocks):
        return blocks.to_coo(x)
    if x.compressed.ndim > 1:
        return _stack_to_coo(x)
    lengths = np.diff(x.compressed)
    outer = np.repeat(np.arange(lengths.size), lengths)
    indices = np.stack([outer, x.plain] if x.by_rows else [x.plain, outer]).astype(np.int64)
    return Coo(indices, x.values, x.shape, x.by_rows, x.rounds)


def _stack_to_coo(a: Compressed) -> Coo:
    places = [*np.ndindex(a.compressed.shape[:-1])]
    shape = a.shape[len(places[0]):] if places else a.shape[-2:]
    parts = [to_coo(Compressed(a.compressed[at], a.plain[at], a.values[at], shape, a.by_rows)) for at in places]
    leads = np.repeat(np.array(places, np.int64).reshape(len(places), -1).T, [part.nnz for part in parts], axis=1)
    indices = np.concatenate([part.indices for part in parts], axis=1)
    return Coo(np.concatenate([leads, indices]), np.concatenate([part.values for part in parts]), a.shape, a.by_rows)


def from_coo(x: Coo, by_rows: bool = True) -> Compressed:
    """The same matrix with compressed rows or columns."""
    turned = coalesce(x if by_rows else Coo(x.indices[::-1], x.values, (*x.shape[1::-1], *x.shape[2:])))
    count = np.bincount(turned.indices[0], minlength=turned.shape[0])
    compressed = np.concatenate([np.zeros(1, np.int64), np.cumsum(count, dtype=np.int64)])
    return Compressed(compressed, np.ascontiguousarray(turned.indices[1]), turned.values, x.shape, by_rows)


def from_matrix(x: Array, by_rows: bool = True, dense: int = 0) -> Compressed:
    """The elements of a dense matrix that are not zero; of a stack of matrices, if each has the same number of them.

    The last `dense` dimensions are dense ones.
    """
    matrix = x.shape[x.ndim - 2 - dense:]
    if len(matrix) == x.ndim:
        return from_coo(from_dense(x, 2), by_rows)
    stack = x.shape[:x.ndim - 2 - dense]
    parts = [from_coo(from_dense(each, 2), by_rows) for each in x.reshape(math.prod(stack), *matrix)]
    if len({part.nnz for part in parts}) > 1:
        raise RuntimeError("Expect the same number of specified elements per batch.")
    if not parts:
        raise RuntimeError(f"to_sparse_{'csr' if by_rows else 'csc'}: Expected product of batch dimensions to be "
                           "non-zero.")
    outer, inner, values = [
        np.stack(each).reshape(*stack, *each[0].shape) for each in zip(*[part.parts for part in parts])]
    return Compressed(outer, inner, values, x.shape, by_rows)


def to_dense(a: Any) -> Array:
    """The dense array with the elements of a sparse array of any kind."""
    return dense_of(_coordinates(a))


def zeros_like(a: Compressed, **options: Any) -> Compressed:
    """A matrix of the same shape that stores no elements."""
    none = (*(slice(None),) * (a.plain.ndim - 1), slice(0))
    return type(a)(np.zeros_like(a.compressed), a.plain[none], a.values[none], a.shape, a.by_rows)


def t(a: Compressed) -> Compressed:
    """The transposed matrix: compressed rows become compressed columns."""
    shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
    return Compressed(a.compressed, a.plain, a.values, shape, not a.by_rows, a.rounds)


def transpose(a: Compressed, dim0: int, dim1: int) -> Compressed:
    """The array with two dimensions swapped, both of the stack or both of the matrices."""
    stack = a.compressed.ndim - 1
    kinds = [(axis >= stack) + (axis >= stack + 2) for axis in (dim0, dim1)]
    if dim0 == dim1:
        return a
    if a.ndim > stack + 2:
        raise RuntimeError("transpose(): hybrid sparse compressed tensors with dense dimensions are not supported")
    if kinds[0] != kinds[1]:
        named = [f"{axis}({('Batch', 'Sparse', 'Dense')[kind]})" for axis, kind in zip((dim0, dim1), kinds)]
        raise RuntimeError("transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
                           f"{named[0]} and {named[1]}")
    if kinds[0]:
        return t(a)
    shape = [*a.shape]
    shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
    parts = [part.swapaxes(dim0, dim1) for part in a.parts]
    return Compressed(parts[0], parts[1], parts[2], tuple(shape), a.by_rows)


def _coordinates(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_coordinates, value))
    return to_coo(value) if isinstance(value, Compressed) else value


def select(a: Compressed, dim: int, index: int) -> Any:
    """The part at one index of a dimension: a matrix of a stack, or a row or column by coordinates."""
    stack = a.compressed.ndim - 1
    if dim < stack:
        at: Any = (*(slice(None),) * dim, index)
        return Compressed(a.compressed[at], a.plain[at], a.values[at], a.shape[:dim] + a.shape[dim + 1:], a.by_rows)
    if stack and dim < stack + 2:
        raise RuntimeError("select(): selecting sparse dimensions is not supported for batched sparse compressed "
                           "tensors.")
    found = select_of(to_coo(a), dim, index)
    return found.marked(True) if isinstance(found, Coo) else found


def by_coordinates(kernel: Callable[..., Any], in_rows: bool = False) -> Callable[..., Any]:
    """The kernel on compressed matrices: computes by coordinates, and compresses a sparse result again.

    The result has compressed rows if `in_rows`, or if one of the compressed matrices has.
    """

    def compressed(*args: Any, **options: Any) -> Any:
        result = kernel(*_coordinates(args), **options)
        given = [x.by_rows for x in args if isinstance(x, Compressed)]
        rows = in_rows or any(given) or not given
        return from_coo(result, rows) if isinstance(result, Coo) and result.indices.shape[0] == 2 else result

    return compressed


def multiply(a: Any, b: Any) -> Any:
    """The product with a number, or with a matrix."""
    stored, other = (a, b) if isinstance(a, Compressed) else (b, a)
    if not isinstance(other, SparseLike) and not np.ndim(other):
        return stored.with_values(stored.values * other)
    return _product(a, b)


def add(a: Any, b: Any, out: Any = None) -> Any:
    """The sum. If two arrays share their indices, so does their sum."""
    if (isinstance(a, Compressed) and isinstance(b, Compressed) and a.shape == b.shape and a.by_rows == b.by_rows
            and type(a) is type(b) and np.array_equal(a.compressed, b.compressed) and np.array_equal(a.plain, b.plain)):
        return a.with_values(a.values + b.values)
    return _sum(a, b, out)


def sum_kept(a: Compressed, axes: tuple[int, ...], keepdim: bool, dtype: Any) -> Compressed:
    """The sums over dimensions of a matrix with compressed rows, which keep size 1. No dimensions are all of them."""
    found = to_coo(a)
    indices = found.indices.copy()
    indices[[*axes] or [0, 1]] = 0
    shape = tuple([1 if axis in (axes or (0, 1)) else size for axis, size in enumerate(a.shape)])
    values = found.values.astype(I64) if dtype is None and a.dtype.kind in "biu" else found.values
    return from_coo(Coo(indices, values, shape))


def threshold_backward(g: Any, result: Compressed) -> Compressed:
    """The elements of `g` at the stored elements of `result`, and 0 where these are not positive."""
    return result.with_values(np.where(result.values <= 0, 0, values_at(g, result)))


_product, _sum = by_coordinates(product_of), by_coordinates(sum_of)


def on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a function that maps 0 to 0: it computes with the stored elements."""

    def kernel(a: Compressed, *options: Any) -> Compressed:
        return a.with_values(of_values(function, a.values, *options))

    return kernel


def masked(x: Any, mask: Compressed) -> Compressed:
    """The elements of a dense matrix, or of a sparse one, at the indices of `mask`."""
    found = to_coo(mask)
    dense = x if not isinstance(x, SparseLike) else dense_of(_coordinates(x))
    if not mask.by_rows and mask.compressed.ndim == 1:
        return from_coo(found.with_values(dense[tuple(found.indices)]), False)
    return mask.with_values(dense[tuple(found.indices)].reshape(mask.values.shape))


def values_at(x: Any, mask: Compressed) -> Array:
    """The elements of a dense or sparse matrix at the indices of `mask`, in their order."""
    dense = x if not isinstance(x, SparseLike) else dense_of(_coordinates(x))
    found: Array = dense[tuple(to_coo(mask).indices)].reshape(mask.values.shape)
    return found


def compressed_pattern(kind: type[Compressed], outer: Array, inner: Array, values_shape: Shape, shape: Shape,
                       by_rows: bool) -> Compressed:
    """A matrix of a kind that has indices, and zeros for values."""
    return kind(outer, inner, np.broadcast_to(np.float32(0), values_shape), shape, by_rows)


def pattern_values(pattern: Compressed, product: Callable[..., Coo], *matrices: Array) -> Compressed:
    """A matrix with the indices of `pattern` and the elements of a product there."""
    return pattern.with_values(product(to_coo(pattern), *matrices).values.reshape(pattern.values.shape))
