"""Matrices of compressed blocks (BSR, BSC): the ways to and from dense matrices, products, and elementwise kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from .arrays import Blocks, Coo, unsupported
from .coordinates import to_dense as dense_of


def _as_blocks(x: Array, block: tuple[int, int]) -> Array:
    """A dense matrix as an array of blocks, of the shape (rows of blocks, columns of blocks, *block)."""
    rows, columns = x.shape
    return x.reshape(rows // block[0], block[0], columns // block[1], block[1]).swapaxes(1, 2)


def from_matrix(x: Array, block: tuple[int, int], by_rows: bool) -> Blocks:
    """The blocks of a dense matrix that hold a number other than 0."""
    blocks = _as_blocks(x, block)
    stored = (blocks != 0).any(axis=(2, 3))
    outer, inner = np.nonzero(stored if by_rows else stored.T)
    counts = stored.sum(axis=1 if by_rows else 0)
    compressed = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    values = blocks[(outer, inner) if by_rows else (inner, outer)]
    return Blocks(compressed, inner.astype(np.int64), values, x.shape, by_rows)


def places(a: Blocks) -> tuple[Array, Array]:
    """The rows and the columns of the stored blocks, counted in blocks."""
    outer = np.repeat(np.arange(a.compressed.size - 1), np.diff(a.compressed))
    return (outer, a.plain) if a.by_rows else (a.plain, outer)


def to_dense(a: Blocks) -> Array:
    """The dense matrix with the same elements."""
    out = np.zeros(a.shape, a.dtype)
    blocks = _as_blocks(out, a.block)
    np.add.at(blocks, places(a), a.values)
    return out


def to_coo(a: Blocks) -> Coo:
    """The elements of the stored blocks by coordinates, block by block."""
    rows, columns = places(a)
    height, width = a.block
    shape = (rows.size, height, width)
    down = np.broadcast_to(rows[:, None, None] * height + np.arange(height)[:, None], shape)
    across = np.broadcast_to(columns[:, None, None] * width + np.arange(width), shape)
    in_order = rows.size < 2 or (a.by_rows and height == 1)
    return Coo(np.stack([down.ravel(), across.ravel()]), a.values.reshape(-1), a.shape, in_order)


def masked(x: Any, pattern: Blocks) -> Blocks:
    """The blocks of a dense matrix, or of a matrix of such blocks, at the places of `pattern`."""
    dense = to_dense(x) if isinstance(x, Blocks) else dense_of(x) if isinstance(x, Coo) else x
    return pattern.with_values(_as_blocks(dense, pattern.block)[places(pattern)])


def t(a: Blocks, *dims: int) -> Blocks:
    """The transposed matrix: compressed rows of blocks become compressed columns."""
    return Blocks(a.compressed, a.plain, a.values.swapaxes(-1, -2), (a.shape[1], a.shape[0]), not a.by_rows)


def mm(a: Any, b: Any) -> Array:
    """The product of a matrix of compressed rows of blocks and a dense matrix or vector, or of the transposed two."""
    if isinstance(b, Blocks) and not b.by_rows and isinstance(a, np.ndarray):
        return mm(t(b), a.T).T
    if not (isinstance(a, Blocks) and a.by_rows and isinstance(b, np.ndarray)):
        kinds = [f"SparseBs{'cr'[x.by_rows]}" if isinstance(x, Blocks) else "Strided" for x in (a, b)]
        raise noted(
            RuntimeError(f"addmm: computation on CPU is not implemented for Strided + {kinds[0]} @ {kinds[1]}"),
            instead="use .to_dense()")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
                           f"{'x'.join(map(str, b.shape))})")
    rows, columns = places(a)
    height, width = a.block
    matrix = b.reshape(-1, width, b.size // b.shape[0] if b.shape[0] else 0)
    out = np.zeros((a.shape[0] // height, height, matrix.shape[2]), np.result_type(a.dtype, b.dtype))
    np.add.at(out, rows, a.values @ matrix[columns])
    return out.reshape(a.shape[0], *b.shape[1:])


def addmm(x: Array, mat1: Blocks, mat2: Array, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta * x + alpha * (mat1 @ mat2)."""
    total: Array = (beta * x + alpha * mm(mat1, mat2)).astype(x.dtype)
    return total


def add(a: Blocks, b: Blocks) -> Blocks:
    """The sum of two matrices with the same blocks. Raises NotImplementedError for others."""
    if not (isinstance(a, Blocks) and isinstance(b, Blocks) and a.by_rows == b.by_rows and a.block == b.block
            and np.array_equal(a.compressed, b.compressed) and np.array_equal(a.plain, b.plain)):
        raise unsupported("add", Blocks.backend)
    return a.with_values(a.values + b.values)


def scaled(a: Any, factor: Any) -> Blocks:
    """The matrix times a number. Raises NotImplementedError for the product with an array."""
    if not isinstance(a, Blocks):
        a, factor = factor, a
    if np.ndim(factor) or isinstance(factor, Blocks):
        raise unsupported("mul", Blocks.backend)
    product: Blocks = a.with_values(a.values * factor)
    return product
