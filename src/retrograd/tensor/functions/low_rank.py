"""Singular values of large matrices, approximately: from what the matrix does to a few random vectors.

The method is that of Halko, Martinsson and Tropp, "Finding structure with randomness" (SIAM Review 53, 2011),
algorithms 4.4 and 5.1. It is composed of operators, so gradients flow through it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .decompositions import linalg_qr, linalg_svd
from .matrix import matmul
from .random import randn
from .reductions import mean

if TYPE_CHECKING:
    from ..tensor import Tensor


def _basis(A: Any, q: int, niter: int, M: Any) -> Any:
    """Columns that nearly span the range of A - M; each of `niter` rounds brings the large singular values out more."""
    def times(x: Any, adjoint: bool = False) -> Any:
        y = matmul(A.mH if adjoint else A, x)
        return y if M is None else y - matmul(M.mH if adjoint else M, x)

    inexact = A.is_floating_point() or A.is_complex()
    basis = linalg_qr(times(randn(A.shape[-1], q, dtype=A.dtype if inexact else None)))[0]
    for _ in range(niter):
        basis = linalg_qr(times(linalg_qr(times(basis, adjoint=True))[0]))[0]
    return basis


def svd_lowrank(A: Tensor, q: int | None = 6, niter: int | None = 2,
                M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of `A` (of `A - M` where that is given), approximately, for the `q` largest singular values.

    It costs a few products with `A` and is good where its singular values fall off: `U @ S.diag() @ V.mH` is then near
    `A`. `niter` rounds sharpen it. `A` is (..., m, n); U is (..., m, q), S is (..., q), V is (..., n, q). The random
    vectors are taken from the default generator, so results repeat after `manual_seed`.

    >>> import retrograd as torch
    >>> A = torch.arange(12.).view(4, 3)
    >>> U, S, V = torch.svd_lowrank(A, q=2)
    >>> torch.allclose(U @ S.diag() @ V.mH, A, atol=1e-4)
    True
    """
    m, n = A.shape[-2:]
    if M is not None:
        M = M.broadcast_to(A.shape)
    turned = m < n                                           # of the transpose, which is higher than wide
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


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True,
                niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of `A` less the mean of its rows: the principal components are the columns of V.

    `A` is (..., samples, features). `q` is 6 unless given, or less where A is smaller. `center` False leaves the mean
    where it is. Raises ValueError for a `q` or `niter` that does not fit.
    """
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - mean(A, (-2,), keepdim=True) if center else A, q, niter)
