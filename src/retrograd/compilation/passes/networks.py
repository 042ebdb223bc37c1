"""Softmax, cross entropy and layer normalization as reductions and elementwise lines, for machine code.

The formulas are those of the definitions; eager kernels take other ways to the same numbers, so the results differ by
roundings. NumPy alone runs the eager kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.networks.losses import check_classes
from ...ops.basic import cast, look
from ...ops.choosing import choose
from ...ops.elementwise.arithmetic import add, div, mul, neg, sub
from ...ops.elementwise.comparison import eq, ne
from ...ops.elementwise.elementary import exp, log, rsqrt
from ...ops.framework import Op
from ...ops.networks.losses import nll_loss, nll_loss_backward
from ...ops.networks.normalization import (
    batch_norm,
    group_norm,
    layer_norm,
    layer_norm_backward,
    standardize_backward,
    standardized_sum,
    sum_over_rows,
)
from ...ops.networks.softmax import log_softmax, log_softmax_backward, softmax, softmax_backward
from ...ops.reductions import amax, sum_all, sum_dim
from ...ops.shape import unsqueeze, view
from .line_writer import LineWriter

Axes = tuple[int, ...]


def _floats(w: LineWriter, *args: Any) -> bool:
    """Whether all arrays have the same floating-point type, that of the result, and lie row by row."""
    likes = [w.like(arg) for arg in args if arg is not None]
    return all(like.dtype == w.result.dtype and like.dtype.char in "fd" and like.size for like in likes)


def _over(w: LineWriter, op: Op, x: Any, axes: Axes) -> Any:
    """A reduction that keeps its axes."""
    like = w.like(x)
    kept = np.empty([1 if axis in axes else size for axis, size in enumerate(like.shape)], like.dtype)
    return w.call(op, x, axes, True, True if op is amax else None, like=kept)


def _shifted(w: LineWriter, x: Any, dim: int) -> Any:
    return w.call(sub, x, _over(w, amax, x, (dim,)), like=_rows(w, x))


def _rows(w: LineWriter, x: Any) -> Array:
    """The geometry of a result like x that lies row by row."""
    like = w.like(x)
    return np.empty(like.shape, like.dtype)


def _softmax(w: LineWriter, x: Any, dim: int) -> bool:
    if not _floats(w, x) or not w.like(x).ndim:
        return False
    powers = w.call(exp, _shifted(w, x, dim), like=_rows(w, x))
    w.last(div, powers, _over(w, sum_dim, powers, (dim,)))
    return True


def _log_softmax(w: LineWriter, x: Any, dim: int) -> bool:
    if not _floats(w, x) or not w.like(x).ndim:
        return False
    shifted = _shifted(w, x, dim)
    total = _over(w, sum_dim, w.call(exp, shifted, like=_rows(w, x)), (dim,))
    w.last(sub, shifted, w.call(log, total, like=w.like(total)))
    return True


def _softmax_backward(w: LineWriter, g: Any, out: Any, dim: int) -> bool:
    if not _floats(w, g, out) or not w.like(g).ndim:
        return False
    total = _over(w, sum_dim, w.call(mul, g, out, like=_rows(w, out)), (dim,))
    w.last(mul, out, w.call(sub, g, total, like=_rows(w, out)))
    return True


def _log_softmax_backward(w: LineWriter, g: Any, out: Any, dim: int) -> bool:
    if not _floats(w, g, out) or not w.like(g).ndim:
        return False
    like = _rows(w, out)
    w.last(sub, g, w.call(mul, w.call(exp, out, like=like), _over(w, sum_dim, g, (dim,)), like=like))
    return True


def _hits(w: LineWriter, target: Any, classes: int, ignored: int) -> tuple[Any, Any]:
    """Where the targets' classes are, as bools, and the targets that count, as bools."""
    like = w.like(target)
    column = w.view(unsqueeze, target, 1, like=like[:, None])
    table = np.empty((len(like), classes), bool)
    hits = w.call(eq, column, w.array(np.arange(classes, dtype=like.dtype)), like=table)
    counts = w.call(ne, target, w.constant(ignored, like.dtype), like=np.empty(like.shape, bool))
    return hits, counts


