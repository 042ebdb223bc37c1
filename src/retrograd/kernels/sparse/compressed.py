"""Matrices with compressed rows or columns: the ways to and from coordinates, and products.

All computing is done with coordinates; the compressed indices of a result follow from its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from .arrays import Compressed, Coo, SparseLike
from .coordinates import coalesce, from_dense, to_dense as dense_of


def to_coo(x: Compressed) -> Coo:
    """The same matrix by coordinates. The elements of a matrix by columns stay in the order of columns."""
    if x.compressed.ndim > 1:
        return _stack_to_coo(x)
    lengths = np.diff(x.compressed)
    outer = np.repeat(np.arange(lengths.size), lengths)
    indices = np.stack([outer, x.plain] if x.by_rows else [x.plain, outer]).astype(np.int64)
    return Coo(indices, x.values, x.shape, x.by_rows, x.rounds)


def _stack_to_coo(a: Compressed) -> Coo:
    count = a.compressed.shape[0]
    parts = [to_coo(Compressed(a.compressed[i], a.plain[i], a.values[i], a.shape[1:], a.by_rows)) for i in range(count)]
    leads = np.repeat(np.arange(count), [part.nnz for part in parts])
    indices = np.concatenate([part.indices for part in parts], axis=1)
    return Coo(np.concatenate([leads[None], indices]), np.concatenate([part.values for part in parts]), a.shape, True)


def from_coo(x: Coo, by_rows: bool = True) -> Compressed:
    """The same matrix with compressed rows or columns."""
    turned = coalesce(x if by_rows else Coo(x.indices[::-1], x.values, x.shape[::-1]))
    count = np.bincount(turned.indices[0], minlength=turned.shape[0])
    compressed = np.concatenate([np.zeros(1, np.int64), np.cumsum(count, dtype=np.int64)])
    return Compressed(compressed, np.ascontiguousarray(turned.indices[1]), turned.values, x.shape, by_rows)


def from_matrix(x: Array, by_rows: bool = True) -> Compressed:
    """The elements of a dense matrix that are not zero."""
    return from_coo(from_dense(x, 2), by_rows)


def to_dense(a: Compressed) -> Array:
    """The dense array with the same elements."""
    return dense_of(to_coo(a))


def zeros_like(a: Compressed, **options: Any) -> Compressed:
    """A matrix of the same shape that stores no elements."""
    none = (*(slice(None),) * (a.plain.ndim - 1), slice(0))
    return type(a)(np.zeros_like(a.compressed), a.plain[none], a.values[none], a.shape, a.by_rows)


def t(a: Compressed) -> Compressed:
    """The transposed matrix: compressed rows become compressed columns."""
    shape = (*a.shape[:-2], a.shape[-1], a.shape[-2])
    return Compressed(a.compressed, a.plain, a.values, shape, not a.by_rows, a.rounds)


def _coordinates(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_coordinates, value))
    return to_coo(value) if isinstance(value, Compressed) else value


def by_coordinates(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel on compressed matrices: computes by coordinates, and compresses a sparse result again."""

    def compressed(*args: Any, **options: Any) -> Any:
        result = kernel(*_coordinates(args), **options)
        rows = next((x.by_rows for x in args if isinstance(x, Compressed)), True)
        return from_coo(result, rows) if isinstance(result, Coo) and result.ndim == 2 else result

    return compressed


def on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a function that maps 0 to 0: it computes with the stored elements."""

    def kernel(a: Compressed, *options: Any) -> Compressed:
        return a.with_values(np.asarray(function(a.values, *options)))

    return kernel


def masked(x: Any, mask: Compressed) -> Compressed:
    """The elements of a dense matrix, or of a sparse one, at the indices of `mask`."""
    found = to_coo(mask)
    dense = x if not isinstance(x, SparseLike) else dense_of(_coordinates(x))
    if not mask.by_rows:
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
    return pattern.with_values(product(to_coo(pattern), *matrices).values)
