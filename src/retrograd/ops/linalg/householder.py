"""Products of Householder reflections, and QR by them.

A product Q of reflections 1 - tau v v^H equals 1 - V T V^H: the columns of V are the vectors, and T is triangular. So
the derivative of Q is that of a few products of matrices. Let S be the part of V^H V above the diagonal, and D the
diagonal matrix of the tau. Then T^-1 = D^-1 + S. The form T = (1 + D S)^-1 D also holds for a tau of 0. All rules are
written for Q @ c; a product from the other side is the adjoint of such a product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.errors import noted
from ...kernels.linalg import householder as kernels
from ..framework import Op, operator
from .adjoints import above_diagonal, adjoint, below_diagonal, conjugate, joined, main_diagonal, on_diagonal
from .triangular import solve_triangular

if TYPE_CHECKING:
    from ..values import Value


def _pulled(g: Value, v: Value, tau: Value, c: Value, adjoint_too: bool) -> tuple[Any, Any]:
    """The gradients for the vectors and for tau, if the product of the reflections, or its adjoint, multiplies `c`."""
    diagonal, above = on_diagonal(tau.shape[-1]), above_diagonal(np.matmul(adjoint(v), v))
    factor = np.where(diagonal, tau[..., None, :], np.zeros_like(above))
    system = tau[..., :, None] * above                     # the solver assumes ones on its diagonal
    t = solve_triangular(system, factor, True, True, True)
    onto_c, onto_g = np.matmul(adjoint(v), c), np.matmul(adjoint(v), g)
    if adjoint_too:
        by_t = -np.matmul(onto_c, adjoint(onto_g))
        by_v = -np.matmul(g, adjoint(np.matmul(adjoint(t), onto_c))) - np.matmul(c, adjoint(np.matmul(t, onto_g)))
    else:
        by_t = -np.matmul(onto_g, adjoint(onto_c))
        by_v = -np.matmul(g, adjoint(np.matmul(t, onto_c))) - np.matmul(c, adjoint(np.matmul(adjoint(t), onto_g)))
    by_factor = solve_triangular(adjoint(system), by_t, False, True, True)
    by_system = -np.matmul(by_factor, adjoint(t))
    by_above = above_diagonal(conjugate(tau)[..., :, None] * by_system)
    by_tau = main_diagonal(by_factor) + np.sum(by_system * conjugate(above), axis=-1)
    return by_v + np.matmul(v, by_above + adjoint(by_above)), by_tau


def _vectors(a: Value, tau: Value) -> Any:
    below = below_diagonal(a[..., :tau.shape[-1]])
    return np.where(np.eye(below.shape[-2], below.shape[-1], dtype=bool), np.ones_like(below), below)


def _padded(by_v: Value, a: Value) -> Any:
    """The gradient for the matrix that holds the vectors below its diagonal."""
    below, rest = below_diagonal(by_v), a[..., by_v.shape[-1]:]
    return joined((below, np.zeros_like(rest)), -1) if rest.shape[-1] else below


def _applied(g: Value, a: Value, tau: Value, c: Value, left: bool, transpose: bool) -> tuple[Any, Any]:
    """The gradients for the matrix of the vectors and for tau."""
    if not tau.shape[-1]:
        return np.zeros_like(a), np.zeros_like(tau)
    if not left:
        g, c, transpose = adjoint(g), adjoint(c), not transpose
    by_v, by_tau = _pulled(g, _vectors(a, tau), tau, c, transpose)
    return _padded(by_v, a), by_tau


def _product(g: Value, a: Value, tau: Value) -> tuple[Any, Any]:
    start = np.where(np.eye(a.shape[-2], a.shape[-1], dtype=bool), np.ones_like(a), np.zeros_like(a))
    return _applied(g, a, tau, start, True, False)


def _refused(g: Value) -> Any:
    raise noted(NotImplementedError("the derivative for 'geqrf' is not implemented."), instead="use linalg.qr")


householder_product = operator("linalg_householder_product", kernels.householder_product, layout="columns", tensors=2,
                               complex="adjoint", a=lambda g, a, tau: _product(g, a, tau)[0],
                               tau=lambda g, a, tau: _product(g, a, tau)[1])
ormqr: Op = operator("ormqr", kernels.ormqr, layout="columns", tensors=3, complex="adjoint",
                     a=lambda g, a, tau, c, left, transpose: _applied(g, a, tau, c, left, transpose)[0],
                     tau=lambda g, a, tau, c, left, transpose: _applied(g, a, tau, c, left, transpose)[1],
                     c=lambda g, a, tau, left, transpose: ormqr(a, tau, g, left, not transpose))
geqrf = operator("geqrf", kernels.geqrf, layout="columns", outputs="factors tau", a=_refused)
