"""LDL of symmetric and Hermitian matrices, with Bunch-Kaufman pivoting, as in LAPACK.

The lower triangle holds L, without its unit diagonal, and the blocks D of one or two rows. The pivot of a single row is
the row that it was swapped with, counted from 1. The two pivots of a block of two rows are the same negative number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..native import lapack
from .lu import size
from .triangular import by_columns

# The bound with the least growth of elements.
_BOUND = (1 + math.sqrt(17)) / 8


def ldl_factor_ex(x: Array, hermitian: bool) -> tuple[Any, Any, Any]:
    """The factors in one matrix, the pivots, and the first i with D[i, i] = 0, counted from 1, or 0."""
    return lapack.ldl_factor(x, hermitian) or _ldl_factor(x, hermitian)


def _ldl_factor(x: Array, hermitian: bool) -> tuple[Any, Any, Any]:
    *stack, n, _ = x.shape
    factors = np.tril(x).reshape(math.prod(stack), n, n)
    pivots, info = np.zeros((len(factors), n), np.int32), np.zeros(len(factors), np.int32)
    for i, matrix in enumerate(factors):
        info[i] = _factor(matrix, pivots[i], hermitian and x.dtype.kind == "c")
    return by_columns(factors.reshape(x.shape)), pivots.reshape((*stack, n)), info.reshape(tuple(stack))


def _factor(a: Array, pivots: Array, conjugate: bool) -> int:
    """Factor one matrix in place, and return its info."""
    n, k, info = len(a), 0, 0
    while k < n:
        step, best = _choice(a, k, conjugate)
        if not step:
            info, step, best = info or k + 1, 1, k
            pivots[k] = best + 1
            k += 1
            continue
        _swap(a, k, k + step - 1, best, conjugate)
        below = a[k + step:, k:k + step].copy()
        block = a[k:k + step, k:k + step].copy()
        if step == 2:
            block[0, 1] = block[1, 0].conj() if conjugate else block[1, 0]
        if conjugate:
            np.fill_diagonal(block, block.diagonal().real)
            a[k:k + step, k:k + step] = np.tril(block)
        factor = below / block if step == 1 else _solve_two(block.T, below.T).T
        a[k + step:, k + step:] -= np.tril(factor @ (below.conj() if conjugate else below).T)
        a[k + step:, k:k + step] = factor
        pivots[k:k + step] = best + 1 if step == 1 else -(best + 1)
        k += step
    return info


def _choice(a: Array, k: int, conjugate: bool) -> tuple[int, int]:
    """The number of rows of the next block (0 if the column is 0), and the row to swap in."""
    own = float(abs(a[k, k].real) if conjugate else size(a[k, k]))
    column = size(a[k + 1:, k])
    at = k + 1 + int(column.argmax()) if len(column) else k
    most = float(column.max()) if len(column) else 0.0
    if not max(own, most) > 0:
        return 0, k
    if own >= _BOUND * most:
        return 1, k
    others = np.concatenate([size(a[at, k:at]), size(a[at + 1:, at])])
    row_most = float(others.max())
    if own >= _BOUND * most * (most / row_most):
        return 1, k
    diagonal = float(abs(a[at, at].real) if conjugate else size(a[at, at]))
    return (1, at) if diagonal >= _BOUND * row_most else (2, at)


def _swap(a: Array, k: int, row: int, other: int, conjugate: bool) -> None:
    """Swap two rows and columns of the part that is not factored yet. Only its lower triangle is stored."""
    if row == other:
        return
    a[[row, other], k:row] = a[[other, row], k:row]
    a[row, row], a[other, other] = a[other, other], a[row, row]
    between, across = a[row + 1:other, row].copy(), a[other, row + 1:other].copy()
    a[row + 1:other, row] = across.conj() if conjugate else across
    a[other, row + 1:other] = between.conj() if conjugate else between
    if conjugate:
        a[other, row] = a[other, row].conj()
    below = a[other + 1:, row].copy()
    a[other + 1:, row] = a[other + 1:, other]
    a[other + 1:, other] = below


def _solve_two(block: Array, b: Array) -> Any:
    """The x of block @ x = b, for two rows."""
    (p, q), (r, s) = block
    return np.stack([s * b[0] - q * b[1], p * b[1] - r * b[0]]) / (p * s - q * r)


def ldl_solve(x: Array, b: Array, pivots: Array, hermitian: bool) -> Any:
    """The X of A @ X = B, given the factors of A."""
    found = lapack.ldl_solve(x, pivots, b, hermitian)
    if found is not None:
        return found
    stack = np.broadcast_shapes(x.shape[:-2], b.shape[:-2])
    count, conjugate = math.prod(stack), hermitian and x.dtype.kind == "c"
    factors = np.broadcast_to(x, (*stack, *x.shape[-2:])).reshape(count, *x.shape[-2:])
    swaps = np.broadcast_to(pivots, (*stack, pivots.shape[-1])).reshape(count, pivots.shape[-1])
    result = np.array(np.broadcast_to(b, (*stack, *b.shape[-2:])), order="C")
    for matrix, swap, right in zip(factors, swaps, result.reshape(count, *b.shape[-2:])):
        _solve_one(matrix, swap.tolist(), right, conjugate)
    return by_columns(result)


def _solve_one(a: Array, pivots: list[int], x: Array, conjugate: bool) -> None:
    """Replace the right-hand sides `x` by the solutions, for one matrix."""
    n, k, blocks = len(a), 0, []
    while k < n:
        step = 1 if pivots[k] > 0 else 2
        blocks.append((k, step, abs(pivots[k]) - 1))
        k += step
    for k, step, other in blocks:
        end = k + step
        x[[end - 1, other]] = x[[other, end - 1]]
        x[end:] -= a[end:, k:end] @ x[k:end]
        block = a[k:end, k:end].copy()
        if step == 2:
            block[0, 1] = block[1, 0].conj() if conjugate else block[1, 0]
        x[k:end] = x[k:end] / block if step == 1 else _solve_two(block, x[k:end])
    for k, step, other in reversed(blocks):
        end = k + step
        lower = a[end:, k:end].T
        x[k:end] -= (lower.conj() if conjugate else lower) @ x[end:]
        x[[end - 1, other]] = x[[other, end - 1]]
