"""Cholesky, QR and eigenvalues of stacks of matrices.

Eigenvectors have derivatives only if the eigenvalues are distinct. Complex eigenvectors have derivatives only if the
result does not depend on their phases. Eigenvalues always have derivatives, so if the vectors got no gradient, their
part of the rule is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.linalg import factorizations as kernels, householder
from ..framework import Op, constant, operator
from .adjoints import (
    above_diagonal,
    adjoint,
    below_diagonal,
    differences,
    joined,
    lower_part,
    main_diagonal,
    on_diagonal,
    real_part,
    upper_part,
)
from .singular_values import without_phase
from .solving import solve_ex
from .triangular import solve_triangular

if TYPE_CHECKING:
    from ..values import Value

# Cholesky


def _cholesky(g: Value, factor: Value, upper: bool) -> Any:
    """L^-H phi(L^H gL) L^-1, where phi keeps a Hermitian matrix of the lower triangle."""
    lower, g = (adjoint(factor), adjoint(g)) if upper else (factor, g)
    inner = lower_part(np.matmul(adjoint(lower), g))
    inner = 0.5 * (inner + adjoint(below_diagonal(inner)))
    inner = solve_triangular(adjoint(lower), inner, True, True, False)
    return solve_triangular(lower, inner, False, False, False)


cholesky_ex: Op = operator("linalg_cholesky_ex", kernels.cholesky_ex, layout="columns", outputs="factor info",
                           differentiable="factor", complex="adjoint", a=_cholesky)
cholesky: Op = operator("cholesky", kernels.cholesky_ex, layout="columns", outputs="factor info",
                        differentiable="factor", complex="adjoint", a=_cholesky)


# QR


def _qr(g: Sequence[Any], q: Value, r: Value, mode: str) -> Any:
    """Only the first columns of a wide matrix are factorized. The gradient of the other columns joins that of Q."""
    gq, gr = g
    if mode == "r":
        raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                           "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
    m, n = q.shape[-2], r.shape[-1]
    if mode == "complete" and m > n:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    if m >= n:
        return _by_square_factor(q, r, gq, gr)
    right = gr[..., m:]
    first = _by_square_factor(q, r[..., :m], gq + np.matmul(q, np.matmul(r[..., m:], adjoint(right))), gr[..., :m])
    return joined((first, np.matmul(q, right)), -1)


def _by_square_factor(q: Value, r: Value, gq: Any, gr: Any) -> Any:
    inner = upper_part(np.matmul(gr, adjoint(r)) - np.matmul(adjoint(q), gq))
    inner = inner + adjoint(above_diagonal(inner))
    if inner.dtype.kind == "c":
        inner = np.where(on_diagonal(inner.shape[-1]), real_part(inner), inner)
    return solve_triangular(adjoint(r), gq + np.matmul(q, inner), False, False, False)


qr = operator("linalg_qr", householder.qr, layout="columns", outputs="q r", a=_qr)


# Eigenvalues


_REFUSED_EIGH, _REFUSED_EIG = [
    f"linalg_{name}_backward: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. "
    "The specified loss function depends on this quantity, so it is ill-defined." for name in ("eigh", "eig")]


def _eigh(g: Sequence[Value | None], values: Any, vectors: Value) -> Any:
    by_values, by_vectors = g
    if by_vectors is None:
        return None if by_values is None else np.matmul(vectors * by_values[..., None, :], adjoint(vectors))
    inner = np.matmul(adjoint(vectors), by_vectors)
    without_phase(main_diagonal(inner), _REFUSED_EIGH)
    along = np.zeros_like(values) if by_values is None else by_values
    inner = np.where(on_diagonal(values.shape[-1]), along[..., None, :], inner / differences(values))
    return np.matmul(np.matmul(vectors, inner), adjoint(vectors))


eigh: Op = operator("linalg_eigh", kernels.eigh, layout="columns", outputs="values vectors", unfilled=True, a=_eigh)


def _eig(g: Sequence[Value | None], values: Any, vectors: Value) -> Any:
    """Eigenvectors have length 1 and a fixed phase, so the gradient along the vectors themselves is removed."""
    by_values, by_vectors = g
    if by_vectors is None:
        return None if by_values is None else (
            solve_ex(adjoint(vectors), by_values[..., None] * adjoint(vectors), True, False)[0])
    inner = np.matmul(adjoint(vectors), by_vectors)
    along = main_diagonal(inner)
    without_phase(along, _REFUSED_EIG)
    inner = inner - np.matmul(adjoint(vectors), vectors) * real_part(along)[..., None, :]
    by_values = np.zeros_like(values) if by_values is None else by_values
    inner = np.where(on_diagonal(values.shape[-1]), by_values[..., None, :], inner / np.conj(differences(values)))
    return solve_ex(adjoint(vectors), np.matmul(inner, adjoint(vectors)), True, False)[0]


eig: Op = operator("linalg_eig", kernels.eig, layout="columns", outputs="values vectors", unfilled=True, a=_eig)
eigvalsh = constant("linalg_eigvalsh", kernels.eigvalsh, "a", layout="rows")
eigvals = constant("linalg_eigvals", kernels.eigvals, "a", layout="rows")
