"""Scaled dot-product attention of four dims: (batch, heads, length, size)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..elementwise.elementary import widened
from .softmax import safe_softmax


def _stack(x: Any, heads: int) -> Any:
    """x as a stack of matrices, with each head repeated for the `heads` that it serves; half precision as single."""
    if x.shape[1] != heads:
        x = np.repeat(x, heads // x.shape[1], 1)
    x = x.reshape(-1, *x.shape[2:])
    return widened(x)


def attention(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> tuple[Any, Any]:
    """softmax(q @ k^T * scale + mask) @ v, and the softmax as a stack of matrices.

    The mask is broadcast and added. A row that the mask excludes completely is 0. In a causal row, later columns do not
    count.
    """
    heads = q.shape[1]
    left, right = _stack(q, heads), _stack(k, heads)
    scores = np.matmul(left * left.dtype.type(scale), right.swapaxes(1, 2))
    if mask is not None:
        shaped = scores.reshape(*q.shape[:3], k.shape[2])
        np.add(shaped, mask, out=shaped, casting="same_kind")
    if causal:
        np.copyto(scores, -math.inf, where=np.triu(np.ones(scores.shape[1:], bool), 1))
    weights = safe_softmax(scores, 2)
    out = np.matmul(weights, _stack(v, heads)).reshape(*q.shape[:3], v.shape[3])
    return out.astype(q.dtype, copy=False), weights


def attention_weights(q: Any, k: Any, weights: Any, scale: float) -> Any:
    """The softmax that `attention` has computed already, as a function of q and k."""
    return weights
