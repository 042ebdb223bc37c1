"""Products of Householder reflections, and QR by reflections, for stacks of matrices.

A reflection is 1 - tau v v^H. LAPACK keeps the vectors v in the columns below the diagonal, and omits the ones on the
diagonal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ..native import lapack
from .triangular import adjoint, by_columns, mT


def reflectors(a: Array, count: int) -> Any:
    """The vectors v, as the columns of a matrix."""
    v = np.tril(a[..., :count], -1)
    v += np.eye(a.shape[-2], count, dtype=a.dtype)
    return v


def householder_product(a: Array, tau: Array) -> Any:
    """The first columns of the product of the reflections, as many as `a` has."""
    found = lapack.householder_product(a, tau)
    if found is not None:
        return found
    m, n = a.shape[-2:]
    start = np.broadcast_to(np.eye(m, n, dtype=a.dtype), a.shape)
    return by_columns(reflected(a, tau, start, False))


def reflected(a: Array, tau: Array, c: Array, adjoint_too: bool) -> Any:
    """The product Q of the reflections, or its adjoint, times `c`."""
    count = tau.shape[-1]
    v = reflectors(a, count)
    result = np.array(np.broadcast_to(c, (*np.broadcast_shapes(a.shape[:-2], c.shape[:-2]), *c.shape[-2:])))
    for i in range(count) if adjoint_too else range(count - 1, -1, -1):
        vector, scale = v[..., i:, i:i + 1], tau[..., i, None, None]
        part = result[..., i:, :]
        part -= (scale.conj() if adjoint_too else scale) * vector * np.matmul(adjoint(vector), part)
    return result


def ormqr(a: Array, tau: Array, c: Array, left: bool, transpose: bool) -> Any:
    """Q @ c, or c @ Q if not `left`. With `transpose`, the adjoint of Q is used instead of Q."""
    found = lapack.ormqr(a, tau, c, left, transpose)
    if found is not None:
        return found
    if not left:
        return by_columns(adjoint(reflected(a, tau, adjoint(c), not transpose)))
    return by_columns(reflected(a, tau, c, transpose))


def geqrf(a: Array) -> tuple[Any, Any]:
    """R, with the vectors of the reflections below its diagonal, and their factors tau."""
    if not a.size:
        return by_columns(a.copy()), np.zeros((*a.shape[:-2], min(a.shape[-2:])), a.dtype)
    h, tau = np.linalg.qr(a, mode="raw")
    return by_columns(mT(h)), tau


def qr(a: Array, mode: str) -> tuple[Any, Any]:
    """Q and R. The mode is 'reduced', 'complete', or 'r' for an empty Q."""
    *stack, m, n = a.shape
    if mode == "r":
        return np.empty(0, a.dtype), qr(a, "reduced")[1]
    if not a.size:
        size = m if mode == "complete" else min(m, n)
        return (by_columns(np.broadcast_to(np.eye(m, size, dtype=a.dtype), (*stack, m, size))),
                by_columns(np.zeros((*stack, size, n), a.dtype)))
    q, r = np.linalg.qr(a, mode="complete" if mode == "complete" else "reduced")
    return by_columns(q), by_columns(r)
