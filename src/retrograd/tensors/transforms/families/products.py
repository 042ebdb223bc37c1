"""Products of vectors and matrices, and operators on stacks of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....ops.basic import clone
from ....ops.elementwise.arithmetic import mul
from ....ops.elementwise.elementary import conj
from ....ops.framework import Op
from ....ops.linalg import factorizations, householder, lu, matrix, norms, solving, triangular
from ....ops.linalg.matrix import bmm, mm, mv
from ....ops.linalg.singular_values import svd
from ....ops.reductions import sum_dim
from ....ops.shape import permute, unsqueeze
from ..batched import is_array, is_batched, shown
from .operands import Rule, as_shape, blended, by_stack, first, folded, in_line, rules, scaled, unfolded, with_axes

if TYPE_CHECKING:
    from ....tensors.transforms.batching import BatchLevel


def _mm(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = args
    if is_batched(x, level) and not is_batched(y, level):
        return unfolded(mm.run(folded(shown(x, level)), y), level.size)
    return bmm.run(first(x, level), first(y, level))


def _mv(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = args
    if not is_batched(x, level):
        return mm.run(shown(y, level), permute.run(x, (1, 0)))
    if not is_batched(y, level):
        return unfolded(mv.run(folded(shown(x, level)), y), level.size)
    product = bmm.run(shown(x, level), unsqueeze.run(shown(y, level), 2))
    return as_shape(product, product.shape[:2])


def _dot(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = args
    if not is_batched(x, level):
        x, y = y, x
    if not is_batched(y, level):
        return mv.run(shown(x, level), y)
    return as_shape(bmm.run(unsqueeze.run(shown(x, level), 1), unsqueeze.run(shown(y, level), 2)), (level.size,))


def _vdot(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = [first(a, level) for a in args]
    if x.dtype.kind == "c":
        x = conj.run(x)
    return as_shape(bmm.run(unsqueeze.run(x, 1), unsqueeze.run(y, 2)), (level.size,))


def _bmm(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return unfolded(bmm.run(*[folded(first(a, level)) for a in args]), level.size)


def _plus(product: Rule, alone: Callable[[Any, Any], Any]) -> Rule:
    """The rule of beta * x + alpha * product, for numbers with a fraction. `alone` is the product of two arrays."""

    def rule(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
        x, left, right, beta, alpha = args
        if x.dtype.kind not in "fc" or not x.dtype == left.dtype == right.dtype:        # addr takes several types
            return NotImplemented
        if is_batched(left, level) or is_batched(right, level):
            found = product(level, op, (left, right))
            return blended(in_line(x, level, found.ndim - 1), found, beta, alpha)
        found = alone(left, right)
        if beta == 0:                                      # each sample is the product of what they share
            return clone.run(first(scaled(found, alpha), level), "C")
        return blended(in_line(x, level, found.ndim), found, beta, alpha)

    return rule


def _addmm(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """A batch of rows times one matrix, plus a row, is one product."""
    x, left, right, beta, alpha = args
    if x.ndim == 1 and is_batched(left, level) and not is_batched(right, level) and not is_batched(x, level):
        return unfolded(op.run(x, folded(shown(left, level)), right, beta, alpha), level.size)
    return _PLUS_MM(level, op, args)


def _sum_of_products(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    return sum_dim.run(_bmm(level, op, args), (1,), False, None)


def _outer(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, y = [first(a, level) for a in args]
    return mul.run(unsqueeze.run(x, 2), unsqueeze.run(y, 1))


def _trilinear(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    x, weight, y = args
    if is_batched(weight, level):
        return NotImplemented
    return unfolded(op.run(folded(first(x, level)), weight, folded(first(y, level))), level.size)


def _of_matrices(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """An operator on stacks of matrices, whose ranks may differ. Operands in lists are not known here."""
    if any([is_array(part) for a in args if type(a) in (list, tuple) for part in a]):
        return NotImplemented
    rank = max([a.ndim for a in args if is_array(a)])
    vector = "vector" in op.arguments and args[op.arguments.index("vector")]
    lower = any([a.ndim < rank for a in args if is_array(a) and (a.ndim > 1 or (vector and rank > 2))])
    if lower and (vector or op is solving.ldl_solve):
        return NotImplemented                              # pivots and vectors have axes of stacks of their own
    return op.run(*[with_axes(first(a, level), 1, rank - a.ndim) if is_array(a) and a.ndim > 1
                    else first(a, level) if is_array(a) else a for a in args])


def _of_reflectors(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Matrices of reflectors with a vector of factors for each, and perhaps the matrices that they are applied to."""
    matrices, factors, *others = [a for a in args if is_array(a)]
    if not matrices.size or factors.ndim != matrices.ndim - 1 or any([a.ndim != matrices.ndim for a in others]):
        return NotImplemented
    return by_stack(level, op, args)


def _unpacked(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """Packed factors, with a vector of pivots for each matrix, or none."""
    factors, pivots = args[:2]
    return by_stack(level, op, args) if pivots is None or pivots.ndim == factors.ndim - 1 else NotImplemented


def _pinv(level: BatchLevel, op: Op, args: tuple[Any, ...]) -> Any:
    """A tolerance may be an array without axes, for all matrices of a stack."""
    return NotImplemented if any([is_array(a) and not a.ndim for a in args]) else _of_matrices(level, op, args)


_PLUS_MM = _plus(_mm, mm.run)

PRODUCTS: dict[Op, Rule] = {
    mm: _mm, mv: _mv, matrix.dot: _dot, matrix.vdot: _vdot, bmm: _bmm, matrix.trilinear: _trilinear,
    matrix.addmm: _addmm, matrix.addmv: _plus(_mv, mv.run), matrix.baddbmm: _plus(_bmm, bmm.run),
    matrix.addbmm: _plus(_sum_of_products, lambda x, y: sum_dim.run(bmm.run(x, y), (0,), False, None)),
    matrix.addr: _plus(_outer, lambda x, y: mul.run(unsqueeze.run(x, 1), unsqueeze.run(y, 0))),
    **rules(_of_matrices, factorizations.cholesky, factorizations.cholesky_ex, factorizations.eig, factorizations.eigh,
            factorizations.qr, householder.geqrf, lu.lu, lu.lu_factor_ex, lu.lu_solve, matrix.matrix_exp, norms.cdist,
            norms.euclidean_dist, solving.cofactors, solving.det, solving.inv_ex, solving.ldl_factor_ex,
            solving.ldl_solve, solving.slogdet, solving.solve_ex, solving.solve_adjoint, svd,
            triangular.cholesky_inverse, triangular.cholesky_solve, triangular.solve_triangular,
            triangular.triangular_solve),
    lu.permutation: by_stack, solving.pinv: _pinv, lu.lu_unpack: _unpacked,
    **rules(_of_reflectors, householder.householder_product, householder.ormqr),
}
