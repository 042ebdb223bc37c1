"""Cholesky, QR, singular values and eigenvalues of stacks of matrices. The vectors are LAPACK's, up to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import return_types
from ....foundations.dtypes import legacy, letter
from ....foundations.errors import warn_once
from ....ops.linalg import factorizations as ops, singular_values
from ....tensors.state.base import TensorBase
from ...recording.out_rules import EXACT, FREE, UNDERIVED, castable, rule
from ...recording.public import public
from ...state.base import followed
from ..creation.creation import zeros
from ..elementwise.elementary import conj
from .matrix_checks import check_kernel, matrices, refuse_failures

_INDEFINITE = ("The factorization could not be completed because the input is not positive-definite (the leading minor "
               "of order {i} is not positive-definite).")


# Cholesky


@public(
    "linalg_cholesky_ex(Tensor input, *, bool upper=False, bool check_errors=False, Tensors[2] out=None) "
    "-> (Tensor L, Tensor info)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_cholesky_ex"))
def linalg_cholesky_ex(input: TensorBase, *, upper: bool = False,
                       check_errors: bool = False) -> return_types.linalg_cholesky_ex:
    """The Cholesky factor of each matrix, and its info: 0, or the order of the first leading minor that is not
    positive-definite.

    Raises `torch.linalg.LinAlgError` for an info other than 0 only with `check_errors`. See `torch.linalg.cholesky`.
    """
    matrices("linalg.cholesky", input, square=True, floating=True, kernel="cholesky_cpu")
    factor, info = ops.cholesky_ex(input, upper)
    if check_errors:
        refuse_failures(info, "linalg.cholesky_ex", _INDEFINITE)
    return return_types.linalg_cholesky_ex((factor, info))


@public(
    "linalg_cholesky(Tensor input, *, bool upper=False, Tensor out=None)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_cholesky_ex"), strict=True)
def linalg_cholesky(input: TensorBase, *, upper: bool = False) -> Any:
    """The lower triangular L with L @ L^H = A, or with `upper` the U with U^H @ U = A, for positive-definite A.

    A has shape (*, n, n), as has the factor. Only the lower triangle of A is read, or with `upper` the upper triangle.
    Raises `torch.linalg.LinAlgError` if a matrix is not positive-definite.

    >>> import retrograd as torch
    >>> torch.linalg.cholesky(torch.tensor([[4., 2.], [2., 5.]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    factor, info = linalg_cholesky_ex(input, upper=upper)
    refuse_failures(info, "linalg.cholesky", _INDEFINITE)
    return factor


@public("cholesky(Tensor input, bool upper=False, out)", out=castable("cholesky", "result"), strict=True, method=True)
def cholesky(input: TensorBase, upper: bool = False) -> Any:
    """The Cholesky factor. An older form of `torch.linalg.cholesky`."""
    warn_once("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch "
              "release.\nL = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
              "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\nThis "
              "transform will produce equivalent results for all valid (symmetric positive definite) inputs.")
    matrices("cholesky", input, square=True, kernel="cholesky_cpu")
    factor, info = ops.cholesky(input, upper)
    refuse_failures(info, "cholesky", _INDEFINITE)
    return factor


# QR


@public(
    "linalg_qr(Tensor A, str mode='reduced', *, Tensors[2] out=None) -> (Tensor Q, Tensor R)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_qr"))
def linalg_qr(A: TensorBase, mode: str = "reduced") -> return_types.linalg_qr:
    """Q with orthonormal columns and upper triangular R with Q @ R = A, for A of shape (*, m, n): `(Q, R)`.

    With k = min(m, n), 'reduced' gives the shapes (*, m, k) and (*, k, n), and 'complete' (*, m, m) and (*, m, n).
    'r' gives an empty Q and the R of 'reduced', without a gradient. Raises RuntimeError for another mode.

    >>> import retrograd as torch
    >>> Q, R = torch.linalg.qr(torch.tensor([[3., 1.], [4., 2.]]))
    >>> torch.allclose(Q @ R, torch.tensor([[3., 1.], [4., 2.]]))
    True
    """
    array = matrices("linalg.qr", A, floating=True)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    check_kernel("geqrf_cpu", array)
    return return_types.linalg_qr(ops.qr(A, mode))


@public(
    "qr(Tensor input, bool some=True, *, Tensors[2] out=None) -> (Tensor Q, Tensor R)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_qr"), strict=True, method=True)
def qr(input: TensorBase, some: bool = True) -> return_types.qr:
    """Q and R, of the complete shapes if `some` is False. An older form of `torch.linalg.qr`."""
    warn_once("torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n"
              "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)"
              "\nshould be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')")
    return return_types.qr(linalg_qr(input, "reduced" if some else "complete"))


# Singular values


def _check_svd(A: TensorBase, driver: str | None) -> None:
    matrices("linalg.svd", A, floating=True, kernel="linalg_svd_cpu")
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
                           "cuSOLVER backend.")


@public(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str driver=None, Tensors[3] out=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_svd"), strict=True)
def linalg_svd(A: TensorBase, full_matrices: bool = True, *, driver: str | None = None) -> return_types.linalg_svd:
    """U, S and Vh with A = U @ diag(S) @ Vh, for A of shape (*, m, n). The singular values S begin with the largest.

    U and Vh are square. Without `full_matrices` they have the shapes (*, m, k) and (*, k, n), with k = min(m, n). The
    gradients of U and Vh exist if the singular values are distinct and, unless A is square and real, not 0. The phases
    of complex vectors are arbitrary: a backward pass that depends on them raises RuntimeError.

    >>> import retrograd as torch
    >>> torch.linalg.svd(torch.tensor([[0., 2.], [1., 0.]])).S
    tensor([2., 1.])
    """
    _check_svd(A, driver)
    return return_types.linalg_svd(singular_values.svd(A, full_matrices))


@public(
    "linalg_svdvals(Tensor A, *, str driver=None, Tensor out=None)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_svd"))
