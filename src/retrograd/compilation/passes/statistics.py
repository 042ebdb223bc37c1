"""Means, variances and norms as elementwise lines and sums, for machine code.

The formulas are those of the kernels, but a sum adds in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.sums import count
from ...ops.elementwise.arithmetic import div, mul, sub
from ...ops.elementwise.elementary import sqrt
from ...ops.framework import Op
from ...ops.linalg.norms import frobenius, norm
from ...ops.reductions import amax, mean_dim, std, sum_dim, var
from .line_writer import LineWriter

Axes = tuple[int, ...]


def over(w: LineWriter, op: Op, x: Any, axes: Axes) -> Any:
    """A reduction that keeps its axes."""
    like = w.like(x)
    kept = np.empty([1 if axis in axes else size for axis, size in enumerate(like.shape)], like.dtype)
    return w.call(op, x, axes, True, True if op is amax else None, like=kept)


def mean_over(w: LineWriter, x: Any, axes: Axes) -> Any:
    """The mean, with the axes kept."""
    like, total = w.like(x), over(w, sum_dim, x, axes)
    return w.call(div, total, w.constant(count(like.shape, axes), like.dtype), like=w.like(total))


def _mean_dim(w: LineWriter, x: Any, axes: Axes, keepdim: bool, dtype: Any) -> bool:
    if dtype is not None or not w.floats(x) or not axes:
        return False
    total = w.call(sum_dim, x, axes, keepdim, None, like=w.result)
    w.last(div, total, w.constant(count(w.like(x).shape, axes), w.result.dtype))
    return True


def _norm(w: LineWriter, x: Any, p: Any, axes: Axes, keepdim: bool, dtype: Any) -> bool:
    if p != 2 or dtype is not None or not w.floats(x) or count(w.like(x).shape, axes) < 2:
        return False
    squares = w.call(mul, x, x, like=w.rows(x))
    w.last(sqrt, w.call(sum_dim, squares, axes, keepdim, None, like=w.result))
    return True


def _squares(w: LineWriter, x: Any, axes: Axes, keepdim: bool, correction: Any) -> tuple[Any, Any] | None:
    """The sum of the squares of what is left without the mean, and its divisor; None if that is not positive.

    The mean of what is left is taken off, too, so equal numbers leave 0.
    """
    if not w.floats(x) or not axes or not count(w.like(x).shape, axes) > correction:
        return None
    off, like = x, w.rows(x)
    for _ in range(2):
        off = w.call(sub, off, mean_over(w, off, axes), like=like)
    total = w.call(sum_dim, w.call(mul, off, off, like=like), axes, keepdim, None, like=w.result)
    return total, w.constant(count(w.like(x).shape, axes) - correction, like.dtype)


def _var(w: LineWriter, x: Any, axes: Axes, keepdim: bool, correction: Any) -> bool:
    found = _squares(w, x, axes, keepdim, correction)
    if found is not None:
        w.last(div, *found)
    return found is not None


def _std(w: LineWriter, x: Any, axes: Axes, keepdim: bool, correction: Any) -> bool:
    found = _squares(w, x, axes, keepdim, correction)
    if found is not None:
        w.last(sqrt, w.call(div, *found, like=w.result))
    return found is not None


STATISTICS: dict[Op, Callable[..., bool]] = {mean_dim: _mean_dim, norm: _norm, frobenius: _norm, var: _var, std: _std}
