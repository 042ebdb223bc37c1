"""Determinants, inverses, pseudoinverses and systems of equations of stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.linalg import solving as kernels, symmetric
from ..choosing import either
from ..framework import Op, constant, not_differentiable, operator
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
    dual = turned(inverse)
    return -np.matmul(np.matmul(dual, g), dual)


inv_ex: Op = operator("linalg_inv_ex", kernels.inv_ex, layout="columns", outputs="inverse info",
                      differentiable="inverse", a=_inverse)


def _solved_matrix(g: Value, a: Value, x: Value, lu: Value, pivots: Value, left: bool, vector: bool) -> Any:
    return _by_matrix(solve_adjoint(g, a, lu, pivots, left, vector), x, left, vector)


def _by_matrix(pulled: Value, x: Value, left: bool, vector: bool) -> Any:
    """The gradient for the matrix of a system, given the solution x and the gradient for the right-hand side."""
    if vector:
        return -(pulled[..., None] * conjugate(x)[..., None, :])
    return -np.matmul(pulled, adjoint(x)) if left else -np.matmul(adjoint(x), pulled)


def _adjoint_matrix(g: Value, a: Value, out: Value, left: bool, vector: bool) -> Any:
    """The gradient for the matrix of the adjoint system. The system of that gradient has the matrix `a` itself."""
    return _by_matrix(out, solve_ex(a, g, left, vector)[0], left, vector)


solve_ex: Op = operator("linalg_solve_ex", kernels.solve_ex, layout="columns", tensors=2, outputs="x info lu pivots",
                        differentiable="x", complex="adjoint", a=_solved_matrix,
                        b=lambda g, a, lu, pivots, left, vector: solve_adjoint(g, a, lu, pivots, left, vector))

# The system with the adjoint matrix. The LU of `a` may be given; gradients go to `a`, not to the LU.
solve_adjoint: Op = operator("linalg_solve_adjoint", kernels.solve_adjoint, layout="columns", tensors=4,
                             node="LinalgSolveExBackward0", complex="adjoint",
                             b=lambda g, a, left, vector: solve_ex(a, g, left, vector)[0], a=_adjoint_matrix)


def _pinv(g: Value, a: Value, out: Value) -> Any:
    dual, back = adjoint(out), adjoint(g)
    kernel = back - np.matmul(a, np.matmul(out, back))
    image = back - np.matmul(np.matmul(back, out), a)
    return (np.matmul(np.matmul(kernel, out), dual) + np.matmul(np.matmul(dual, out), image)
            - np.matmul(np.matmul(dual, g), dual))


pinv: Op = operator("linalg_pinv", kernels.pinv, complex="adjoint", a=_pinv)


def _as_columns(g: Sequence[Value | None], b: Value, x: Value, vector: bool) -> tuple[Any, Any, Any, Any]:
    """Gradients, right-hand side and solution as matrices. Residuals that lstsq does not return have no gradient."""
    by_x, by_residuals = g
    if by_residuals is not None and by_residuals.shape != (
            (*x.shape[:-1], 1) if vector else (*x.shape[:-2], x.shape[-1])):
        by_residuals = None
    if not vector:
        return by_x, by_residuals, b, x
    by_x = None if by_x is None else by_x[..., None]
    return by_x, by_residuals, b[..., None], x[..., None]


def _least_matrix(g: Sequence[Value | None], a: Value, b: Value, x: Value, rcond: float, vector: bool) -> Any:
    by_x, by_residuals, b, x = _as_columns(g, b, x, vector)
    return in_sum(None if by_x is None else _by_solution(by_x, a, b, x, rcond),
                  None if by_residuals is None else np.matmul(_by_residuals(by_residuals, a, b, x), adjoint(x)))


def _by_solution(g: Value, a: Value, b: Value, x: Value, rcond: float) -> Any:
    """The derivative of a pseudoinverse times b. Every product with a pseudoinverse is a least-squares solution."""
    dual = adjoint(a)
    pulled = _least(dual, g, rcond)
    outside = np.matmul(b - np.matmul(a, x), adjoint(_least(a, pulled, rcond)))
    kernel = np.matmul(_least(dual, x, rcond), adjoint(g - np.matmul(dual, pulled)))
    return outside + kernel - np.matmul(pulled, adjoint(x))


def _least(a: Value, b: Value, rcond: float) -> Any:
    return lstsq(a, b, rcond, "gelsy", False)[0]


def _least_right_side(g: Sequence[Value | None], a: Value, b: Value, x: Value, rcond: float, vector: bool) -> Any:
    by_x, by_residuals, b, x = _as_columns(g, b, x, vector)
    found = in_sum(None if by_x is None else _least(adjoint(a), by_x, rcond),
                   None if by_residuals is None else -_by_residuals(by_residuals, a, b, x))
    return found[..., 0] if vector and found is not None else found


def _by_residuals(g: Value, a: Value, b: Value, x: Value) -> Any:
    """The gradient for a @ x - b. The residuals are the squared lengths of its columns."""
    return 2 * (np.matmul(a, x) - b) * g[..., None, :]


lstsq: Op = operator("linalg_lstsq", kernels.lstsq, layout="columns", tensors=2,
                     outputs="x residuals rank singular_values", differentiable="x residuals", unfilled=True,
                     a=_least_matrix, b=_least_right_side)

# LDL, which has no derivatives in PyTorch either

_no_factor, _no_solution = not_differentiable("linalg_ldl_factor_ex"), not_differentiable("linalg_ldl_solve")
ldl_factor_ex = operator("linalg_ldl_factor_ex", symmetric.ldl_factor_ex, layout="columns", node="NotImplemented",
                         x=_no_factor, outputs="factors pivots info", differentiable="factors")
ldl_solve = operator("linalg_ldl_solve", symmetric.ldl_solve, layout="columns", node="NotImplemented", tensors=2,
                     x=_no_solution, b=_no_solution)
