"""The tangents of operators that are neither elementwise, linear nor products, where a formula is quicker than to
transpose the gradient.

A formula receives the operator, the arguments of the call, their tangents and the results. It returns the tangents of
the results: None for zero, NotImplemented if the gradient is to be transposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import reductions, scans, sparse
from ...ops.elementwise.arithmetic import add
from ...ops.framework import Op
from ...ops.images import pooling
from ...ops.images.padding import constant_pad
from ...ops.indexing import indexing, sorting
from ...ops.indexing.indexing import gather
from ...ops.linalg import norms
from ...ops.linalg.solving import det
from ...ops.networks import losses, normalization, softmax
from ...ops.networks.embedding import embedding
from ...ops.networks.normalization import standardize, standardize_backward
from ...ops.reductions import mean_dim, slope_of_variance, sum_dim
from ...ops.tables import Table, table
from .matrices import MATRICES, Formula
from .rules import by_rule, option, pulled, slope
from .special_points import SPECIAL

if TYPE_CHECKING:
    from ...ops.values import Value


def _symmetric(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """The Jacobian is symmetric, so the rule of the gradient takes the tangent as well."""
    t = tangents[0]
    return None if t is None else pulled(op, 0, t, args, out)


def _linear_in_first(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    t = tangents[0]
    return None if t is None else op.run(t, *args[1:])


def _padded(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    return op.run(tangents[0], option(op, args, "pad"), 0)


# Reductions: each element of the result depends on its own part of x, so the slopes say all


def _product(slope: Any, t: Value) -> Any:
    return slope * t


def _real_product(slope: Any, t: Value) -> Any:
    return np.real(np.conj(slope) * t)


def _reduced(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """The sum of the slopes times the tangent, over the axes of the reduction."""
    x, t = args[0], tangents[0]
    if out.dtype.kind == "c" and op.complex == "adjoint":
        return NotImplemented
    terms = by_rule(_real_product if op.complex == "adjoint" else _product, slope(op, 0, args, out), t)
    if x.shape == out.shape:                             # nothing was reduced, or axes of size 1
        return terms
    axes = next((option(op, args, name) for name in ("axes", "dim") if name in op.arguments), None)
    axes = range(x.ndim) if axes is None or axes == () else (axes,) if isinstance(axes, int) else axes
    return sum_dim.run(terms, tuple([axis % x.ndim for axis in axes]), out.ndim == x.ndim, None)


def _spread(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """The tangents of variances or deviations, and of means. That of a deviation is 0 where the deviation is 0."""
    x, axes, keepdim, correction = args
    factor, root = slope_of_variance(x.shape, axes, correction), op in (reductions.std, reductions.std_mean)

    def tangent(t: Value, x: Any, spread: Any) -> Any:
        off = x - mean_dim(x, axes, True, None)
        found = np.real(sum_dim(np.conj(t) * off * factor, axes, keepdim, None))
        return np.where(spread == 0.0, 0.0, found / (spread * 2.0)) if root else found

    by_spread = by_rule(tangent, tangents[0], x, out[0] if op.several else out)
    return (by_spread, mean_dim.run(tangents[0], axes, keepdim, None)) if op.several else by_spread


def _distance(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """That of the norm of the difference. At a distance of 0 it is 0."""
    p = option(op, args, "p")

    def tangent(x: Value, y: Value, out: Any, of_x: Any, of_y: Any) -> Any:
        off: Any = x - y
        t = of_x if of_y is None else -of_y if of_x is None else of_x - of_y
        axes = tuple(range(off.ndim))
        slopes = norms.norm_backward(np.ones_like(out), off, out, p, axes, False)
        return sum_dim(np.real(np.conj(slopes) * t), axes, False, None)

    return by_rule(tangent, *args[:2], out, *tangents[:2])


def _renormed(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """A slice that is scaled by maxnorm / norm moves with that norm, too."""
    x, p, dim, most = args
    axes = tuple([axis for axis in range(x.ndim) if axis != dim])

    def tangent(t: Value, x: Any) -> Any:
        size = norms.norm(x, p, axes, True, None)
        slopes = norms.norm_backward(np.ones_like(size), x, size, p, axes, True)
        by_size = sum_dim(np.real(np.conj(slopes) * t), axes, True, None)
        inverse = 1.0 / (size + norms.RENORM_EPSILON)
        return np.where(size > most, most * inverse * (t - inverse * by_size * x), t)

    return by_rule(tangent, tangents[0], x)


def _of_matrices(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    return sum_dim.run(by_rule(_product, slope(op, 0, args, out), tangents[0]), (out.ndim, out.ndim + 1), False, None)


def _loss(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """A loss is elementwise, or the mean or the sum of such losses."""
    total: Any = None
    for index, _, _ in op.steps:
        t = tangents[index]
        if t is not None and option(op, args, "reduction") == "none":
            part = pulled(op, index, t, args, out)
        elif t is not None:
            terms = by_rule(_product, slope(op, index, args, out), t)
            part = sum_dim.run(terms, tuple(range(terms.ndim)), False, None) if terms.ndim else terms
        else:
            continue
        total = part if total is None else add.run(total, part)
    return total


# Selections: linear in x, along the places that were found


def _selected(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """The tangents at the places along one dimension."""
    x, dim = args[0], option(op, args, "dim")
    if not x.ndim:
        return tangents[0], None

    def select(t: Value, places: Any) -> Any:
        if places.ndim == t.ndim:
            return gather(t, places, dim)
        return np.reshape(gather(t, np.expand_dims(places, dim % t.ndim), dim), places.shape)

    return by_rule(select, tangents[0], out[1]), None


def _pooled(dims: int) -> Formula:
    """The tangents at the places in the last `dims` dimensions, taken for one."""

    def formula(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
        if 0 in out[0].shape:
            return NotImplemented

        def select(t: Value, places: Any) -> Any:
            lead = t.shape[:-dims]
            chosen = gather(np.reshape(t, (*lead, -1)), np.reshape(places, (*lead, -1)), len(lead))
            return np.reshape(chosen, places.shape)

        return by_rule(select, tangents[0], out[1]), None

    return formula


# Networks


def _log_softmax(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    dim = option(op, args, "dim")
    return by_rule(lambda t, y: t - np.sum(np.exp(y) * t, axis=dim, keepdims=True), tangents[0], out)


def _normalized(x: Any, weight: Value | None, mean: Any, rstd: Any, by_x: Any, by_weight: Any, by_bias: Any,
                axes: tuple[int, ...], eps: float) -> Any:
    """The tangent of the standardized x times the weight, plus the bias. The Jacobian of standardizing is symmetric."""
    total: Any = 0.0 if by_bias is None else by_bias
    if by_weight is not None:
        total = standardize(x, mean, rstd, axes, eps) * by_weight + total
    if by_x is not None:
        part = standardize_backward(by_x, x, None, mean, rstd, axes, eps)
        total = (part if weight is None else part * weight) + total
    return total


def _layer_norm(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    x, weight, _, rank, eps = args
    return by_rule(_normalized, x, weight, *out[1:], *tangents[:3], tuple(range(x.ndim - rank, x.ndim)),
                   eps), None, None


def _shaped(shape: tuple[int, ...], *arrays: Any) -> list[Any]:
    return [None if a is None else np.reshape(a, shape) for a in arrays]


def _group_norm(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    x, weight, _, groups, eps = args
    if not x.size:
        return NotImplemented
    count, channels = x.shape[:2]
    shape = (count, groups, channels // groups, x.size // (count * channels))

    def tangent(x: Any, weight: Value, mean: Any, rstd: Any, by_x: Any, by_weight: Any, by_bias: Any) -> Any:
        x, by_x = _shaped(shape, x, by_x)
        weight, by_weight, by_bias = _shaped((1, *shape[1:3], 1), weight, by_weight, by_bias)
        mean, rstd = _shaped((*shape[:2], 1, 1), mean, rstd)
        return _normalized(x, weight, mean, rstd, by_x, by_weight, by_bias, (2, 3), eps)

    found = by_rule(tangent, x, weight, *out[1:], *tangents[:3])
    by_out = by_rule(lambda found: np.reshape(np.broadcast_to(found, shape), x.shape), found)
    if not op.several or tangents[0] is None:
        return by_out, None, None

    def moments(x: Any, mean: Any, rstd: Any, by_x: Any) -> Any:
        x, by_x = _shaped((*shape[:2], -1), x, by_x)
        by_mean = np.mean(by_x, axis=2)
        slopes = np.mean((x - np.expand_dims(mean, 2)) * (by_x - np.expand_dims(by_mean, 2)), axis=2)
        return by_mean, -rstd * rstd * rstd * slopes

    return by_out, *by_rule(moments, x, *out[1:], tangents[0])


def _batch_norm(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    x, weight, _, eps = args
    shape, axes = (1, -1, *[1] * (x.ndim - 2)), (0, *range(2, x.ndim))

    def tangent(x: Any, by_x: Any, *channels: Any) -> Any:
        weight, mean, rstd, by_weight, by_bias = _shaped(shape, *channels)
        return _normalized(x, weight, mean, rstd, by_x, by_weight, by_bias, axes, eps)

    return by_rule(tangent, x, tangents[0], weight, *out[1:3], *tangents[1:3]), None, None, None


def _batch_norm_by(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """With given moments, the result is linear in x, and in the weight and the bias."""
    x, weight, _, mean, variance, eps = args
    shape = (1, -1, *[1] * (x.ndim - 2))

    def tangent(x: Any, by_x: Any, *channels: Any) -> Any:
        weight, mean, variance, by_weight, by_bias = _shaped(shape, *channels)
        rstd = 1.0 / np.sqrt(variance + eps)
        total: Any = 0.0 if by_bias is None else by_bias
        if by_weight is not None:
            total = (x - mean) * rstd * by_weight + total
        return total if by_x is None else by_x * (rstd if weight is None else rstd * weight) + total

    return by_rule(tangent, x, tangents[0], weight, mean, variance, *tangents[1:3])


def _for(formula: Formula, *ops: Op) -> dict[Op, Formula]:
    return dict.fromkeys(ops, formula)


FORMULAS: Table[Op, Formula] = table("Its tangent is computed by {}", {
    **_for(_symmetric, softmax.softmax, softmax.safe_softmax, indexing.masked_fill, indexing.index_fill),
    **_for(_reduced, norms.norm, norms.frobenius, reductions.amax, reductions.amin, scans.prod_all,
           scans.prod_dim, softmax.logsumexp, reductions.nansum),
    **_for(_spread, reductions.var, reductions.std, reductions.var_mean, reductions.std_mean),
    **_for(_loss, losses.mse_loss, losses.smooth_l1_loss, losses.huber_loss, losses.binary_cross_entropy,
           losses.binary_cross_entropy_with_logits, losses.soft_margin_loss),
    **_for(_linear_in_first, embedding, sparse.embedding), constant_pad: _padded, softmax.log_softmax: _log_softmax,
    det: _of_matrices, norms.renorm: _renormed, norms.dist: _distance,
    normalization.batch_norm_by: _batch_norm_by,
    **_for(_selected, sorting.max_dim, sorting.min_dim, sorting.median_dim, sorting.nanmedian_dim, sorting.mode,
           sorting.kthvalue, sorting.sort, sorting.stable_sort, sorting.topk, scans.cummax, scans.cummin),
    **_for(_pooled(2), pooling.max_pool2d, pooling.adaptive_max_pool2d, pooling.fractional_max_pool2d),
    **_for(_pooled(3), pooling.max_pool3d, pooling.adaptive_max_pool3d, pooling.fractional_max_pool3d),
    **_for(_group_norm, normalization.group_norm, normalization.native_group_norm),
    normalization.layer_norm: _layer_norm, normalization.batch_norm: _batch_norm,
}, MATRICES, SPECIAL)
