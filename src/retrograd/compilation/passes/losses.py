"""Losses as elementwise lines and a sum, for machine code.

The formulas are those of the kernels, but a sum adds in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import F64, Array
from ...kernels.networks.losses import check_classes, check_probabilities
from ...ops.basic import cast, look
from ...ops.choosing import choose
from ...ops.elementwise.arithmetic import add, div, mul, neg, sub
from ...ops.elementwise.comparison import clamp_number, eq, ge, le, logical_and, logical_not, ne
from ...ops.elementwise.elementary import abs, log, log1p
from ...ops.framework import Op
from ...ops.networks.activations import at_most, log_sigmoid
from ...ops.networks.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    nll_loss,
    nll_loss_backward,
    smooth_l1_loss,
    soft_margin_loss,
)
from ...ops.reductions import sum_all
from ...ops.shape import unsqueeze
from .line_writer import LineWriter

Axes = tuple[int, ...]


def _reduced(w: LineWriter, op: Op, *args: Any, like: Array, reduction: str) -> bool:
    """The last lines of a loss, whose elements are `op(*args)`, of the geometry of `like`."""
    if reduction == "none":
        w.last(op, *args)
        return True
    each = w.call(op, *args, like=like)
    if reduction == "sum":
        w.last(sum_all, each, None)
    else:
        total = w.call(sum_all, each, None, like=np.empty((), like.dtype))
        w.last(div, total, w.constant(like.size, like.dtype))
    return True


def _alike(w: LineWriter, x: Any, *others: Any) -> bool:
    """Whether all arrays have the type of the result, and those there are broadcast to the shape of x."""
    shape = w.like(x).shape
    return w.floats(x, *others) and all([
        np.broadcast_shapes(w.like(other).shape, shape) == shape for other in others if other is not None])


def _smooth(w: LineWriter, x: Any, y: Any, reduction: str, limit: float, scaled: bool) -> bool:
    """near * (off - near / 2) with off = abs(x - y) and near = min(off, limit), divided by the limit if `scaled`."""
    like = w.rows(x)
    if not _alike(w, x, y) or w.like(y).shape != like.shape or not 0 <= limit < np.inf:
        return False
    off = w.call(sub, x, y, like=like)
    if scaled and not limit:
        return _reduced(w, abs, off, like=like, reduction=reduction)
    off = w.call(abs, off, like=like)
    near = w.call(at_most, off, limit, like=like)
    rest = w.call(sub, off, w.call(mul, near, w.constant(0.5, like.dtype), like=like), like=like)
    if scaled:
        near = w.call(div, near, w.constant(limit, like.dtype), like=like)
    return _reduced(w, mul, near, rest, like=like, reduction=reduction)


def _smooth_l1(w: LineWriter, x: Any, y: Any, reduction: str, beta: float) -> bool:
    return _smooth(w, x, y, reduction, beta, scaled=True)


def _huber(w: LineWriter, x: Any, y: Any, reduction: str, delta: float) -> bool:
    return _smooth(w, x, y, reduction, delta, scaled=False)


def _soft_margin(w: LineWriter, x: Any, y: Any, reduction: str) -> bool:
    like = w.rows(x)
    if not _alike(w, x, y) or w.like(y).shape != like.shape:
        return False
    found = w.call(log_sigmoid, w.call(mul, y, x, like=like), like=like)
    return _reduced(w, sub, w.constant(0, like.dtype), found, like=like, reduction=reduction)      # never -0.0


def _bce_with_logits(w: LineWriter, x: Any, y: Any, weight: Any, pos_weight: Any, reduction: str) -> bool:
    like = w.rows(x)
    if not _alike(w, x, y, weight, pos_weight) or w.like(y).shape != like.shape:
        return False
    one, found = w.constant(1, like.dtype), w.call(log_sigmoid, x, like=like)
    if pos_weight is not None:
        more = w.call(sub, pos_weight, one, like=w.rows(pos_weight))
        found = w.call(mul, found, w.call(add, w.call(mul, more, y, like=like), one, like=like), like=like)
    product = w.call(mul, w.call(sub, one, y, like=like), x, like=like)
    return _weighted(w, product, found, weight, like, reduction)


def _bce(w: LineWriter, x: Any, y: Any, weight: Any, reduction: str) -> bool:
    like = w.rows(x)
    if not _alike(w, x, y, weight) or w.like(y).shape != like.shape:
        return False
    zero, one, truth = w.constant(0, like.dtype), w.constant(1, like.dtype), np.empty(like.shape, bool)
    between = [w.call(op, number, limit, like=truth) for number in (x, y) for op, limit in ((ge, zero), (le, one))]
    for other in between[1:]:
        between[0] = w.call(logical_and, between[0], other, like=truth)
    outside = _sum_of(w, w.call(logical_not, between[0], like=truth))
    w.call(look, outside, _none_outside, x, y, like=w.like(outside))
    logs = [w.call(clamp_number, w.call(op, number, like=like), -100.0, None, like=like)
            for op, number in ((log1p, w.call(neg, x, like=like)), (log, x))]
    first = w.call(mul, w.call(sub, y, one, like=like), logs[0], like=like)
    return _weighted(w, first, w.call(mul, y, logs[1], like=like), weight, like, reduction)


def _weighted(w: LineWriter, x: Any, y: Any, weight: Any, like: Array, reduction: str) -> bool:
    """The differences x - y, times the weight."""
    if weight is None:
        return _reduced(w, sub, x, y, like=like, reduction=reduction)
    return _reduced(w, mul, w.call(sub, x, y, like=like), weight, like=like, reduction=reduction)


def _none_outside(count: Array, x: Array, y: Array) -> None:
    """Raise RuntimeError if elements of x or y, so many of which were counted, are not between 0 and 1."""
    if count:
        check_probabilities(x, y)


# The likelihood of classes

def _hits(w: LineWriter, target: Any, classes: int, ignored: int) -> tuple[Any, Any]:
    """Where the targets' classes are, as bools, and the targets that count, as bools."""
    like = w.like(target)
    column = w.view(unsqueeze, target, 1, like=like[:, None])
    table = np.empty((len(like), classes), bool)
    hits = w.call(eq, column, w.array(np.arange(classes, dtype=like.dtype)), like=table)
    counts = w.call(ne, target, w.constant(ignored, like.dtype), like=np.empty(like.shape, bool))
    return hits, counts


