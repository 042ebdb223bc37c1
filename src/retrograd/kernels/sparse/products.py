"""Products of sparse matrices, with dense and with sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, Coo
from .coordinates import coalesce, masked_once, summed
from .structure import ranges


def check_sizes(a: Any, b: Any) -> None:
    """Raises RuntimeError if the inner sizes of two matrices differ."""
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError(f"addmm: matrices expected, got {a.ndim}D and {b.ndim}D tensors")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {a.shape[1]}, got {b.shape[0]}")


def sparse_times_dense(a: Coo, b: Array) -> Array:
    """The product of a sparse and a dense matrix, or vector."""
    a = coalesce(a)
    rows, columns = a.indices
    scales = a.values if b.ndim == 1 else a.values[:, None]
    return summed(scales * b.take(columns, 0), rows, a.shape[0])


def sparse_times_sparse(a: Coo, b: Coo) -> Coo:
    """The product of two sparse matrices. Each stored element of `a` meets a row of `b`."""
    a, b = coalesce(a), coalesce(b)
    starts = np.searchsorted(b.indices[0], np.arange(b.shape[0] + 1))
    inner = a.indices[1]
    lengths = starts[inner + 1] - starts[inner]
    taken = ranges(starts[inner], lengths)
    indices = np.stack([np.repeat(a.indices[0], lengths), b.indices[1][taken]])
    terms = Coo(indices, np.repeat(a.values, lengths) * b.values[taken], (a.shape[0], b.shape[1]))
    product = coalesce(terms)
    product.coalesced = True
    return product


def mm(a: Any, b: Any) -> Any:
    """The product of two matrices, at least one of them sparse. It is sparse if both are."""
    if isinstance(a, Coo) and isinstance(b, Coo):
        check_sizes(a, b)
        return sparse_times_sparse(a, b)
    if isinstance(a, Coo):
        check_sizes(a, b)
        return sparse_times_dense(a, b)
    check_sizes(a, b)
    turned = Coo(b.indices[::-1], b.values, b.shape[::-1])
    return np.ascontiguousarray(sparse_times_dense(turned, a.T).T)


def mv(a: Coo, b: Array) -> Array:
    """The product of a sparse matrix and a dense vector."""
    if a.ndim != 2 or b.ndim != 1 or a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mv: expected self.size(-1) == vec.size(-1), but got {list(a.shape)} and {list(b.shape)}")
    return sparse_times_dense(a, b)


def bmm(a: Coo, b: Array) -> Array:
    """The products of the matrices in a sparse stack and in a dense stack."""
    if a.ndim != 3 or b.ndim != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise RuntimeError(f"bmm: Expected stacks of matching matrices, got {list(a.shape)} and {list(b.shape)}")
    count, rows, inner = a.shape
    of, row, column = coalesce(a).indices
    indices = np.stack([of * rows + row, of * inner + column])
    flat = Coo(indices, coalesce(a).values, (count * rows, count * inner), True)
    return sparse_times_dense(flat, b.reshape(count * inner, -1)).reshape(count, rows, -1)


def addmm(x: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * x + alpha * (mat1 @ mat2)."""
    product = mm(mat1, mat2)
    if isinstance(product, Coo):
        product = product if alpha == 1 else product.with_values(product.values * alpha)
        x = x if beta == 1 else x * beta
        return x + product
    product = product if alpha == 1 else product * alpha
    scaled = x if beta == 1 else x * beta
    return np.asarray(product + scaled if beta != 0 else product)


def pattern_product(pattern: Coo, left: Array, right: Array) -> Coo:
    """The product of two dense matrices at the indices of a sparse matrix."""
    rows, columns = pattern.indices
    return pattern.with_values(np.einsum("ij,ij->i", left[rows], right.T[columns]))


def masked_product(g: Any, other: Any, mask: Coo) -> Coo:
    """The product g @ other' at the indices of `mask`, each once: the gradient of a sparse factor."""
    if isinstance(g, Coo) or isinstance(other, Coo):
        turned = Coo(other.indices[::-1], other.values, other.shape[::-1]) if isinstance(other, Coo) else other.T
        return masked_once(mm(g, turned), mask)
    found = pattern_product(coalesce(mask), g, other.T)
    found.coalesced = mask.coalesced
    return found
