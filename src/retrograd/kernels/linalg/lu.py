"""LU with partial pivoting, for stacks of matrices: the factors, the row swaps, and solving with them.

LAPACK does the work if it can be reached. Otherwise NumPy does, whose own routines do not return their factors. Pivots
are LAPACK's: at step i, row i was swapped with row pivots[i], counted from 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..native import lapack
from ..shape import tril, triu
from ..thresholds import LU_ONE_BY_ONE, LU_PANEL, SWAPS_ONE_BY_ONE
from .triangular import adjoint, by_columns, solve_triangular


def lu_factor(a: Array) -> tuple[Any, Any, Any]:
    """L (without its unit diagonal) and U in one matrix, the pivots, and the first i with U[i, i] = 0, from 1, or 0."""
    factors, pivots, info = lapack.lu_factor(a) or _lu_factor(a)
    return below_nans(factors), pivots, info


def below_nans(factors: Any) -> Any:
    """The factors with nan below and beside the first nan among the pivots, where OpenBLAS does not divide by nan."""
    nans = np.isnan(factors.diagonal(0, -2, -1))
    if not nans.any():
        return factors
    first = nans.argmax(-1)[..., None, None]
    after = np.arange(factors.shape[-2])[:, None] > first
    beside = np.arange(factors.shape[-1]) >= first
    return by_columns(np.where(nans.any(-1)[..., None, None] & after & beside, np.nan, factors))


def _lu_factor(a: Array) -> tuple[Any, Any, Any]:
    (*stack, m, n), count = a.shape, min(a.shape[-2:])
    lu = np.array(a, order="C").reshape(math.prod(stack), m, n)
    pivots = np.empty((len(lu), count), np.int32)
    if lu.size:
        for start in range(0, count, LU_PANEL):
            stop = min(start + LU_PANEL, count)
            if len(lu) > LU_ONE_BY_ONE:
                _eliminate(lu, pivots, start, stop)
            else:
                for matrix, swaps in zip(lu, pivots, strict=True):
                    _eliminate_one(matrix, swaps, start, stop)
            if stop < n:
                lu[:, start:stop, stop:] = solve_triangular(lu[:, start:stop, start:stop], lu[:, start:stop, stop:],
                                                            False, True, True)
                lu[:, stop:, stop:] -= np.matmul(lu[:, stop:, start:stop], lu[:, start:stop, stop:])
    pivots += 1
    return (by_columns(lu.reshape(a.shape)), pivots.reshape((*stack, count)),
            first_true(lu.diagonal(0, -2, -1) == 0).reshape(tuple(stack)))


def first_true(flags: Array) -> Any:
    """The place of the first true along the last dim, counted from 1, or 0 if there is none. As int32."""
    if not flags.shape[-1]:
        return np.zeros(flags.shape[:-1], np.int32)
    return np.where(flags.any(-1), flags.argmax(-1) + 1, 0).astype(np.int32)


def size(x: Array) -> Any:
    """The size of numbers as LAPACK compares it."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


def _eliminate_one(lu: Array, pivots: Array, start: int, stop: int) -> None:
    """`_eliminate` for one matrix. The columns become rows of an array of their own, which is faster."""
    columns = lu[start:, start:stop].T.copy()
    order: dict[int, int] = {}
    for i in range(stop - start):
        best = int(size(columns[i, i:]).argmax()) + i
        if best != i:
            elements = columns[:, i].copy()
            columns[:, i] = columns[:, best]
            columns[:, best] = elements
            order[i], order[best] = order.get(best, best), order.get(i, i)
        pivots[start + i] = start + best
        below = columns[i, i + 1:]
        if columns[i, i] != 0:
            below /= columns[i, i]
        if i + 1 < stop - start:
            columns[i + 1:, i + 1:] -= columns[i + 1:, i, None] * below
    if order:
        rows = lu[start:]
        rows[[*order]] = rows[[*order.values()]]
    lu[start:, start:stop] = columns.T


