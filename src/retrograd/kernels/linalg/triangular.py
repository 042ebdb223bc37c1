"""Triangular systems of equations, for stacks of matrices: by the BLAS, or else by NumPy's products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..layout import empty_strided, row_by_row
from ..native import lapack
from ..thresholds import TRIANGLE_BY_ROW, TRIANGLE_HALVED, TRIANGLES_BY_ROW


def solve_triangular(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Any:
    """The x of a @ x = b, or of x @ a = b if not `left`. Only the upper or lower triangle of `a` is read."""
    stack, n = lapack.common_stack(a, b), a.shape[-1]
    together = n <= TRIANGLES_BY_ROW and math.prod(stack) >= 2 * n     # a step for each row instead of each matrix
    if not together:
        found = lapack.solve_triangular(a, b, upper, left, unitriangular)
        if found is not None:
            return found
    if not left:
        return mT(solve_triangular(mT(a), mT(b), not upper, True, unitriangular))
    x = np.array(np.broadcast_to(b, (*stack, *b.shape[-2:])), order="C")
    if x.size:
        (_row_by_row if together else _substitute)(a, x, upper, unitriangular)
    return x


def triangular_solve(b: Array, a: Array, upper: bool, transpose: bool, unitriangular: bool) -> tuple[Any, Any]:
    """The x of a @ x = b, or of a^T @ x = b with `transpose`; and a copy of `a`."""
    x = solve_triangular(mT(a) if transpose else a, b, upper != transpose, True, unitriangular)
    return by_columns(x), by_columns(np.array(np.broadcast_to(a, (*x.shape[:-2], *a.shape[-2:]))))


def triangular_system(a: Array, b: Array, upper: bool, left: bool, unitriangular: bool) -> Any:
    """`solve_triangular` in LAPACK's memory layout."""
    return by_columns(solve_triangular(a, b, upper, left, unitriangular))


def adjoint_system(a: Array, g: Array, upper: bool, left: bool, unitriangular: bool) -> Any:
    """`triangular_system` for the adjoint of `a`. `upper` says which triangle of the adjoint is read.

    PyTorch solves the conjugate system if it can do so without a copy of a complex matrix. The solution then lies row
    by row.
    """
    found = solve_triangular(adjoint(a), g, upper, left, unitriangular)
    conjugated = a.dtype.kind == "c" and a.flags.c_contiguous and a.shape[:-2] == g.shape[:-2] and 0 not in g.shape
    return np.ascontiguousarray(found) if conjugated else by_columns(found)


def by_columns(x: Array) -> Any:
    """The matrices in column order, as LAPACK returns them and PyTorch leaves them."""
    if x.size and 1 not in x.shape:
        return mT(np.ascontiguousarray(mT(x)))
    return in_tall_columns(x, x.shape[-2])                 # NumPy gives dims of size 1 other strides


def in_tall_columns(x: Array, height: int) -> Any:
    """The matrices in column order, in memory for matrices of `height` rows."""
    *stack, _, n = x.shape
    *outer, across, down = row_by_row((*stack, n, height))
    columns = empty_strided(x.shape, (*outer, down, across), x.dtype)
    columns[...] = x
    return columns


def mT(x: Array) -> Any:
    """The matrices transposed."""
    return x.swapaxes(-1, -2)


def adjoint(x: Array) -> Any:
    """The matrices transposed and conjugated."""
    return mT(x).conj() if x.dtype.kind == "c" else mT(x)


def _substitute(a: Array, x: Array, upper: bool, unit: bool) -> None:
    """Replace the right-hand sides `x` by the solutions."""
    n = a.shape[-1]
    if n > TRIANGLE_HALVED:
        first, last = slice(n // 2), slice(n // 2, n)
        if upper:
            first, last = last, first
        _substitute(a[..., first, first], x[..., first, :], upper, unit)
        x[..., last, :] -= np.matmul(a[..., last, first], x[..., first, :])
        _substitute(a[..., last, last], x[..., last, :], upper, unit)
        return
    if n <= TRIANGLE_BY_ROW or not _by_lapack(a, x, upper, unit):
        _row_by_row(a, x, upper, unit)


def _row_by_row(a: Array, x: Array, upper: bool, unit: bool) -> None:
    """Replace the right-hand sides `x` by the solutions, in one step for each row of the whole stack."""
    n = a.shape[-1]
    for i in range(n - 1, -1, -1) if upper else range(n):
        known = slice(i + 1, n) if upper else slice(i)
        row = x[..., i, :]
        if i != (n - 1 if upper else 0):
            row -= np.matmul(a[..., i:i + 1, known], x[..., known, :])[..., 0, :]
        if not unit:
            row /= a[..., i, i, None]


def _by_lapack(a: Array, x: Array, upper: bool, unit: bool) -> bool:
    """Solve a small system without infinities or zeros on its diagonal. Returns False for any other system.

    LU leaves an upper triangle unchanged, so LAPACK's general solver can solve a triangular system. A lower triangle
    read backwards is an upper triangle.
    """
    if not np.isfinite(a).all():
        return False
    triangle = np.triu(a if upper else a[..., ::-1, ::-1], 1 if unit else 0)
    if unit:
        triangle += np.eye(a.shape[-1], dtype=a.dtype)
    try:
        found = np.linalg.solve(triangle, x if upper else x[..., ::-1, :])
    except np.linalg.LinAlgError:
        return False
    x[...] = found if upper else found[..., ::-1, :]
    return True
