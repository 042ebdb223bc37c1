"""LU with partial pivoting, and solving with the factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.linalg import lu as kernels
from ..framework import Op, constant, operator
from .adjoints import adjoint, below_diagonal, joined, turned, upper_part
from .triangular import solve_triangular

if TYPE_CHECKING:
    from ..values import Value


def _by_factors(lower: Value, upper: Value, g_lower: Value, g_upper: Value) -> Any:
    """The gradient for L @ U, given those for L and U. Only their parts that are not constant count."""
    m, n, k = lower.shape[-2], upper.shape[-1], lower.shape[-1]
    square, first = lower[..., :k, :], upper[..., :k]
    inner_lower = np.matmul(adjoint(square), g_lower[..., :k, :])
    inner_upper = np.matmul(g_upper[..., :k], adjoint(first))
    if n > k:
        inner_lower = inner_lower - np.matmul(g_upper[..., k:], adjoint(upper[..., k:]))
    if m > k:
        inner_upper = inner_upper - np.matmul(adjoint(lower[..., k:, :]), g_lower[..., k:, :])
    inner = below_diagonal(inner_lower) + upper_part(inner_upper)
    inner = solve_triangular(adjoint(first), inner, False, False, False)
    if m > k:
        tall = solve_triangular(adjoint(first), g_lower[..., k:, :], False, False, False)
        return joined((solve_triangular(adjoint(square), inner, True, True, True), tall), -2)
    if n > k:
        inner = joined((inner, g_upper[..., k:]), -1)
    return solve_triangular(adjoint(square), inner, True, True, True)


def _lu_factor(g: Value, factors: Any, pivots: Value) -> Any:
    lower, upper, _ = lu_unpack(factors, None, True, False)
    k = lower.shape[-1]
    return np.matmul(permutation(pivots, factors), _by_factors(lower, upper, g[..., :k], g[..., :k, :]))


def _unpacked(g: Sequence[Value], x_shape: Shape) -> Any:
    """The gradients of both triangles in one matrix."""
    (m, n), below, above = x_shape[-2:], below_diagonal(g[0]), upper_part(g[1])
    if n > m:
        below = joined((below, np.zeros_like(above[..., m:])), -1)
    if m > n:
        above = joined((above, np.zeros_like(below[..., n:, :])), -2)
    return below + above


permutation = constant("lu_permutation", kernels.permutation, "pivots like", layout="rows")
lu_factor_ex = operator("linalg_lu_factor_ex", kernels.lu_factor, layout="columns", outputs="factors pivots info",
                        differentiable="factors", complex="adjoint", a=_lu_factor)
lu = operator("linalg_lu", kernels.lu, outputs="lower upper p", differentiable="lower upper",
              x=lambda g, lower, upper, p: np.matmul(p, _by_factors(lower, upper, *g)))
lu_unpack: Op = operator("lu_unpack", kernels.lu_unpack, outputs="lower upper p", differentiable="lower upper",
                         tensors=1, x=_unpacked)


def _solving_factors(g: Value, x: Value, out: Value, indices: Sequence[Value], left: bool, adjoint_too: bool) -> Any:
    """The gradient for the factors. A system x A = b is solved as its adjoint, A^H x^H = b^H."""
    if not left:
        return _solving_factors(adjoint(g), x, adjoint(out), indices, True, not adjoint_too)
    lower, upper, p = lu_unpack(x, indices[0], True, True)
    if adjoint_too:
        w, pulled = np.matmul(turned(p), out), np.matmul(turned(p), g)
        pulled = solve_triangular(lower, pulled, False, True, True)
        by_lower = -np.matmul(w, adjoint(pulled))
        by_upper = -np.matmul(np.matmul(adjoint(lower), w),
                              adjoint(solve_triangular(upper, pulled, True, True, False)))
    else:
        pulled = solve_triangular(adjoint(upper), g, False, True, False)
        by_upper = -np.matmul(pulled, adjoint(out))
        by_lower = solve_triangular(adjoint(lower), np.matmul(by_upper, adjoint(upper)), True, True, True)
    return below_diagonal(by_lower) + upper_part(by_upper)


lu_solve: Op = operator("linalg_lu_solve", kernels.lu_solve, layout="columns", tensors=2, complex="adjoint",
                        x=_solving_factors,
                        b=lambda g, x, indices, left, adjoint_too: lu_solve(x, g, indices, left, not adjoint_too))
