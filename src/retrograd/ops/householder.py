"""Products of Householder reflections, and QR by them.

The derivative of a product of reflections takes them one by one: the product of those behind each, and the gradient
pulled through those before it. Everything is written for Q @ c; a product from the other side is the adjoint of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import householder as kernels
from .adjoints import adjoint, below_diagonal, conjugate, joined
from .framework import Op, operator


def _pulled(g: Any, v: Any, tau: Any, c: Any, adjoint_too: Any) -> tuple[Any, Any, Any]:
    """The gradients for the vectors, tau and `c`, of the product of the reflections, or of its adjoint, and `c`."""
    count = tau.shape[-1]
    order = range(count - 1, -1, -1) if adjoint_too else range(count)
    scale = conjugate(tau) if adjoint_too else tau
    behind = [c]
    for i in reversed(order):
        behind += [_reflected(v[..., i:i + 1], scale[..., i, None, None], behind[-1])]
    by_v, by_tau = [None] * count, [None] * count
    for i, after in zip(order, reversed(behind[:-1]), strict=True):
        vector, factor = v[..., i:i + 1], scale[..., i, None, None]
        onto_c, onto_g = np.matmul(adjoint(after), vector), np.matmul(adjoint(g), vector)
        by_v[i] = -(conjugate(factor) * np.matmul(g, onto_c) + factor * np.matmul(after, onto_g))
        found = -np.matmul(adjoint(onto_g), onto_c)[..., 0]
        by_tau[i] = conjugate(found) if adjoint_too else found
        g = _reflected(vector, conjugate(factor), g)
    return joined(by_v, -1), joined(by_tau, -1), g


def _reflected(vector: Any, factor: Any, x: Any) -> Any:
    return x - factor * vector * np.matmul(adjoint(vector), x)


def _vectors(a: Any, tau: Any) -> Any:
    below = below_diagonal(a[..., :tau.shape[-1]])
    return np.where(np.eye(below.shape[-2], below.shape[-1], dtype=bool), np.ones_like(below), below)


def _padded(by_v: Any, a: Any) -> Any:
    """The gradient for the matrix that holds the vectors below its diagonal."""
    below, rest = below_diagonal(by_v), a[..., by_v.shape[-1]:]
    return joined((below, np.zeros_like(rest)), -1) if rest.shape[-1] else below


def _product(g: Any, a: Any, tau: Any) -> Any:
    start = np.where(np.eye(a.shape[-2], a.shape[-1], dtype=bool), np.ones_like(a), np.zeros_like(a))
    return _pulled(g, _vectors(a, tau), tau, start, False)


def _product_a(g: Any, a: Any, tau: Any) -> Any:
    return _padded(_product(g, a, tau)[0], a) if tau.shape[-1] else np.zeros_like(a)


def _product_tau(g: Any, a: Any, tau: Any) -> Any:
    return _product(g, a, tau)[1] if tau.shape[-1] else np.zeros_like(tau)


def _applied(g: Any, a: Any, tau: Any, c: Any, left: Any, transpose: Any) -> Any:
    if left:
        return _pulled(g, _vectors(a, tau), tau, c, transpose)
    by_v, by_tau, by_c = _pulled(adjoint(g), _vectors(a, tau), tau, adjoint(c), not transpose)
    return by_v, by_tau, adjoint(by_c)


def _applied_a(g: Any, a: Any, tau: Any, c: Any, left: Any, transpose: Any) -> Any:
    return _padded(_applied(g, a, tau, c, left, transpose)[0], a) if tau.shape[-1] else np.zeros_like(a)


def _applied_tau(g: Any, a: Any, tau: Any, c: Any, left: Any, transpose: Any) -> Any:
    return _applied(g, a, tau, c, left, transpose)[1] if tau.shape[-1] else np.zeros_like(tau)


def _applied_c(g: Any, a: Any, tau: Any, left: Any, transpose: Any) -> Any:
    return ormqr(a, tau, g, left, not transpose)


def _refused(g: Any) -> Any:
    raise NotImplementedError("the derivative for 'geqrf' is not implemented. Use linalg.qr.")


householder_product = operator("linalg_householder_product", kernels.householder_product, layout="columns", tensors=2,
                               holomorphic=False, a=_product_a, tau=_product_tau)
ormqr: Op = operator("ormqr", kernels.ormqr, layout="columns", tensors=3, holomorphic=False, a=_applied_a,
                     tau=_applied_tau, c=_applied_c)
geqrf = operator("geqrf", kernels.geqrf, layout="columns", outputs="factors tau", a=_refused)
