"""Softmax and normalizations as reductions and elementwise lines, for machine code.

The formulas are those of the definitions; eager kernels take other ways to the same numbers, so the results differ by
roundings. NumPy alone runs the eager kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.choosing import choose
from ...ops.elementwise.arithmetic import add, div, mul, sub
from ...ops.elementwise.comparison import eq
from ...ops.elementwise.elementary import exp, log, rsqrt
from ...ops.framework import Op
from ...ops.networks.normalization import (
    batch_norm,
    group_norm,
    layer_norm,
    layer_norm_backward,
    native_group_norm,
    standardize_backward,
    standardized_sum,
    sum_over_rows,
)
from ...ops.networks.softmax import log_softmax, log_softmax_backward, softmax, softmax_backward
from ...ops.reductions import amax, sum_dim
from ...ops.shape import view
from .line_writer import LineWriter
from .statistics import mean_over, over

Axes = tuple[int, ...]


def _shifted(w: LineWriter, x: Any, dim: int) -> Any:
    return w.call(sub, x, over(w, amax, x, (dim,)), like=w.rows(x))


def _softmax(w: LineWriter, x: Any, dim: int) -> bool:
    if not w.floats(x) or not w.like(x).ndim:
        return False
    powers = w.call(exp, _shifted(w, x, dim), like=w.rows(x))
    w.last(div, powers, over(w, sum_dim, powers, (dim,)))
    return True


def _log_softmax(w: LineWriter, x: Any, dim: int) -> bool:
    if not w.floats(x) or not w.like(x).ndim:
        return False
    shifted = _shifted(w, x, dim)
    total = over(w, sum_dim, w.call(exp, shifted, like=w.rows(x)), (dim,))
    w.last(sub, shifted, w.call(log, total, like=w.like(total)))
    return True


def _softmax_backward(w: LineWriter, g: Any, out: Any, dim: int) -> bool:
    if not w.floats(g, out) or not w.like(g).ndim:
        return False
    total = over(w, sum_dim, w.call(mul, g, out, like=w.rows(out)), (dim,))
    w.last(mul, out, w.call(sub, g, total, like=w.rows(out)))
    return True


def _log_softmax_backward(w: LineWriter, g: Any, out: Any, dim: int) -> bool:
    if not w.floats(g, out) or not w.like(g).ndim:
        return False
    like = w.rows(out)
    w.last(sub, g, w.call(mul, w.call(exp, out, like=like), over(w, sum_dim, g, (dim,)), like=like))
    return True


def _layer_norm(w: LineWriter, x: Any, weight: Any, bias: Any, rank: int, eps: float) -> bool:
    if not w.floats(x, weight, bias):
        return False
    out, *stats = _normalized(w, x, weight, bias, tuple(range(w.like(x).ndim - rank, w.like(x).ndim)), eps)
    w.last(*out)
    for place, stat in enumerate(stats[:2], 1):
        w.alias(stat, place)
    return True


def _normalized(w: LineWriter, x: Any, weight: Any, bias: Any, axes: Axes, eps: float) -> tuple[Any, ...]:
    """The last step of x standardized over axes, times the weight, plus the bias; with mean, rstd and variance.

    The mean of what is left after the mean was subtracted is subtracted, too, so a large mean costs no digits.
    """
    like = w.rows(x)
    mean = mean_over(w, x, axes)
    stat, off = w.like(mean), w.call(sub, x, mean, like=like)
    rest, squares = mean_over(w, off, axes), mean_over(w, w.call(mul, off, off, like=like), axes)
    variance = w.call(sub, squares, w.call(mul, rest, rest, like=stat), like=stat)
    rstd = w.call(rsqrt, w.call(add, variance, w.constant(eps, like.dtype), like=stat), like=stat)
    out = mul, w.call(sub, off, rest, like=like), rstd
    for op, part in [(mul, weight), (add, bias)]:
        out = out if part is None else (op, w.call(*out, like=like), part)
    finite = w.call(eq, rest, rest, like=np.empty(stat.shape, bool))          # or the mean is infinite, and stays
    mean = w.call(choose, finite, w.call(add, mean, rest, like=stat), mean, like=stat)
    return out, mean, rstd, variance


def _seen(w: LineWriter, x: Any, shape: Axes) -> Any:
    """An array in another shape, if there is one."""
    return None if x is None else w.view(view, x, shape, like=w.like(x).reshape(shape))


def _batch_norm(w: LineWriter, x: Any, weight: Any, bias: Any, eps: float) -> bool:
    like = w.like(x)
    if not w.floats(x, weight, bias) or not w.by_rows() or not eps:     # without eps, the kernel makes exceptions
        return False
    shape = (1, -1, *[1] * (like.ndim - 2))
    over = (0, *range(2, like.ndim))
    out, *stats = _normalized(w, x, _seen(w, weight, shape), _seen(w, bias, shape), over, eps)
    w.last(*out)
    for place, stat in enumerate(stats, 1):
        w.alias(_seen(w, stat, (like.shape[1],)), place)
    return True


def _group_norm(w: LineWriter, x: Any, weight: Any, bias: Any, groups: int, eps: float) -> bool:
    like = w.like(x)
    if not w.floats(x, weight, bias) or not w.by_rows():
        return False
    shape = (1, groups, like.shape[1] // groups, 1)
    parts = _seen(w, x, (len(like), *shape[1:3], -1))
    out, *stats = _normalized(w, parts, _seen(w, weight, shape), _seen(w, bias, shape), (2, 3), eps)
    w.alias(_seen(w, w.call(*out, like=w.rows(parts)), like.shape), 0)
    for place, stat in enumerate(stats[:2], 1):
        w.alias(_seen(w, stat, (len(like), groups)), place)
    return True


def _standardized(w: LineWriter, x: Any, mean: Any, rstd: Any) -> Any:
    like = w.rows(x)
    return w.call(mul, w.call(sub, x, mean, like=like), rstd, like=like)


def _by_standardized(w: LineWriter, g: Any, scaled: Any, weight: Any, rstd: Any, axes: Axes) -> None:
    """The gradient by x, from the standardized x."""
    like = w.rows(scaled)
    if weight is not None:
        g = w.call(mul, g, weight, like=like)
    slope = mean_over(w, w.call(mul, g, scaled, like=like), axes)
    level, tilt = w.call(sub, g, mean_over(w, g, axes), like=like), w.call(mul, scaled, slope, like=like)
    w.last(mul, w.call(sub, level, tilt, like=like), rstd)


def _standardize_backward(w: LineWriter, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, axes: Axes,
                          eps: float) -> bool:
    if not w.floats(g, x, weight, mean, rstd):
        return False
    _by_standardized(w, g, _standardized(w, x, mean, rstd), weight, rstd, axes)
    return True


def _standardized_sum(w: LineWriter, g: Any, x: Any, mean: Any, rstd: Any, over: Axes, axes: Axes, eps: float) -> bool:
    if not w.floats(g, x, mean, rstd):
        return False
    w.last(sum_dim, w.call(mul, g, _standardized(w, x, mean, rstd), like=w.rows(x)), over, True, None)
    return True


def _layer_norm_backward(w: LineWriter, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, rank: int, eps: float,
                         wanted: tuple[bool, ...]) -> bool:
    ndim = w.like(x).ndim
    if not w.floats(g, x, weight, mean, rstd) or not wanted[0] or len(w.line.results) != sum(wanted) or (
            not w.by_rows()):
        return False
    scaled, over = _standardized(w, x, mean, rstd), tuple(range(ndim - rank))
    _by_standardized(w, g, scaled, weight, rstd, tuple(range(ndim - rank, ndim)))
    if wanted[1]:
        w.last(sum_dim, w.call(mul, g, scaled, like=w.rows(x)), over, False, None, place=1)
    if wanted[2]:
        w.last(sum_dim, g, over, False, None, place=1 + wanted[1])
    return True


def _sum_over_rows(w: LineWriter, x: Any, rank: int) -> bool:
    if not w.floats(x):
        return False
    w.last(sum_dim, x, tuple(range(w.like(x).ndim - rank)), False, None)
    return True


NETWORKS: dict[Op, Callable[..., bool]] = {
    batch_norm: _batch_norm, group_norm: _group_norm, native_group_norm: _group_norm,
    softmax: _softmax, log_softmax: _log_softmax, softmax_backward: _softmax_backward,
    log_softmax_backward: _log_softmax_backward,
    layer_norm: _layer_norm, layer_norm_backward: _layer_norm_backward, standardize_backward: _standardize_backward,
    standardized_sum: _standardized_sum, sum_over_rows: _sum_over_rows}
