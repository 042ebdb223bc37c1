"""The few largest singular values or eigenvalues of a matrix.

The singular values are approximate: they are computed from the products of the matrix with a few random vectors. The
method is that of Halko, Martinsson and Tropp, "Finding structure with randomness" (SIAM Review 53, 2011), algorithms
4.4 and 5.1. The functions are composed of operators, so gradients flow through them.
"""

from __future__ import annotations

from typing import Any

from ....foundations.dtypes import C_NAMES
from ....foundations.errors import noted
from ...recording.public import public
from ...state.base import TensorBase
from ..creation.random import randn
from ..sums import mean
from .factorizations import linalg_cholesky, linalg_eigh, linalg_qr, linalg_svd
from .matrix import matmul
from .solving import linalg_solve_triangular as solve_triangular


def _basis(A: TensorBase, q: int, niter: int, M: TensorBase | None) -> Any:
    """Columns that nearly span the range of A - M. Each of the `niter` rounds makes them more accurate."""
    def times(x: TensorBase, adjoint: bool = False) -> Any:
        y = matmul(A.mH if adjoint else A, x)
        return y if M is None else y - matmul(M.mH if adjoint else M, x)

    inexact = A.is_floating_point() or A.is_complex()
    basis = linalg_qr(times(randn(A.shape[-1], q, dtype=A.dtype if inexact else None)))[0]
    for _ in range(niter):
        basis = linalg_qr(times(linalg_qr(times(basis, adjoint=True))[0]))[0]
    return basis


@public()
def svd_lowrank(A: TensorBase, q: int | None = 6, niter: int | None = 2,
                M: TensorBase | None = None) -> tuple[TensorBase, TensorBase, TensorBase]:
    """U, S and V for about the `q` largest singular values of `A`, or of `A - M` if `M` is given.

    `A` is (..., m, n); U is (..., m, q), S is (..., q), V is (..., n, q). The function takes a few products with `A`.
    If the singular values of `A` decrease quickly, `U @ S.diag() @ V.mH` is near `A`. Each of the `niter` rounds makes
    the result more accurate. The random vectors come from the default generator, so results repeat after
    `manual_seed`.

    >>> import retrograd as torch
    >>> A = torch.arange(12.).view(4, 3)
    >>> U, S, V = torch.svd_lowrank(A, q=2)
    >>> torch.allclose(U @ S.diag() @ V.mH, A, atol=1e-4)
    True
    """
    m, n = A.shape[-2:]
    if M is not None:
        M = M.broadcast_to(A.shape)
    turned = m < n                                           # work on the transpose, which is taller than wide
    if turned:
        A, M = A.mH, None if M is None else M.mH
    q = 6 if q is None else q
    basis = _basis(A, q, 2 if niter is None else niter, M)
    small = matmul(basis.mH, A)
    if M is not None:
        small = small - matmul(basis.mH, M)
    left, S, right = linalg_svd(small, full_matrices=False)
    U, V = matmul(basis, left), right.mH
    return (V, S, U) if turned else (U, S, V)


@public()
def pca_lowrank(A: TensorBase, q: int | None = None, center: bool = True,
                niter: int = 2) -> tuple[TensorBase, TensorBase, TensorBase]:
    """`svd_lowrank` of `A` minus the mean of its rows. The columns of V are the principal components.

    `A` is (..., samples, features). `q` is 6 by default, or less if A is smaller. If `center` is False, the mean is
    not subtracted. Raises ValueError for a `q` outside of 0 to min(samples, features) and for a negative `niter`.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - mean(A, (-2,), keepdim=True) if center else A, q, niter)


@public()
def lobpcg(A: TensorBase, k: int | None = None, B: TensorBase | None = None, X: TensorBase | None = None,
           n: int | None = None,
           iK: TensorBase | None = None, niter: int | None = None, tol: float | None = None,
           largest: bool | None = None,
           method: str | None = None, tracker: None = None, ortho_iparams: dict[str, int] | None = None,
           ortho_fparams: dict[str, float] | None = None,
           ortho_bparams: dict[str, bool] | None = None) -> tuple[TensorBase, TensorBase]:
    """The `k` largest eigenvalues of a symmetric A, or the smallest if `largest` is False, and their eigenvectors.

    A is (..., m, m); the results are (..., k) and (..., m, k). By default `k` is the number of columns of `X`, or 1.
    With a positive definite `B` they solve A x = e B x, and the vectors are orthonormal with respect to B. PyTorch
    finds them by iteration, to save time on a large matrix. Here `linalg.eigh` computes them, exact to rounding. So the
    arguments about the iteration (`iK`, `niter`, `tol`, `method`, `tracker`, `ortho_*`, the values of `X`) have no
    effect. Raises ValueError if m is below 3 k.

    >>> import retrograd as torch
    >>> torch.lobpcg(torch.diag(torch.tensor([1., 5., 3.])))[0]
    tensor([5.])
    """
    m = A.shape[-1]
    if A.shape[-2] != m:
        raise AssertionError(f"A must be square, got shape {A.shape}")
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if n is None else n) if X is None else X.shape[-1]
    if m < 3 * n:
        raise noted(
            ValueError(f"LOBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than 3 x the "
                       f"number of requested eigenpairs (={n})"),
            instead="take torch.linalg.eigh")
    if X is not None and X.shape != (*A.shape[:-1], n):
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {(*A.shape[:-1], n)}")
    for name, matrix, wanted in (("A", A, A.is_floating_point()), ("B", B, B is None or B.dtype is A.dtype)):
        if matrix is not None and not wanted:
            other = "float" if name == "A" else C_NAMES[A.dtype.name]
            raise noted(
                RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {C_NAMES[matrix.dtype.name]} != "
                             f"{other}"), instead=f"convert {name} with .to(…)")
    factor = None
    if B is not None:                                        # with B = L L^T, L^-1 A L^-T is symmetric too
        factor = linalg_cholesky(B)
        A = solve_triangular(factor, solve_triangular(factor, A, upper=False).mT, upper=False)
    values, vectors = linalg_eigh((A + A.mT) / 2)
    if largest is None or largest:
        values, vectors = values[..., m - k:].flip(-1), vectors[..., m - k:].flip(-1)
    else:
        values, vectors = values[..., :k], vectors[..., :k]
    if factor is not None:
        vectors = solve_triangular(factor.mT, vectors, upper=True)
    return values, vectors
