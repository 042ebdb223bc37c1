"""Scaled dot-product attention as products of stacks of matrices and elementwise lines, for machine code of one size.

The products read heads where they lie, so no head is copied. NumPy alone runs the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernels.layout import steps
from ...ops.basic import clone
from ...ops.choosing import choose
from ...ops.elementwise.arithmetic import add, mul, reciprocal, sub
from ...ops.elementwise.comparison import eq
from ...ops.elementwise.elementary import exp
from ...ops.framework import Op
from ...ops.linalg.matrix import bmm
from ...ops.networks.attention import attention, attention_weights
from ...ops.reductions import amax, sum_dim
from ...ops.shape import transpose, view
from ..program.lines import Ref
from .line_writer import LineWriter

# More scores are memory traffic, for which a call costs nothing.
_LARGEST = 1 << 21


def _attention(w: LineWriter, q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> bool:
    likes = [w.like(arg) for arg in (q, k, v, mask) if arg is not None]
    dtype, (batch, heads, length) = likes[0].dtype, likes[0].shape[:3]
    shape = (batch, heads, length, likes[1].shape[2])
    if dtype.char not in "fd" or any([like.dtype != dtype or not like.size for like in likes]) or (
            likes[1].shape[1] != heads or not 0 < math.prod(shape) <= _LARGEST):
        return False
    wide, table = np.empty(shape, dtype), np.empty((batch * heads, *shape[2:]), dtype)
    turned = w.view(transpose, k, 2, 3, like=likes[1].swapaxes(2, 3))
    scaled = w.call(mul, q, w.constant(scale, dtype), like=np.empty(likes[0].shape, dtype))
    scores = w.call(bmm, scaled, turned, like=wide)
    if mask is not None:
        scores = w.call(add, scores, mask, like=wide)
    if causal:
        scores = w.call(choose, w.array(np.tri(*shape[2:], dtype=bool)), scores, -math.inf, like=wide)
    _safe_softmax(w, w.view(view, scores, table.shape, like=table))
    weights = w.view(view, Ref(w.line.results[1]), shape, like=wide)
    if w.result.flags.c_contiguous:
        w.last(bmm, weights, v)
    else:
        w.last(clone, w.call(bmm, weights, v, like=np.empty(w.result.shape, dtype)), steps(w.result))
    return True


def _safe_softmax(w: LineWriter, x: Any) -> None:
    """The result at the second place: softmax of x over its last dim, but 0 along a row that is -inf everywhere."""
    like = w.like(x)
    row = np.empty((*like.shape[:-1], 1), like.dtype)
    largest = w.call(amax, x, (2,), True, like=row)
    absent = w.call(eq, largest, w.constant(-math.inf, like.dtype), like=np.empty(row.shape, bool))
    powers = w.call(exp, w.call(sub, x, w.call(choose, absent, 0.0, largest, like=row), like=like), like=like)
    total = w.call(choose, absent, 1.0, w.call(sum_dim, powers, (2,), True, None, like=row), like=row)
    w.last(mul, powers, w.call(reciprocal, total, like=row), place=1)


def _attention_weights(w: LineWriter, q: Any, k: Any, weights: Any, scale: float) -> bool:
    w.alias(weights, 0)
    return w.by_rows()


ATTENTION: dict[Op, Callable[..., bool]] = {attention: _attention, attention_weights: _attention_weights}
