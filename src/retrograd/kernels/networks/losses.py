"""Losses with kernels of their own.

`reduction` is "mean", "sum" or "none". The reduction adds up as any other sum does.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, NARROW, Array, is_half, refuse
from ...foundations.errors import noted, span
from ..elementwise.choosing import limited, where
from ..elementwise.elementary import widened
from ..options import rounds_steps
from ..sums import mean_all, sum_all
from .cascades import cascade_sum


def reduced(values: Array, reduction: str) -> Any:
    """The mean or the sum of the values, or the values themselves."""
    if reduction == "mean":
        return mean_all(values, None)
    return sum_all(values, None) if reduction == "sum" else values


def mse_loss(x: Array, y: Array, reduction: str) -> Any:
    """(x - y)²."""
    refuse(x.dtype, "mse_cpu", "biuc")
    off = np.subtract(x, y, out=...)
    return reduced(np.multiply(off, off, out=off), reduction)


def smooth_l1_loss(x: Array, y: Array, reduction: str, beta: float) -> Any:
    """|x - y| - beta / 2, and (x - y)² / (2 beta) if |x - y| is less than beta."""
    refuse(x.dtype, "smooth_l1_cpu", "biuc")
    off = np.abs(np.subtract(x, y, out=...), out=...)
    if beta:
        near = limited(off, -math.inf, beta)                # both formulas are near * (off - near / 2) / beta
        np.subtract(off, 0.5 * near, out=off)
        np.multiply(np.divide(near, beta, out=near), off, out=off)
    return reduced(off, reduction)


def huber_loss(x: Array, y: Array, reduction: str, delta: float) -> Any:
    """(x - y)² / 2, and delta (|x - y| - delta / 2) if |x - y| is more than delta."""
    refuse(x.dtype, "huber_cpu", "biuc")
    off = np.abs(np.subtract(x, y, out=...), out=...)
    near = limited(off, -math.inf, delta)                   # both formulas are near * (off - near / 2)
    np.subtract(off, 0.5 * near, out=off)
    return reduced(np.multiply(near, off, out=off), reduction)


def binary_cross_entropy(x: Array, y: Array, weight: Array | None, reduction: str) -> Any:
    """-(y log(x) + (1 - y) log(1 - x)), with logarithms of at least -100."""
    refuse(x.dtype, "binary_cross_entropy", "biuc")
    check_probabilities(x, y)
    wide = widened(x)
    loss = (y - 1) * np.maximum(np.log1p(-wide), -100) - y * np.maximum(np.log(wide), -100)
    return reduced(np.asarray(_weighted(loss, weight).astype(x.dtype, copy=False)), reduction)


def check_probabilities(x: Array, y: Array) -> None:
    """Raise RuntimeError if an element of the input x or the target y of a binary cross entropy is not in [0, 1]."""
    if x.size and not (np.min(x) >= 0 and np.max(x) <= 1):
        raise noted(RuntimeError("all elements of input should be between 0 and 1"),
                    given=_given(x),
                    instead="" if np.isnan(x).any() else "apply sigmoid, or use binary_cross_entropy_with_logits")
    if y.size and not (np.min(y) >= 0 and np.max(y) <= 1):
        raise noted(RuntimeError("all elements of target should be between 0 and 1"),
                    given=_given(y))


def _given(x: Array) -> str:
    """What the elements are, for a note: how many of them are nan, or from where to where they are."""
    count = int(np.isnan(x).sum())
    if not count:
        return f"the elements are {span(np.min(x), np.max(x))}"
    return f"{count} of {x.size} elements {'is' if count == 1 else 'are'} nan"


@rounds_steps
def binary_cross_entropy_with_logits(x: Array, y: Array, weight: Array | None, pos_weight: Array | None,
                                     reduction: str) -> Any:
    """`binary_cross_entropy` of sigmoid(x), without overflow and without loss of small numbers, in the dtype of y."""
    refuse(x.dtype, "log_sigmoid_cpu", "biuc")
    wide = x.astype(F32) if is_half(x.dtype) else x        # what follows is rounded at each step, as in PyTorch
    log_sigmoid = (np.minimum(wide, 0) - np.log1p(np.exp(-np.abs(wide)))).astype(x.dtype, copy=False)
    if pos_weight is not None:
        log_sigmoid = log_sigmoid * ((pos_weight - 1) * y + 1)
    product = ((1 - y) * x).astype(y.dtype, copy=False)
    loss = np.asarray(_weighted((product - log_sigmoid).astype(y.dtype, copy=False), weight))
    loss = loss.astype(y.dtype, copy=False)
    if loss.dtype in NARROW:
        return reduced(loss.astype(F32), reduction).astype(loss.dtype)
    return reduced(loss, reduction)


def _weighted(loss: Any, weight: Array | None) -> Any:
    return loss if weight is None else loss * weight


# Negative log-likelihood

@lru_cache(maxsize=16)
def _rows(n: int) -> Any:
    rows = np.arange(n)
    rows.flags.writeable = False
    return rows


def check_classes(target: Array, count: int, ignore_index: int) -> tuple[Any, Any]:
    """The target classes, and which of them count (None if all do). Raises IndexError for a class out of bounds."""
    classes = target if target.dtype == np.int64 else target.astype(np.int64)
    # Read as unsigned, negative numbers are large.
    inside = classes.size == 0 or classes.view(np.uint64).max() < count
    if inside and not 0 <= ignore_index < count:
        return classes, None
    counts = classes != ignore_index
    wrong = counts & ((classes < 0) | (classes >= count))
    if wrong.any():
        raise noted(IndexError(f"Target {classes[wrong][0]} is out of bounds."), "shapes#target-out-of-bounds",
                    given=f"{count} class{'' if count == 1 else 'es'}, and ignore_index is {ignore_index}")
    return (classes, None) if counts.all() else (np.where(counts, classes, 0), counts)


def _weights(classes: Array, counts: Array | None, weight: Array | None, dtype: np.dtype[Any]) -> Any:
    """The weight of each target, or None if all weights are 1."""
    if weight is not None:
        weights = weight[classes]
        return weights if counts is None else np.where(counts, weights, np.zeros((), dtype))
    return None if counts is None else counts.astype(dtype)


def _counted(values: Array, counts: Array | None) -> Any:
    """The values, with zeros where they do not count and may be infinite."""
    return values if counts is None else np.where(counts, values, np.zeros((), values.dtype))


def _places(classes: Array, ndim: int) -> tuple[Any, ...]:
    """The index of each target's element: along axis 1, or along the only axis."""
    if ndim == 1:
        return (classes,)
    if classes.ndim == 1:
        return (_rows(len(classes)), classes)
    first, *others = np.ix_(*map(_rows, classes.shape))
    return (first, classes, *others)


