"""The tangents of inverses, solutions and factorizations of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.framework import Op
from ...ops.linalg import factorizations
from ...ops.linalg.adjoints import (
    above_diagonal,
    adjoint,
    below_diagonal,
    differences,
    joined,
    lower_part,
    main_diagonal,
    on_diagonal,
    real_part,
    turned,
    upper_part,
)
from ...ops.linalg.lu import lu, lu_factor_ex, lu_unpack, permutation
from ...ops.linalg.singular_values import svd
from ...ops.linalg.solving import inv_ex, slogdet, solve_ex
from ...ops.linalg.triangular import solve_triangular
from .rules import by_rule, option

if TYPE_CHECKING:
    from ...ops.values import Value

Formula = Callable[[Op, tuple[Any, ...], Sequence[Any], Any], Any]


def _inverse(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    return by_rule(lambda t, y: -np.matmul(np.matmul(y, t), y), tangents[0], out[0]), None


def _solution(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """The solution of the same system for what is missing: da x + a dx = db."""
    a, _, left, vector = args
    by_a, by_b = tangents[:2]

    def missing(x: Any, by_a: Any, by_b: Any) -> Any:
        if by_a is None:
            return by_b
        if vector:
            moved = np.reshape(np.matmul(by_a, x[..., None]), x.shape)
        else:
            moved = np.matmul(by_a, x) if left else np.matmul(x, by_a)
        return -moved if by_b is None else by_b - moved

    return solve_ex.run(a, by_rule(missing, out[0], by_a, by_b), left, vector)[0], None, None, None


def _eigh(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    def tangent(t: Value, values: Any, vectors: Any) -> Any:
        inner = np.matmul(np.matmul(adjoint(vectors), t), vectors)
        between = np.where(on_diagonal(values.shape[-1]), np.zeros_like(inner), inner / differences(values))
        return real_part(main_diagonal(inner)), np.matmul(vectors, between)

    return by_rule(tangent, tangents[0], *out)


def _svd(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    u, s, vh = out
    count = s.shape[-1]
    if u.dtype.kind == "c" or u.shape[-1] != count or vh.shape[-2] != count:
        return NotImplemented

    def tangent(t: Value, u: Any, s: Any, vh: Any) -> Any:
        v, back = adjoint(vh), adjoint(u)
        inner = np.matmul(np.matmul(back, t), v)
        squares = differences(s) * (s[..., None, :] + s[..., :, None])
        inverse = np.where(on_diagonal(count), np.zeros_like(squares), 1.0 / squares)
        by_u, by_v = inner * s[..., None, :] * inverse, s[..., :, None] * inner * inverse
        left, right = np.matmul(u, by_u - adjoint(by_u)), np.matmul(adjoint(by_v) - by_v, vh)
        if u.shape[-2] > count:
            left = left + (np.matmul(t, v) - np.matmul(u, inner)) / s[..., None, :]
        if vh.shape[-1] > count:
            right = right + (np.matmul(back, t) - np.matmul(inner, vh)) / s[..., :, None]
        return left, main_diagonal(inner), right

    return by_rule(tangent, tangents[0], u, s, vh)


def _cholesky(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """L times the lower triangle of L^-1 dA L^-H, with half of the diagonal. As in PyTorch, dA counts as it is."""

    def tangent(t: Value, factor: Any) -> Any:
        lower = adjoint(factor) if upper else factor
        inner = solve_triangular(lower, t, False, True, False)
        inner = solve_triangular(adjoint(lower), inner, True, False, False)
        found = np.matmul(lower, 0.5 * (lower_part(inner) + below_diagonal(inner)))
        return adjoint(found) if upper else found

    upper = option(op, args, "upper")
    return by_rule(tangent, tangents[0], out[0]), None


def _qr(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """Only the first columns of a wide matrix are factorized. With the others, Q changes as with the first."""
    mode, (q, r) = option(op, args, "mode"), out
    m, n = args[0].shape[-2:]
    if mode == "r" or (mode == "complete" and m > n):
        return NotImplemented

    def tangent(t: Value, q: Any, r: Any) -> Any:
        square = r[..., :min(m, n)]
        quotient = solve_triangular(square, t[..., :min(m, n)], True, False, False)
        inner = np.matmul(adjoint(q), quotient)
        diagonal = np.where(on_diagonal(inner.shape[-1]), real_part(inner), np.zeros_like(real_part(inner)))
        inner = above_diagonal(inner) + adjoint(below_diagonal(inner)) + diagonal
        by_q, by_r = quotient - np.matmul(q, inner), np.matmul(inner, square)
        if m < n:
            by_r = joined((by_r, np.matmul(adjoint(q), t[..., m:] - np.matmul(by_q, r[..., m:]))), -1)
        return by_q, by_r

    return by_rule(tangent, tangents[0], q, r)


def _of_factors(t: Value, lower: Any, upper: Any) -> tuple[Any, Any]:
    """The tangents of L and U, from that of their product."""
    m, n, k = lower.shape[-2], upper.shape[-1], lower.shape[-1]
    square, first = lower[..., :k, :], upper[..., :k]
    inner = solve_triangular(square, t[..., :k, :k], False, True, True)
    inner = solve_triangular(first, inner, True, False, False)
    by_lower, by_upper = np.matmul(square, below_diagonal(inner)), np.matmul(upper_part(inner), first)
    if m > k:
        rows = t[..., k:, :] - np.matmul(lower[..., k:, :], by_upper)
        by_lower = joined((by_lower, solve_triangular(first, rows, True, False, False)), -2)
    if n > k:
        columns = t[..., k:] - np.matmul(by_lower, upper[..., k:])
        by_upper = joined((by_upper, solve_triangular(square, columns, False, True, True)), -1)
    return by_lower, by_upper


def _lu(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    lower, upper, p = out
    if not p.size and args[0].size:
        return NotImplemented
    return *by_rule(lambda t, lower, upper, p: _of_factors(np.matmul(turned(p), t), lower, upper),
                    tangents[0], lower, upper, p), None


def _lu_factor(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    def tangent(t: Value, factors: Any, pivots: Any) -> Any:
        (m, n), (lower, upper, _) = factors.shape[-2:], lu_unpack(factors, None, True, False)
        by_lower, by_upper = _of_factors(np.matmul(turned(permutation(pivots, factors)), t), lower, upper)
        if n > m:
            by_lower = joined((by_lower, np.zeros_like(by_upper[..., m:])), -1)
        if m > n:
            by_upper = joined((by_upper, np.zeros_like(by_lower[..., n:, :])), -2)
        return by_lower + by_upper

    return by_rule(tangent, tangents[0], *out[:2]), None, None


def _slogdet(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    def change(t: Value, a: Any) -> Any:
        return np.sum(turned(inv_ex(a)[0]) * t, axis=(-2, -1))

    found = by_rule(change, tangents[0], args[0])
    if found.dtype.kind != "c":
        return None, found
    return by_rule(lambda found, sign: (sign * (1j * np.imag(found)), np.real(found)), found, out[0])


MATRICES: dict[Op, Formula] = {
    inv_ex: _inverse, solve_ex: _solution, factorizations.eigh: _eigh, svd: _svd, factorizations.cholesky: _cholesky,
    factorizations.cholesky_ex: _cholesky, factorizations.qr: _qr, lu: _lu, lu_factor_ex: _lu_factor, slogdet: _slogdet,
}
