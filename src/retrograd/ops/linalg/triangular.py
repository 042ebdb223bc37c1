"""Triangular systems of equations, and solving with Cholesky factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.linalg import solving, triangular as kernels
from ..domains import first
from ..framework import Op, composed, operator
from .adjoints import above_diagonal, adjoint, below_diagonal, conjugate, in_sum, lower_part, turned, upper_part

if TYPE_CHECKING:
    from ..values import Value


solve_adjoint: Op = composed(
    "solve_adjoint", kernels.adjoint_system,
    lambda a, g, upper, left, unitriangular: solve_triangular(adjoint(a), g, upper, left, unitriangular), tensors=2)


def _by_right_side(g: Value, a: Value, upper: bool, left: bool, unitriangular: bool) -> Any:
    return solve_adjoint(a, g, not upper, left, unitriangular)


def _by_matrix(g: Value, a: Value, out: Value, upper: bool, left: bool, unitriangular: bool) -> Any:
    pulled = _by_right_side(g, a, upper, left, unitriangular)
    product = -np.matmul(pulled, adjoint(out)) if left else -np.matmul(adjoint(out), pulled)
    return _read(product, upper, unitriangular)


def _read(x: Value, upper: bool, unitriangular: bool) -> Any:
    """The part of a matrix that the solver reads."""
    if unitriangular:
        return above_diagonal(x) if upper else below_diagonal(x)
    return upper_part(x) if upper else lower_part(x)


solve_triangular: Op = operator("linalg_solve_triangular", kernels.triangular_system, layout="columns", tensors=2,
                                complex="adjoint", domain=first, a=_by_matrix, b=_by_right_side)


def _legacy_b(g: Sequence[Value | None], b: Value, a: Value, upper: bool, transpose: bool, unitriangular: bool) -> Any:
    by_solution, _ = g
    if by_solution is None:
        return np.zeros_like(b)
    return triangular_solve(by_solution, conjugate(a), upper, not transpose, unitriangular)[0]


def _legacy_a(g: Sequence[Value | None], b: Value, a: Value, solution: Value, upper: bool, transpose: bool,
              unitriangular: bool) -> Any:
    by_solution, by_copy = g
    if by_solution is None:
        return None if by_copy is None else by_copy + 0.0
    product = -np.matmul(_legacy_b(g, b, a, upper, transpose, unitriangular), adjoint(solution))
    return in_sum(_read(turned(product) if transpose else product, upper, unitriangular), by_copy)


triangular_solve: Op = operator("triangular_solve", kernels.triangular_solve, layout="columns", tensors=2,
                                outputs="solution copy", unfilled=True, b=_legacy_b, a=_legacy_a)


def _by_factor(product: Value, factor: Value, upper: bool) -> Any:
    """The gradient for a Cholesky factor, given the negative gradient for the product of the factor and its adjoint.

    The kernels read one triangle. The gradient fills both triangles, as if the kernels read the whole factor.
    """
    both = product + adjoint(product)
    return -(np.matmul(factor, both) if upper else np.matmul(both, factor))


cholesky_solve: Op = operator(
    "cholesky_solve", solving.cholesky_solve, layout="columns", tensors=2, complex="adjoint",
    b=lambda g, factor, upper: cholesky_solve(g, factor, upper),
    factor=lambda g, factor, out, upper: _by_factor(
        np.matmul(cholesky_solve(g, factor, upper), adjoint(out)), factor, upper))

cholesky_inverse = operator("cholesky_inverse", solving.cholesky_inverse, layout="columns", complex="adjoint",
                            factor=lambda g, factor, out, upper: _by_factor(
                                np.matmul(np.matmul(out, g), out), factor, upper))