def _eliminate(lu: Array, pivots: Array, start: int, stop: int) -> None:
    """Eliminate some columns, each before the next, and swap whole rows."""
    every = np.arange(len(lu))
    for i in range(start, stop):
        pivots[:, i] = best = size(lu[:, i:, i]).argmax(-1) + i
        rows = lu[:, i].copy()
        lu[:, i] = lu[every, best]
        lu[every, best] = rows
        pivot = lu[:, i, i, None]
        lu[:, i + 1:, i] /= np.where(pivot == 0, 1, pivot)
        lu[:, i + 1:, i + 1:stop] -= lu[:, i + 1:, i, None] * lu[:, i, None, i + 1:stop]


def row_order(pivots: Array, m: int) -> Any:
    """For each row of L @ U, the number of the row of the matrix that it equals."""
    *stack, count = pivots.shape
    swaps = pivots.reshape(math.prod(stack), count) - 1
    if len(swaps) <= SWAPS_ONE_BY_ONE:
        return np.array([_order(matrix, m) for matrix in swaps.tolist()], np.int64).reshape((*stack, m))
    every = np.arange(len(swaps))
    order = np.array(np.broadcast_to(np.arange(m), (len(swaps), m)))
    for i in range(min(count, m)):
        rows = order[:, i].copy()
        order[:, i] = order[every, swaps[:, i]]
        order[every, swaps[:, i]] = rows
    return order.reshape((*stack, m))


def _order(swaps: list[int], m: int) -> list[int]:
    """`row_order` for one matrix."""
    order = [*range(m)]
    for i, best in enumerate(swaps[:m]):
        order[i], order[best] = order[best], order[i]
    return order


def permutation(pivots: Any, like: Array) -> Any:
    """The matrix P of A = P @ L @ U, with the rows and the dtype of `like`."""
    rows = like.shape[-2]
    order = row_order(pivots, rows).reshape(math.prod(pivots.shape[:-1]), rows)
    found = np.zeros((*order.shape, rows), like.dtype)
    found[np.arange(len(order))[:, None], order, np.arange(rows)] = 1
    return found.reshape((*pivots.shape[:-1], rows, rows))


def lu_factors(lu: Array) -> tuple[Any, Any]:
    """L, with ones on the diagonal, and U."""
    m, n = lu.shape[-2:]
    count = min(m, n)
    lower, diagonal = tril(lu[..., :count], -1), np.arange(count)
    lower[..., diagonal, diagonal] = 1
    return lower, triu(lu[..., :count, :], 0)


def lu_unpack(x: Array, pivots: Array | None, unpack_data: bool, unpack_pivots: bool) -> tuple[Any, Any, Any]:
    """L, U and P. A part that is not unpacked is empty."""
    empty = np.empty(0, x.dtype)
    lower, upper = lu_factors(x) if unpack_data else (empty, empty)
    return lower, upper, permutation(pivots, x) if unpack_pivots else empty


def lu(x: Array) -> tuple[Any, Any, Any]:
    """L, U and P of A = P @ L @ U."""
    factored, pivots, _ = lu_factor(x)
    return lu_unpack(factored, pivots, True, True)


def lu_solve(x: Array, b: Array, indices: Sequence[Array], left: bool, adjoint_too: bool) -> Any:
    """The X of A @ X = B, or of X @ A = B if not `left`, given the factors of A; or with the adjoint of A.

    The pivots are in `indices`, so that a write to them is noticed, as for any saved index.
    """
    if not left:
        return adjoint(lu_solve(x, adjoint(b), indices, True, not adjoint_too))
    found = lapack.lu_solve(x, indices[0], b, b"C" if adjoint_too else b"N")
    return by_columns(_solved(x, b, indices[0], adjoint_too)) if found is None else found


def _solved(x: Array, b: Array, pivots: Array, adjoint_too: bool) -> Any:
    order = row_order(pivots, x.shape[-1])
    stack = np.broadcast_shapes(x.shape[:-2], b.shape[:-2])
    b = np.broadcast_to(b, (*stack, *b.shape[-2:]))
    order = np.broadcast_to(order, (*stack, order.shape[-1]))[..., None]
    if adjoint_too:
        dual = adjoint(x)
        y = solve_triangular(dual, b, False, True, False)
        y = solve_triangular(dual, y, True, True, True)
        return np.take_along_axis(y, np.argsort(order, -2), -2)
    y = solve_triangular(x, np.take_along_axis(b, order, -2), False, True, True)
    return solve_triangular(x, y, True, True, False)