def _sum_of(w: LineWriter, bools: Any) -> Any:
    """How many of the bools are true, in float64, which counts exactly."""
    numbers = w.call(cast, bools, F64, like=np.empty(w.like(bools).shape, F64))
    return w.call(sum_all, numbers, None, like=np.empty((), F64))


def _rounded(w: LineWriter, count: Any, dtype: np.dtype[Any]) -> Any:
    """A count in the dtype of the loss."""
    return count if dtype == F64 else w.call(cast, count, dtype, like=np.empty((), dtype))


def _plain_targets(w: LineWriter, target: Any, weight: Any, shape: Axes, reduction: str, ignored: int) -> bool:
    """Whether each row has one class, and all classes have the weight 1."""
    return (weight is None and len(shape) == 2 and reduction in ("mean", "sum") and not 0 <= ignored < shape[1]
            and w.like(target).dtype == np.int64 and shape[0] > 0 and shape[1] <= 4096)


def _nll_loss(w: LineWriter, x: Any, target: Any, weight: Any, reduction: str, ignored: int) -> bool:
    like = w.like(x)
    if not w.floats(x) or not _plain_targets(w, target, weight, like.shape, reduction, ignored):
        return False
    hits, counts = _hits(w, target, like.shape[1], ignored)
    count = _checked_count(w, hits, counts, target, ignored)
    single = np.empty((), like.dtype)
    total = w.call(sum_all, w.call(choose, hits, x, 0.0, like=w.rows(x)), None, like=single)
    zero = w.constant(0, like.dtype)                         # a loss of 0 is never -0.0
    if reduction == "mean":
        w.last(div, w.call(sub, zero, total, like=single), _rounded(w, count, like.dtype))
    else:
        w.last(sub, zero, total)
    return True


def _checked_count(w: LineWriter, hits: Any, counts: Any, target: Any, ignored: int) -> Any:
    """How many targets count. The plan looks whether each of them is a class."""
    count, found = _sum_of(w, counts), _sum_of(w, hits)
    w.call(look, found, _all_found, count, w.elements(target), w.like(hits).shape[1], ignored, like=w.like(found))
    return count


def _all_found(found: Array, count: Array, target: Array, classes: int, ignored: int) -> None:
    """Raise IndexError if a target is no class."""
    if found.item() != count.item():
        check_classes(target, classes, ignored)


def _nll_loss_backward(w: LineWriter, g: Any, target: Any, weight: Any, shape: Axes, reduction: str,
                       ignored: int) -> bool:
    each, like = reduction == "none", w.like(g)
    if not w.floats(g) or like.ndim != each or not _plain_targets(
            w, target, weight, shape, "sum" if each else reduction, ignored):
        return False
    hits, counts = _hits(w, target, shape[1], ignored)
    if reduction == "mean":
        g = w.call(div, g, _rounded(w, _sum_of(w, counts), like.dtype), like=like)
    g = w.call(neg, g, like=np.empty(like.shape, like.dtype))
    if each:                                               # the loss of each row may not have looked at the targets
        _checked_count(w, hits, counts, target, ignored)
        g = w.view(unsqueeze, g, 1, like=w.like(g)[:, None])
    w.last(choose, hits, g, 0.0)
    return True


LOSSES: dict[Op, Callable[..., bool]] = {
    smooth_l1_loss: _smooth_l1, huber_loss: _huber, soft_margin_loss: _soft_margin, binary_cross_entropy: _bce,
    binary_cross_entropy_with_logits: _bce_with_logits, nll_loss: _nll_loss, nll_loss_backward: _nll_loss_backward}