@rounds_steps
def nll_loss(x: Array, target: Array, weight: Array | None, reduction: str, ignore_index: int) -> Any:
    """-x of the target's class, times the weight of the class. A mean is divided by the sum of the weights."""
    refuse(x.dtype, "nll_loss2d_forward_out_frame" if x.ndim > 2 else "nll_loss_out_frame", "biuc")
    classes, counts = check_classes(target, x.shape[min(x.ndim - 1, 1)], ignore_index)
    scores = x[_places(classes, x.ndim)]
    apart = reduction == "none" and x.ndim > 1
    if apart:
        scores = np.negative(scores, out=...)
    weights = _weights(classes, counts, weight, x.dtype)
    if weights is not None:
        scores = _counted(scores if weight is None else scores * weights, counts)
    if apart:
        return scores
    total = _summed(scores, counts)
    np.subtract(total.dtype.type(0), total, out=total)       # a loss of 0 is never -0.0
    if reduction != "mean":
        return total
    return np.divide(total, np.asarray(_total(classes, weight, weights, counts), total.dtype), out=total)


def _summed(values: Array, counts: Array | None) -> Any:
    """The sum of the values that count. PyTorch rounds each step of a sum of float16 or bfloat16."""
    if not is_half(values.dtype):
        return sum_all(values, None)
    values = values.reshape(-1)
    places = np.arange(len(values)) if counts is None else np.flatnonzero(counts)
    return cascade_sum(values[places], places, len(values))


def _total(classes: Array, weight: Array | None, weights: Any, counts: Array | None) -> Any:
    """The total weight of the targets."""
    if weight is None:
        return classes.size if counts is None else np.count_nonzero(counts)
    return _summed(weights, counts) if is_half(weights.dtype) else np.add.reduce(weights, axis=None)


