"""Determinants, inverses, pseudoinverses and systems of equations of stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.linalg import solving as kernels, symmetric
from ...kernels.linalg.triangular import by_columns
from ..choosing import either
from ..framework import Op, composed, constant, not_differentiable, operator
from ..shape import squeeze_dim, unsqueeze
from .adjoints import adjoint, conjugate, in_sum, main_diagonal, on_diagonal, scalars, turned
from .singular_values import svd

if TYPE_CHECKING:
    from ..values import Value

# Determinants


def _cofactors_of_regular(g: Value, a: Value) -> Any:
    """The gradient through det(a) a^-T."""
    inverse = turned(inv_ex(a)[0])
    all_of_them = scalars(det(a)) * inverse
    along = np.sum(g * all_of_them, axis=(-2, -1), keepdims=True)
    return along * inverse - np.matmul(np.matmul(all_of_them, turned(g)), inverse)


def _cofactors_of_singular(g: Value, a: Value) -> Any:
    """The same in the basis of the singular vectors, without a division.

    For each element of the basis, the product leaves out one pair of singular values.
    """
    left, sizes, right = svd(a, False)
    n = sizes.shape[-1]
    one = on_diagonal(n)
    out = np.logical_or(one[:, None, :], one[None, :, :])
    others = np.prod(np.where(out, 1.0, sizes[..., None, None, :]), axis=-1)
    others = np.where(one, 0.0, others)
    phase = scalars(det(left) * det(right))
    inner = phase * np.matmul(np.matmul(adjoint(left), g), adjoint(right))
    along = np.sum(others * main_diagonal(inner)[..., None, :], axis=-1, keepdims=True)
    found = np.where(one, along, 0.0) - turned(inner * others)
    return np.matmul(np.matmul(conjugate(left), found), conjugate(right))


def _harmless(g: Value, a: Value) -> tuple[Any, Any]:
    """The arguments for the way not taken: a matrix of the dtype, with an inverse and with distinct singular values."""
    return 1.0, np.where(np.eye(a.shape[-1], dtype=bool), np.cumsum(np.ones_like(a), axis=-1), 0.0)


cofactors_backward = either("cofactors_backward", lambda g, a: np.any(singular(a)), _cofactors_of_singular,
                            _cofactors_of_regular, tensors=2, harmless=_harmless)


def _slogdet(g: Sequence[Value | None], a: Value, sign: Value) -> Any:
    by_sign, by_size = g
    if sign.dtype.kind == "c" and by_sign is not None:
        by_size = in_sum(by_size, np.multiply(-1j, np.imag(np.conj(by_sign) * sign)))
    return None if by_size is None else scalars(by_size) * inv_ex(adjoint(a))[0]


det: Op = operator("linalg_det", kernels.det, a=lambda g, a: scalars(g) * cofactors(a))
singular: Op = constant("is_singular", kernels.singular, "a", layout="rows")
cofactors: Op = operator("cofactors", kernels.cofactors, a=lambda g, a: cofactors_backward(g, a))
slogdet = operator("linalg_slogdet", kernels.slogdet, outputs="sign size", unfilled=True, a=_slogdet)

# Inverses and systems of equations


def _inverse(g: Value, inverse: Value) -> Any:
    dual = adjoint(inverse)
    return -np.matmul(np.matmul(dual, g), dual)


inv_ex: Op = operator("linalg_inv_ex", kernels.inv_ex, layout="columns", outputs="inverse info",
                      differentiable="inverse", complex="adjoint", a=_inverse)


def _as_matrix(x: Value, vector: bool) -> Any:
    """Vectors as matrices of one column."""
    return unsqueeze(x, x.ndim) if vector else x


def _solved_matrix(g: Value, a: Value, x: Value, lu: Value, pivots: Value, left: bool, vector: bool) -> Any:
    pulled = solve_adjoint(_as_matrix(g, vector), a, lu, pivots, left)
    return _by_matrix(pulled, _as_matrix(x, vector), left)


def _solved_right_side(g: Value, a: Value, lu: Value, pivots: Value, left: bool, vector: bool) -> Any:
    pulled = solve_adjoint(_as_matrix(g, vector), a, lu, pivots, left)
    return squeeze_dim(pulled, pulled.ndim - 1) if vector else pulled


def _by_matrix(pulled: Value, x: Value, left: bool) -> Any:
    """The gradient for the matrix of a system, given the solution x and the gradient for the right-hand side."""
    return -np.matmul(pulled, adjoint(x)) if left else -np.matmul(adjoint(x), pulled)


def _adjoint_matrix(g: Value, a: Value, out: Value, left: bool) -> Any:
    """The gradient for the matrix of the adjoint system. The system of that gradient has the matrix `a` itself."""
    return _by_matrix(out, solve_ex(a, g, left, False)[0], left)


solve_ex: Op = operator("linalg_solve_ex", kernels.solve_ex, layout="columns", tensors=2, outputs="x info lu pivots",
                        differentiable="x", complex="adjoint", a=_solved_matrix,
                        b=_solved_right_side)

# The system with the adjoint matrix. The LU of `a` may be given; gradients go to `a`, not to the LU.
solve_adjoint: Op = operator("linalg_solve_adjoint", kernels.solve_adjoint, layout="columns", tensors=4,
                             node="LinalgSolveExBackward0", complex="adjoint",
                             b=lambda g, a, left: solve_ex(a, g, left, False)[0], a=_adjoint_matrix)


def _pinv(g: Value, a: Value, out: Value) -> Any:
    """The terms as PyTorch orders them: the first one decides how the sum lies in memory."""
    dual, back = adjoint(out), adjoint(g)
    if a.shape[-2] <= a.shape[-1]:
        inner = np.matmul(back, out)
        small = np.matmul(inner, dual)
        return (-adjoint(np.matmul(out, inner)) + small - np.matmul(np.matmul(a, out), small)
                + np.matmul(np.matmul(dual, out), back - np.matmul(inner, a)))
    inner = np.matmul(out, back)
    small = np.matmul(dual, inner)
    return (-adjoint(np.matmul(inner, out)) + np.matmul(np.matmul(back - np.matmul(a, inner), out), dual) + small
            - np.matmul(np.matmul(small, out), a))


def _pinv_of_arrays(g: Value, a: Value, out: Value) -> Any:
    """The same sum. NumPy would lay it out in rows, because its terms lie in memory in different orders."""
    found = _pinv(g, a, out)
    return by_columns(found) if found.size and min(found.shape[-2:]) > 1 else found


pinv_backward = composed("pinv_backward", _pinv_of_arrays, _pinv, tensors=3)
pinv: Op = operator("linalg_pinv", kernels.pinv, complex="adjoint", a=lambda g, a, out: pinv_backward(g, a, out))


def _as_columns(g: Sequence[Value | None], b: Value, x: Value, vector: bool) -> tuple[Any, Any, Any, Any]:
    """Gradients, right-hand side and solution as matrices. Residuals that lstsq does not return have no gradient."""
    by_x, by_residuals = g
    if by_residuals is not None and by_residuals.shape != (
            (*x.shape[:-1], 1) if vector else (*x.shape[:-2], x.shape[-1])):
        by_residuals = None
    by_x = None if by_x is None else _as_matrix(by_x, vector)
    return by_x, by_residuals, _as_matrix(b, vector), _as_matrix(x, vector)


def _least_matrix(g: Sequence[Value | None], a: Value, b: Value, x: Value, vector: bool) -> Any:
    by_x, by_residuals, b, x = _as_columns(g, b, x, vector)
    return in_sum(None if by_x is None else pinv_backward(np.matmul(by_x, adjoint(b)), a, _pinv_of(a)),
                  None if by_residuals is None else
                  2 * np.matmul(_along(by_residuals) * (np.matmul(a, x) - b), adjoint(x)))


def _least_right_side(g: Sequence[Value | None], a: Value, b: Value, x: Value, vector: bool) -> Any:
    by_x, by_residuals, b, x = _as_columns(g, b, x, vector)
    found = in_sum(None if by_x is None else np.matmul(adjoint(_pinv_of(a)), by_x),
                   None if by_residuals is None else -2 * _along(by_residuals) * (np.matmul(a, x) - b))
    return squeeze_dim(found, found.ndim - 1) if vector and found is not None else found


def _pinv_of(a: Value) -> Any:
    """The pseudoinverse with the tolerance that `linalg.pinv` has by default, as in PyTorch."""
    return pinv(a, 0.0, kernels.machine_epsilon(a.dtype) * max(a.shape[-2:]), False)


def _along(residuals: Value) -> Any:
    """Numbers for the columns of a matrix."""
    return unsqueeze(residuals, residuals.ndim - 1)


lstsq: Op = operator("linalg_lstsq", kernels.lstsq, layout="columns", tensors=2,
                     outputs="x residuals rank singular_values", differentiable="x residuals", unfilled=True,
                     a=_least_matrix, b=_least_right_side)

# LDL, which has no derivatives in PyTorch either

_no_factor, _no_solution = not_differentiable("linalg_ldl_factor_ex"), not_differentiable("linalg_ldl_solve")
ldl_factor_ex = operator("linalg_ldl_factor_ex", symmetric.ldl_factor_ex, layout="columns", node="NotImplemented",
                         x=_no_factor, outputs="factors pivots info", differentiable="factors")
ldl_solve = operator("linalg_ldl_solve", symmetric.ldl_solve, layout="columns", node="NotImplemented", tensors=2,
                     x=_no_solution, b=_no_solution)