def _sum_of(w: LineWriter, bools: Any, dtype: np.dtype[Any]) -> Any:
    """How many of the bools are true."""
    numbers = w.call(cast, bools, dtype, like=np.empty(w.like(bools).shape, dtype))
    return w.call(sum_all, numbers, None, like=np.empty((), dtype))


def _plain_targets(w: LineWriter, target: Any, weight: Any, shape: Axes, reduction: str, ignored: int) -> bool:
    """Whether each row has one class, and all classes have the weight 1."""
    return (weight is None and len(shape) == 2 and reduction in ("mean", "sum") and not 0 <= ignored < shape[1]
            and w.like(target).dtype == np.int64 and shape[0] > 0 and shape[1] <= 4096)


def _nll_loss(w: LineWriter, x: Any, target: Any, weight: Any, reduction: str, ignored: int) -> bool:
    like = w.like(x)
    if not _floats(w, x) or not _plain_targets(w, target, weight, like.shape, reduction, ignored):
        return False
    hits, counts = _hits(w, target, like.shape[1], ignored)
    count = _checked_count(w, hits, counts, target, ignored, like.dtype)
    total = w.call(sum_all, w.call(choose, hits, x, 0.0, like=_rows(w, x)), None, like=w.like(count))
    zero = w.constant(0, like.dtype)                         # a loss of 0 is never -0.0
    if reduction == "mean":
        w.last(div, w.call(sub, zero, total, like=w.like(count)), count)
    else:
        w.last(sub, zero, total)
    return True


def _checked_count(w: LineWriter, hits: Any, counts: Any, target: Any, ignored: int, dtype: np.dtype[Any]) -> Any:
    """How many targets count. The plan looks whether each of them is a class."""
    count, found = _sum_of(w, counts, dtype), _sum_of(w, hits, dtype)
    w.call(look, found, _all_found, count, target, w.like(hits).shape[1], ignored, like=w.like(found))
    return count


def _all_found(found: Array, count: Array, target: Array, classes: int, ignored: int) -> None:
    """Raise IndexError if a target is no class."""
    if found != count:
        check_classes(target, classes, ignored)


def _nll_loss_backward(w: LineWriter, g: Any, target: Any, weight: Any, shape: Axes, reduction: str,
                       ignored: int) -> bool:
    each, like = reduction == "none", w.like(g)
    if not _floats(w, g) or like.ndim != each or not _plain_targets(
            w, target, weight, shape, "sum" if each else reduction, ignored):
        return False
    hits, counts = _hits(w, target, shape[1], ignored)
    if reduction == "mean":
        g = w.call(div, g, _sum_of(w, counts, like.dtype), like=like)
    g = w.call(neg, g, like=np.empty(like.shape, like.dtype))
    if each:                                               # the loss of each row may not have looked at the targets
        _checked_count(w, hits, counts, target, ignored, like.dtype)
        g = w.view(unsqueeze, g, 1, like=w.like(g)[:, None])
    w.last(choose, hits, g, 0.0)
    return True


def _mean_over(w: LineWriter, x: Any, axes: Axes) -> Any:
    """The mean, with the axes kept."""
    like = w.like(x)
    total = _over(w, sum_dim, x, axes)
    count = w.constant(math.prod([like.shape[axis] for axis in axes]), like.dtype)
    return w.call(div, total, count, like=w.like(total))


