"""Products of sparse matrices, with dense and with sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ..networks.adding_rows import add_rows
from ..networks.rounds import Rounds
from ..thresholds import SPARSE_BLOCK, SPARSE_ROUNDS
from .arrays import Coo
from .coordinates import coalesce, keys, masked_once, to_dense
from .structure import check_turned, ranges


def check_sizes(a: Any, b: Any) -> None:
    """Raises RuntimeError unless both are matrices that can be multiplied. A sparse one must have no dense dimensions.
    """
    for x in (a, b):
        dims = x.indices.shape[0] if isinstance(x, Coo) else x.ndim
        if dims != 2:
            raise RuntimeError(f"addmm: matrices expected, got {dims}D tensor")
        if x.ndim != dims:
            raise RuntimeError(f"addmm: scalar values expected, got {x.ndim - dims}D values")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {a.shape[1]}, got {b.shape[0]}")


def sparse_times_dense(a: Coo, b: Array, start: Array | None = None) -> Array:
    """The product of a sparse and a dense matrix, or vector, added to `start`.

    PyTorch adds the product of each stored element in their order, by fused instructions, which round once. For float32
    this function does the same.
    """
    rows, columns = a.indices
    matrix = b[:, None] if b.ndim == 1 else b
    shape = a.shape[0], matrix.shape[1]
    if start is None:
        out = np.zeros(shape, np.result_type(a.dtype, b.dtype))
    else:
        out = np.array(np.broadcast_to(start, shape), order="C")
    if out.size and a.nnz:
        rounds = _rounds(a) if out.dtype == np.float32 else None
        if rounds is not None:
            out = _add_fused(out, rounds, a.values, matrix, columns)
        else:
            add_rows(out, rows, a.values[:, None] * matrix.take(columns, 0))
    return out[:, 0] if b.ndim == 1 else out


def _rounds(a: Coo) -> Rounds | None:
    """The rounds of a product with this matrix, or None if they are too many. The matrix keeps them."""
    rows, height = a.indices[0], a.shape[0]
    for rounds in a.rounds:
        if rounds.fit(rows, height):
            return rounds
    counts = np.bincount(rows, minlength=height)
    if int(counts.max()) > SPARSE_ROUNDS:
        return None
    rounds = Rounds(rows, counts)
    a.rounds[:] = [rounds, *a.rounds[:1]]
    return rounds


def _add_fused(out: Array, rounds: Rounds, values: Array, matrix: Array, columns: Array) -> Array:
    """`out` with the products added. A product of float32 numbers is exact in float64, so only sums are rounded."""
    columns, values = columns.take(rounds.order), values.take(rounds.order)[:, None]
    matrix, height = matrix.astype(np.float64), max(SPARSE_BLOCK // matrix.shape[1], 1)
    sums = out.take(rounds.by_count, 0)
    held = begin = 0
    for first, last in rounds.bounds:
        if last > held:
            begin, held = first, max(first + height, last)
            products = matrix.take(columns[begin:held], 0)
            products *= values[begin:held]
        part, reached = products[first - begin:last - begin], sums[:last - first]
        part += reached
        reached[...] = part
    return sums.take(rounds.sorted_place, 0)


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
    check_turned(b, b.ndim - 2, b.ndim - 1)
    check_sizes(a, b)
    turned = Coo(b.indices[::-1], b.values, b.shape[::-1], rounds=b.rounds)
    return np.ascontiguousarray(sparse_times_dense(turned, a.T).T)


def mv(a: Any, b: Any) -> Any:
    """The product of a matrix and a vector, one of them sparse."""
    if isinstance(b, Coo):
        return a @ to_dense(b)
    if a.ndim != 2 or b.ndim != 1:
        raise RuntimeError(f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {a.ndim}Tensor Dim: "
                           f"{b.ndim}")
    if a.shape[1] != b.shape[0]:
        raise noted(
            RuntimeError("mv: expected self.size(-1) == vec.size(-1)"), given=f"{list(a.shape)} and {list(b.shape)}")
    check_sizes(a, b[:, None])
    return sparse_times_dense(a, b)


def bmm(a: Coo, b: Array) -> Array:
    """The products of the matrices in a sparse stack and in a dense stack."""
    for name, x in (("self", a), ("mat2", b)):
        if x.ndim != 3:
            raise RuntimeError(f"bmm_sparse: Tensor '{name}' must have 3 dims, but has {x.ndim}")
    for own, other in ((0, 0), (2, 1)):
        if a.shape[own] != b.shape[other]:
            raise noted(
                RuntimeError(f"bmm_sparse: 'self.size({own})' and 'mat2.size({other})' must match"),
                given=f"{list(a.shape)} and {list(b.shape)}")
    count, rows, inner = a.shape
    of, row, column = coalesce(a).indices
    indices = np.stack([of * rows + row, of * inner + column])
    flat = Coo(indices, coalesce(a).values, (count * rows, count * inner), True)
    return sparse_times_dense(flat, b.reshape(count * inner, b.shape[2])).reshape(count, rows, b.shape[2])


def addmm(x: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * x + alpha * (mat1 @ mat2)."""
    if isinstance(mat1, Coo) and not isinstance(mat2, Coo) and not isinstance(x, Coo):
        check_sizes(mat1, mat2)
        scaled = mat1 if alpha == 1 else mat1.with_values((mat1.values * alpha).astype(mat1.dtype, copy=False))
        return sparse_times_dense(scaled, mat2, None if beta == 0 else x * np.asarray(beta, mat1.dtype))
    product = mm(mat1, mat2)
    if alpha != 1:
        product = product * np.asarray(alpha, product.dtype)
    return product if beta == 0 else x * np.asarray(beta, x.dtype) + product


def pattern_product(pattern: Coo, left: Array, right: Array) -> Coo:
    """The product of two dense matrices at the indices of a sparse matrix; or of stacks of them."""
    *stack, rows, columns = pattern.indices
    factors = left[(*stack, rows)], right.swapaxes(-1, -2)[(*stack, columns)]
    return pattern.with_values(np.einsum("ij,ij->i", *factors))


def masked_product(g: Any, other: Any, mask: Coo) -> Coo:
    """The product g @ other' at the indices of `mask`, each once: the gradient of a sparse factor."""
    if isinstance(g, Coo) or isinstance(other, Coo):
        turned = Coo(other.indices[::-1], other.values, other.shape[::-1]) if isinstance(other, Coo) else other.T
        product = mm(g, turned)
        return _among(product, mask) if isinstance(product, Coo) else masked_once(product, mask)
    return pattern_product(coalesce(mask), g, other.T)


def _among(product: Coo, mask: Coo) -> Coo:
    """The elements of a product at the indices of `mask`.

    As in PyTorch, a product without elements stays as it is, and so do the indices of a product beside a mask that is
    not coalesced.
    """
    if not product.nnz:
        return product
    if mask.coalesced:
        return masked_once(product, mask)
    stored = np.isin(keys(product.indices, product.shape), keys(mask.indices, mask.shape))
    return product.with_values(np.where(stored, product.values, product.dtype.type(0)))