def nll_loss_backward(g: Array, target: Array, weight: Array | None, shape: tuple[int, ...], reduction: str,
                      ignore_index: int) -> Any:
    """The gradient by x: -g at the targets' classes, times their weights, and zeros elsewhere."""
    g = np.asarray(g)
    classes, counts = check_classes(target, shape[min(len(shape) - 1, 1)], ignore_index)
    weights = _weights(classes, counts, weight, g.dtype)
    if reduction == "mean":
        g = np.divide(g, _total(classes, weight, weights, counts), dtype=g.dtype)
    if weights is not None:
        g = _counted(g if weight is None else g * weights, counts)
    result = np.zeros(shape, g.dtype)
    result[_places(classes, len(shape))] = -g
    return result


# The score of a target exceeds the other scores by a margin. Rows are samples and columns are classes. A single row may
# lack its dimension.


def soft_margin_loss(x: Array, y: Array, reduction: str) -> Any:
    """log(1 + exp(-y x)), without overflow."""
    t = np.multiply(-y, x, out=...)
    if t.dtype.kind == "c":
        return reduced(np.asarray(np.log1p(np.exp(t))), reduction)
    size = np.negative(np.abs(t, out=...), out=...)
    return reduced(np.add(limited(t, 0, math.inf), np.log1p(np.exp(size, out=size), out=size), out=size), reduction)


def in_rows(x: Array) -> Any:
    """A matrix unchanged, and a vector or a number as one row."""
    return x if x.ndim == 2 else x.reshape(1, -1)


def beside(target: Array, classes: int) -> Any:
    """Which classes of each row are not its target."""
    return np.arange(classes) != target.reshape(-1, 1)


def multi_margin_loss(x: Array, target: Array, weight: Array, p: int, margin: float, reduction: str) -> Any:
    """The mean over the classes of max(0, margin - x[target] + x) ** p, times the weight of the target."""
    refuse_half(x.dtype, "multi_margin_loss_cpu_kernel")
    rows, classes = in_rows(x), target.reshape(-1, 1)
    over = np.add(margin - np.take_along_axis(rows, classes, 1), rows, out=...)
    np.fmax(over, 0, out=over)                              # a nan counts for nothing, as in PyTorch
    over = where(beside(target, rows.shape[1]), over if p == 1 else np.square(over, out=over), 0.0)
    loss = np.add.reduce(over, axis=1) / x.dtype.type(rows.shape[1])
    if weight is not None:
        loss = loss * weight[classes[:, 0]]
    return reduced(np.asarray(loss.reshape(target.shape)), reduction)


def refuse_half(dtype: np.dtype[Any], kernel: str) -> None:
    """Raise NotImplementedError unless the dtype is single or double precision: PyTorch's kernels have no others."""
    refuse(dtype, kernel, "biuc" if dtype != F16 else "f")


# Several targets per row, listed up to the first -1


def listed(target: Array) -> tuple[Any, Any]:
    """The listed classes (0 beyond the list), and the pairs of a listed and another class that need a margin."""
    rows = in_rows(target)
    width = rows.shape[1]
    counts = np.logical_and.accumulate(rows >= 0, axis=1)
    most = int(np.count_nonzero(counts.any(axis=0)))        # as many columns as the longest list
    rows, counts = rows[:, :most], counts[:, :most]
    classes = np.where(counts, rows, 0)
    is_target = np.zeros((len(rows), width), bool)
    places, columns = np.nonzero(counts)
    is_target[places, classes[places, columns]] = True
    return classes, counts[:, :, None] & ~is_target[:, None, :]


def multilabel_margin_loss(x: Array, classes: Array, between: Array, reduction: str) -> Any:
    """The sum of max(0, 1 - x[listed] + x[other]) over listed and other classes, divided by the number of classes."""
    refuse_half(x.dtype, "multilabel_margin_loss_forward_out_frame")
    rows = in_rows(x)
    over = np.add(1 - np.take_along_axis(rows, classes, 1)[:, :, None], rows[:, None, :], out=...)
    loss = where(between, np.fmax(over, 0, out=over), 0.0).sum(axis=(1, 2)) / x.dtype.type(rows.shape[1])
    return reduced(np.asarray(loss if x.ndim == 2 else loss.reshape(())), reduction)