def _layer_norm(w: LineWriter, x: Any, weight: Any, bias: Any, rank: int, eps: float) -> bool:
    if not _floats(w, x, weight, bias):
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
    like = _rows(w, x)
    mean = _mean_over(w, x, axes)
    stat, off = w.like(mean), w.call(sub, x, mean, like=like)
    rest, squares = _mean_over(w, off, axes), _mean_over(w, w.call(mul, off, off, like=like), axes)
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
    if not _floats(w, x, weight, bias) or not w.by_rows() or not eps:     # without eps, the kernel makes exceptions
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
    if not _floats(w, x, weight, bias) or not w.by_rows():
        return False
    shape = (1, groups, like.shape[1] // groups, 1)
    parts = _seen(w, x, (len(like), *shape[1:3], -1))
    out, *stats = _normalized(w, parts, _seen(w, weight, shape), _seen(w, bias, shape), (2, 3), eps)
    w.alias(_seen(w, w.call(*out, like=_rows(w, parts)), like.shape), 0)
    for place, stat in enumerate(stats[:2], 1):
        w.alias(_seen(w, stat, (len(like), groups)), place)
    return True


def _standardized(w: LineWriter, x: Any, mean: Any, rstd: Any) -> Any:
    like = _rows(w, x)
    return w.call(mul, w.call(sub, x, mean, like=like), rstd, like=like)


def _by_standardized(w: LineWriter, g: Any, scaled: Any, weight: Any, rstd: Any, axes: Axes) -> None:
    """The gradient by x, from the standardized x."""
    like = _rows(w, scaled)
    if weight is not None:
        g = w.call(mul, g, weight, like=like)
    slope = _mean_over(w, w.call(mul, g, scaled, like=like), axes)
    level, tilt = w.call(sub, g, _mean_over(w, g, axes), like=like), w.call(mul, scaled, slope, like=like)
    w.last(mul, w.call(sub, level, tilt, like=like), rstd)


def _standardize_backward(w: LineWriter, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, axes: Axes,
                          eps: float) -> bool:
    if not _floats(w, g, x, weight, mean, rstd):
        return False
    _by_standardized(w, g, _standardized(w, x, mean, rstd), weight, rstd, axes)
    return True


def _standardized_sum(w: LineWriter, g: Any, x: Any, mean: Any, rstd: Any, over: Axes, axes: Axes, eps: float) -> bool:
    if not _floats(w, g, x, mean, rstd):
        return False
    w.last(sum_dim, w.call(mul, g, _standardized(w, x, mean, rstd), like=_rows(w, x)), over, True, None)
    return True


def _layer_norm_backward(w: LineWriter, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, rank: int, eps: float,
                         wanted: tuple[bool, ...]) -> bool:
    ndim = w.like(x).ndim
    if not _floats(w, g, x, weight, mean, rstd) or not wanted[0] or len(w.line.results) != sum(wanted) or (
            not w.by_rows()):
        return False
    scaled, over = _standardized(w, x, mean, rstd), tuple(range(ndim - rank))
    _by_standardized(w, g, scaled, weight, rstd, tuple(range(ndim - rank, ndim)))
    if wanted[1]:
        w.last(sum_dim, w.call(mul, g, scaled, like=_rows(w, x)), over, False, None, place=1)
    if wanted[2]:
        w.last(sum_dim, g, over, False, None, place=1 + wanted[1])
    return True


def _sum_over_rows(w: LineWriter, x: Any, rank: int) -> bool:
    if not _floats(w, x):
        return False
    w.last(sum_dim, x, tuple(range(w.like(x).ndim - rank)), False, None)
    return True


NETWORKS: dict[Op, Callable[..., bool]] = {
    batch_norm: _batch_norm, group_norm: _group_norm,
    softmax: _softmax, log_softmax: _log_softmax, softmax_backward: _softmax_backward,
    log_softmax_backward: _log_softmax_backward, nll_loss: _nll_loss, nll_loss_backward: _nll_loss_backward,
    layer_norm: _layer_norm, layer_norm_backward: _layer_norm_backward, standardize_backward: _standardize_backward,
    standardized_sum: _standardized_sum, sum_over_rows: _sum_over_rows}
