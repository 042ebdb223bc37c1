"""Determinants, inverses and systems of equations, for stacks of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import LinAlgError
from ..native import lapack
from ..thresholds import LU_KEPT_ROWS
from .factorizations import eigh, svd, svdvals
from .lu import below_nans, lu_factor, lu_solve
from .triangular import adjoint, by_columns, in_tall_columns, mT, solve_triangular


def det(a: Array) -> Any:
    """The determinants."""
    return np.asarray(np.linalg.det(a)).astype(a.dtype, copy=False)


def slogdet(a: Array) -> tuple[Any, Any]:
    """The sign (or phase) of the determinants, and the logarithm of their absolute values."""
    sign, size = np.linalg.slogdet(a)
    if a.dtype.kind == "f" and np.isnan(size).any():
        sign = np.where(np.isnan(size), 0, sign).astype(a.dtype)             # nan has no sign
    return np.asarray(sign), np.asarray(size)


def cofactors(a: Array) -> Any:
    """The cofactors, the derivatives of a determinant by each element: det(a) a^-T, also for singular matrices."""
    values, without = np.asarray(np.linalg.det(a))[..., None, None], singular(a)[..., None, None]
    if not without.any():
        return values * mT(np.linalg.inv(a))
    plain = values * mT(np.linalg.inv(np.where(without, np.eye(a.shape[-1], dtype=a.dtype), a)))
    return np.where(without, _of_singular(a), plain)


def singular(a: Array) -> Any:
    """Which matrices cannot be inverted. A determinant is also small if all singular values are small."""
    values, eps = np.asarray(np.linalg.det(a)), float(np.finfo(a.dtype).eps)
    small = np.asarray(np.abs(values) < 100 * eps)
    if not small.any():
        return small
    sizes = svdvals(a)
    return (values == 0) | (small & (sizes[..., -1] <= eps ** 0.5 * sizes[..., 0]))


def _of_singular(a: Array) -> Any:
    """The cofactors from the singular values: products that leave out one singular value at a time."""
    left, sizes, right = svd(a, False)
    phase = np.linalg.det(left) * np.linalg.det(right)
    others = np.where(np.eye(sizes.shape[-1], dtype=bool), 1, sizes[..., None, :]).prod(-1)
    found = phase[..., None, None] * np.matmul(left.conj() * others[..., None, :], right.conj())
    return found.astype(a.dtype, copy=False)


def inv_ex(a: Array) -> tuple[Any, Any]:
    """The inverses, and the first zero on the diagonal of U in the LU, counted from 1, or 0."""
    try:
        found = np.linalg.inv(a)
        if not _starts_with_nan(found):
            return by_columns(found), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        pass
    return _by_lu(a, np.eye(a.shape[-1], dtype=a.dtype))


def _starts_with_nan(x: Array) -> bool:
    """Whether the first row of a solution begins with nan: then a pivot may have been nan, for which `lu_factor` has
    nan in all rows after it.
    """
    return bool(np.isnan(x[..., :1, :1]).any())


def _by_lu(a: Array, b: Array) -> tuple[Any, Any]:
    lu, pivots, info = lu_factor(a)
    return lu_solve(lu, b, (pivots,), True, False), info


def solve_ex(a: Array, b: Array, left: bool, vector: bool) -> tuple[Any, Any, Any, Any]:
    """The x of a @ x = b, or of x @ a = b if not `left`, and the info of `inv_ex`. `vector`: b holds vectors.

    For a large matrix also its LU (if not `left`, the LU of its transpose) and the pivots. Otherwise these are empty.
    """
    b = _as_columns(b, left, vector)
    if not left:
        a = mT(a)
    lu, pivots = np.empty((0, 0), a.dtype), np.empty(0, np.int32)
    if a.ndim == 2 and len(a) >= LU_KEPT_ROWS and (found := lapack.lu_factor(a)):
        lu, pivots, info = below_nans(found[0]), *found[1:]
        x = lu_solve(lu, b, (pivots,), True, False)
    else:
        try:
            x, info = by_columns(np.linalg.solve(a, b)), np.zeros(a.shape[:-2], np.int32)
            again = _starts_with_nan(x)
        except np.linalg.LinAlgError:
            again = True
        if again:
            x, info = _by_lu(a, b)
    return _as_given(x, left, vector), info, lu, pivots


def solve_adjoint(b: Array, a: Array, lu: Array, pivots: Array, left: bool) -> Any:
    """The x of `solve_ex` for the adjoint of `a` and right sides in matrices. It uses the LU that `solve_ex` kept."""
    if not lu.size:
        return solve_ex(adjoint(a), b, left, False)[0]
    return _as_given(lu_solve(lu, _as_columns(b, left, False), (pivots,), True, True), left, False)


def _as_columns(b: Array, left: bool, vector: bool) -> Any:
    """Right sides as the columns of matrices."""
    return b[..., None] if vector else b if left else mT(b)


def _as_given(x: Array, left: bool, vector: bool) -> Any:
    """Solutions in columns, back in the form of the right sides. PyTorch lays out vectors as if they were a matrix."""
    if vector:
        return x[..., 0] if x.ndim == 2 else by_columns(x[..., 0])
    return x if left else mT(x)


def pinv(a: Array, atol: float, rtol: Any, hermitian: bool) -> Any:
    """The pseudoinverses. Singular values up to max(atol, rtol * the largest) count as 0."""
    if not a.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
    if hermitian:
        sizes, left = eigh(a, "L")
        right = adjoint(left)
    else:
        left, sizes, right = svd(a, False)
    size = np.abs(sizes)
    least = np.maximum(atol, rtol * size.max(-1))[..., None]
    weights = np.where(size > least, 1 / np.where(size > least, sizes, 1), 0).astype(size.dtype, copy=False)
    return np.matmul(adjoint(right) * weights[..., None, :], adjoint(left))


def lstsq(a: Array, b: Array, rcond: float, driver: str, vector: bool) -> tuple[Any, Any, Any, Any]:
    """The shortest x that minimizes a @ x - b; residuals, ranks and singular values, if the driver computes them."""
    m, n = a.shape[-2:]
    if vector:
        b = b[..., None]
    x, rank, sizes = (_by_qr(a, b, rcond, driver) if driver in ("gels", "gelsy") else None) or _by_singular_values(
        a, b, rcond)
    if driver == "gels":
        _refuse_deficient(np.where((rank > 0) & (rank < min(m, n)), rank + 1, 0))
    empty = np.empty(0, a.real.dtype)
    residuals = empty
    if driver == "gels" and m > n == 0:                    # LAPACK's routine replaces the right sides by zeros
        residuals = np.zeros((*x.shape[:-2], x.shape[-1]), a.real.dtype)
    elif m > n and (driver == "gels" or (driver != "gelsy" and (rank == n).all())):
        residuals = np.square(np.abs(np.matmul(a, x) - b)).sum(-2)
    x = in_tall_columns(x, max(m, n))                      # the other rows were those of the right sides
    if vector:
        x = x[..., 0]
    if driver == "gels":
        rank = np.empty(0, np.int64)
    return x, residuals, rank, sizes if driver in ("gelsd", "gelss") else empty


def _refuse_deficient(info: Array) -> None:
    """Raise LinAlgError for the first rank-deficient matrix, with driver 'gels', which reports where it failed."""
    if info.any():
        at = int((info.ravel() != 0).argmax())
        place = f"(Batch element {at}): " if info.ndim else ""
        raise LinAlgError(f"torch.linalg.lstsq: {place}The least squares solution could not be computed because the "
                          f"input matrix does not have full rank (error code: {info.flat[at]}).")


def _by_singular_values(a: Array, b: Array, rcond: float) -> tuple[Any, Any, Any]:
    """The shortest solution, the ranks and the singular values."""
    left, sizes, right = svd(a, False)
    used = sizes > rcond * sizes[..., :1]
    weights = np.where(used, 1 / np.where(used, sizes, 1), 0).astype(sizes.dtype, copy=False)
    x = np.matmul(adjoint(right), weights[..., None] * np.matmul(adjoint(left), b))
    return x, np.asarray(used.sum(-1)), sizes


def _by_qr(a: Array, b: Array, rcond: float, driver: str) -> tuple[Any, Any, None] | None:
    """The solution and the ranks in a fraction of the time, or None if this method does not apply.

    Without LAPACK it applies only if the rank is certainly full.
    """
    m, n = a.shape[-2:]
    if not a.size or not np.isfinite(a).all():
        return None
    if driver == "gelsy" and (least := lapack.least_by_pivoted_qr(a, b, rcond)):
        return least[0], least[1], None
    if driver == "gels" and (least := lapack.least_by_qr(a, b)):
        _refuse_deficient(least[1])
        return least[0][..., :n, :], np.full(a.shape[:-2], min(m, n)), None
    if m < n:
        return None
    q, r = np.linalg.qr(a)
    try:
        inverse = np.linalg.inv(r)
    except np.linalg.LinAlgError:
        return None
    conditions = np.abs(r).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
    if not (conditions * rcond * 100 < 1).all():
        return None
    x = np.linalg.solve(r, np.matmul(adjoint(q), b))
    return x, np.full(a.shape[:-2], n, np.int64), None


def cholesky_solve(b: Array, factor: Array, upper: bool) -> Any:
    """The x of a @ x = b, given the Cholesky factor of `a`."""
    found = lapack.cholesky_solve(b, factor, upper)
    if found is not None:
        return found
    lower, other = (adjoint(factor), factor) if upper else (factor, adjoint(factor))
    return by_columns(solve_triangular(other, solve_triangular(lower, b, False, True, False), True, True, False))


def cholesky_inverse(factor: Array, upper: bool) -> Any:
    """The inverse of `a`, given its Cholesky factor."""
    found = lapack.cholesky_inverse(factor, upper)
    if found is not None:
        return found
    lower = adjoint(factor) if upper else factor
    inverse = solve_triangular(lower, np.eye(lower.shape[-1], dtype=lower.dtype), False, True, False)
    return by_columns(np.matmul(adjoint(inverse), inverse))


def machine_epsilon(dtype: np.dtype[Any]) -> float:
    """The distance from 1 to the next number of this dtype."""
    return float(np.finfo(dtype).eps)
