"""Singular values, eigenvalues and Cholesky factors of stacks of matrices, by LAPACK.

If LAPACK fails for a matrix, the error has PyTorch's words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import LinAlgError
from .triangular import adjoint, by_columns

_COMPLEX = {"f": "complex64", "d": "complex128"}
# LAPACK divides bidiagonal matrices that have more rows.
_UNDIVIDED = 25
# The largest imaginary part that the product of a vector and its gradient may have.
_PHASE = 1e-2
_ILL = "the input matrix is ill-conditioned or has too many repeated {}values"


def _nonfinite(a: Array) -> Any:
    """Whether each matrix has an infinity or a nan."""
    return ~np.isfinite(a).all((-2, -1))


def _unconverged(name: str, a: Array, reason: str) -> LinAlgError:
    """The error for the first matrix with infinities or nans, or, if there is none, for the given reason."""
    bad = _nonfinite(a)
    if not bad.any():
        return LinAlgError(f"linalg.{name}: The algorithm failed to converge because {reason}.")
    place = f"(Batch element {bad.argmax()}): " if bad.ndim else ""
    return LinAlgError(f"linalg.{name}: {place}The algorithm failed to converge because the input matrix contained "
                       "non-finite values.")


def _refuse_endless(a: Array, infinite: Any) -> None:
    """Raise PyTorch's error for infinities in matrices that are long or large. For others PyTorch's values are nan."""
    small, large = sorted(a.shape[-2:])
    if small > _UNDIVIDED or large >= 11 * small // 6 > 1:
        reason = _ILL.format("singular ")
        if np.isnan(a).any():
            raise _unconverged("svd", a, reason)
        place = f"(Batch element {infinite.argmax()}): " if infinite.ndim else ""
        raise LinAlgError(f"linalg.svd: {place}The algorithm failed to converge because {reason}.")


def _without_infinities(function: Callable[[Any], Sequence[Any]], a: Array, infinite: Any) -> Sequence[Any]:
    """The function's results, with nan for the `infinite` matrices. LAPACK may never return from an infinity."""
    if not infinite.any():
        return function(a)
    results = function(np.where(np.isinf(a), 0, a).astype(a.dtype, copy=False))
    for result in results:
        result[infinite] = math.nan
    return results


def svd(a: Array, full: bool) -> tuple[Any, Any, Any]:
    """U, the singular values in falling order, and the adjoint of V."""
    *stack, m, n = a.shape
    count = min(m, n)
    if not a.size:
        rows, columns = (m, n) if full else (count, count)
        left, right = (by_columns(np.broadcast_to(np.eye(*size, dtype=a.dtype), (*stack, *size)))
                       for size in ((m, rows), (columns, n)))
        return left, np.zeros((*stack, count), a.real.dtype), right
    infinite = np.isinf(a).any((-2, -1))
    if infinite.any():
        _refuse_endless(a, infinite)
    try:
        left, values, right = _without_infinities(lambda x: np.linalg.svd(x, full_matrices=full), a, infinite)
        return by_columns(left), values, by_columns(right)
    except np.linalg.LinAlgError:
        raise _unconverged("svd", a, _ILL.format("singular ")) from None


def svdvals(a: Array) -> Any:
    """The singular values in falling order."""
    if not a.size:
        return np.zeros((*a.shape[:-2], min(a.shape[-2:])), a.real.dtype)
    infinite = np.isinf(a).any((-2, -1))
    try:
        return _without_infinities(lambda x: (np.linalg.svd(x, compute_uv=False),), a, infinite)[0]
    except np.linalg.LinAlgError:
        raise _unconverged("svd", a, _ILL.format("singular ")) from None


def eigh(a: Array, uplo: Any) -> tuple[Any, Any]:
    """The eigenvalues of a Hermitian matrix in rising order, and its eigenvectors. One triangle is read."""
    try:
        values, vectors = np.linalg.eigh(a, uplo)
        return values, by_columns(vectors)
    except np.linalg.LinAlgError:
        bad = _nonfinite(a)
        if not bad.any():
            raise _unconverged("eigh", a, _ILL.format("eigen")) from None
        values, vectors = np.linalg.eigh(np.where(bad[..., None, None], 0, a), uplo)
        return np.where(bad[..., None], math.nan, values), by_columns(np.where(bad[..., None, None], math.nan, vectors))


def eigvalsh(a: Array, uplo: Any) -> Any:
    """The eigenvalues of a Hermitian matrix in rising order."""
    try:
        return np.linalg.eigvalsh(a, uplo)
    except np.linalg.LinAlgError:
        return eigh(a, uplo)[0]


def eig(a: Array) -> tuple[Any, Any]:
    """The complex eigenvalues and eigenvectors of a square matrix."""
    dtype = _COMPLEX.get(a.dtype.char, a.dtype)
    if _nonfinite(a).any():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = np.linalg.eig(a)
    return values.astype(dtype, copy=False), by_columns(vectors.astype(dtype, copy=False))


def eigvals(a: Array) -> Any:
    """The complex eigenvalues of a square matrix; nan for a matrix with infinities or nan."""
    bad = _nonfinite(a)
    values = np.linalg.eigvals(np.where(bad[..., None, None], 0, a) if bad.any() else a)
    values = values.astype(_COMPLEX.get(a.dtype.char, a.dtype), copy=False)
    values[bad] = complex(math.nan, math.nan)
    return values


def cholesky_ex(a: Array, upper: bool) -> tuple[Any, Any]:
    """The lower triangular L with L @ L^H = a, or U = L^H, and an info. One triangle is read.

    The info is the order of the first leading minor that is not positive-definite, or 0.
    """
    try:
        factor = np.linalg.cholesky(a, upper=upper)
        if np.isfinite(np.diagonal(factor, axis1=-2, axis2=-1)).all():
            return by_columns(factor), np.zeros(a.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        pass
    lower, info = _lower_factor(adjoint(a) if upper else a)
    return by_columns(adjoint(lower) if upper else lower), info


def _lower_factor(a: Array) -> tuple[Any, Any]:
    """L and the info for matrices that may not be positive-definite. Then L keeps the work before the failure."""
    lower, info = np.tril(a), np.zeros(a.shape[:-2], np.int32)
    for i in range(a.shape[-1]):
        row, below = lower[..., i:i + 1, :i], lower[..., i:, :i]
        column = lower[..., i:, i] - np.matmul(below, adjoint(row))[..., 0]
        pivot = column[..., 0].real
        going = info == 0
        found = going & ~(pivot > 0)
        info[found] = i + 1
        root = np.sqrt(np.where(pivot > 0, pivot, 1))
        column = np.where((going & ~found)[..., None], column / root[..., None], lower[..., i:, i])
        column[np.isinf(root) & going, 1:] = np.nan         # LAPACK multiplies by 1 / root and again by root
        column[..., 0] = np.where(going, np.where(found, pivot, root), lower[..., i, i])
        lower[..., i:, i] = column
    return lower, info


def refuse_phase(products: Array, refusal: str) -> None:
    """Raise an error with the given text if products of vectors and their gradients have imaginary parts."""
    if products.dtype.kind == "c" and (np.abs(products.imag) > _PHASE).any():
        raise RuntimeError(refusal)