def linalg_svdvals(A: TensorBase, *, driver: str | None = None) -> Any:
    """The singular values, the largest first: shape (*, m, n) gives (*, min(m, n))."""
    _check_svd(A, driver)
    return singular_values.svd(A, False)[1] if followed(A) else singular_values.svdvals(A)


@public(
    "svd(Tensor input, bool some=True, bool compute_uv=True, *, Tensors[3] out=None) "
    "-> (Tensor U, Tensor S, Tensor V)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_svd"), strict=True, method=True)
def svd(input: TensorBase, some: bool = True, compute_uv: bool = True) -> return_types.svd:
    """U, S and V with input = U @ diag(S) @ V^H, of the reduced shapes if `some`. An older form of `torch.linalg.svd`.

    Without `compute_uv` U and V are zeros.
    """
    if not compute_uv:
        s, (*stack, m, n) = linalg_svdvals(input), input._array.shape
        u, vh = (zeros(*stack, size, size, dtype=input.dtype) for size in (m, n))
    else:
        u, s, vh = linalg_svd(input, not some)
    return return_types.svd((u, s, conj(vh.transpose(-2, -1))))


# Eigenvalues


def _triangle(input: TensorBase, uplo: str) -> str:
    """Check the arguments of eigh. Returns the letter of the triangle that is read."""
    array = matrices("linalg.eigh", input, square=True)
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    check_kernel("linalg_eigh_cpu", array)
    return uplo.upper()


@public(
    "linalg_eigh(Tensor input, str UPLO='L', *, Tensors[2] out=None) -> (Tensor eigenvalues, Tensor eigenvectors)",
    out=rule(exact=EXACT, overlap=FREE, blame="_linalg_eigh"))
def linalg_eigh(input: TensorBase, UPLO: str = "L") -> return_types.linalg_eigh:
    """The eigenvalues and eigenvectors of symmetric or Hermitian matrices (*, n, n): `(eigenvalues, eigenvectors)`.

    The eigenvalues are real, the smallest first, of shape (*, n). The eigenvectors are the columns of (*, n, n). Only
    the lower triangle is read, or with UPLO='U' the upper. The gradients of the vectors exist if the values are
    distinct. The phases of complex vectors are arbitrary: a backward pass that depends on them raises RuntimeError.
    """
    return return_types.linalg_eigh(ops.eigh(input, _triangle(input, UPLO)))


@public("linalg_eigvalsh(Tensor input, str UPLO='L', out)", out=rule(exact=EXACT, overlap=FREE, blame="_linalg_eigh"))
def linalg_eigvalsh(input: TensorBase, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric or Hermitian matrices, real and the smallest first. See `torch.linalg.eigh`.

    >>> import retrograd as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2., 1.], [1., 2.]]))
    tensor([1., 3.])
    """
    uplo = _triangle(input, UPLO)
    return ops.eigh(input, uplo)[0] if followed(input) else ops.eigvalsh(input, uplo)


def _check_eig(name: str, input: TensorBase) -> None:
    array = matrices(name, input, square=True)
    if letter(array.dtype) not in "fc":
        raise RuntimeError(f"Unknown Complex ScalarType for {legacy(array)}")
    check_kernel("linalg_eig_out_cpu", array)


@public(
    "linalg_eig(Tensor input, *, Tensors[2] out=None) -> (Tensor eigenvalues, Tensor eigenvectors)",
    out=castable("torch.linalg.eig", "eigenvalues eigenvectors"))
def linalg_eig(input: TensorBase) -> return_types.linalg_eig:
    """The eigenvalues and eigenvectors of square matrices (*, n, n): `(eigenvalues, eigenvectors)`.

    Both are complex, in no particular order. The eigenvectors are columns of length 1. The gradients of the vectors
    exist if the values are distinct. Their phases are arbitrary: a backward pass that depends on them raises
    RuntimeError.
    """
    _check_eig("linalg.eig", input)
    return return_types.linalg_eig(ops.eig(input))


@public("linalg_eigvals(Tensor input, out)", out=castable("torch.linalg.eigvals", "eigenvalues", gradient=UNDERIVED))
def linalg_eigvals(input: TensorBase) -> Any:
    """The eigenvalues of square matrices, complex and in no particular order: shape (*, n, n) gives (*, n).

    >>> import retrograd as torch
    >>> torch.linalg.eigvals(torch.tensor([[0., -1.], [1., 0.]]))
    tensor([0.+1.j, 0.-1.j])
    """
    _check_eig("linalg.eigvals", input)
    return ops.eig(input)[0] if followed(input) else ops.eigvals(input)


NUMPY: dict[Any, Callable[..., Any]] = {
    np.linalg.cholesky: lambda a, /, *, upper=False: linalg_cholesky(a, upper=upper),
    np.linalg.qr: lambda a, mode="reduced": linalg_qr(a, mode),
    np.linalg.svd: lambda a, full_matrices=True: linalg_svd(a, full_matrices),
    np.linalg.svdvals: lambda x, /: linalg_svdvals(x),
    np.linalg.eigh: lambda a, UPLO="L": linalg_eigh(a, UPLO),
    np.linalg.eigvalsh: lambda a, UPLO="L": linalg_eigvalsh(a, UPLO),
    np.linalg.eig: linalg_eig,
    np.linalg.eigvals: linalg_eigvals,
}
