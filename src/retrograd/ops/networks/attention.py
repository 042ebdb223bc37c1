"""Scaled dot-product attention as one operator. Its rules treat the forward pass's weights as functions of q and k.

The weights are a stack of matrices, one for each head of each element of the batch. If keys and values have fewer
heads than the queries, each head of theirs serves several heads of the queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.networks import softmax as kernels
from ..basic import clone
from ..framework import Op, operator
from ..linalg.matrix import bmm
from ..reductions import spread, sum_dim
from ..shape import transpose
from .softmax import softmax_backward

if TYPE_CHECKING:
    from ..values import Value


def _stack(x: Value, heads: int) -> Any:
    """(batch, heads, length, size) as a stack of matrices. Heads are repeated if there are to be more of them."""
    batch, own, length, size = x.shape
    if own != heads:
        x = spread(np.reshape(x, (batch, own, 1, length, size)), (batch, own, heads // own, length, size), (2,), True)
    return np.reshape(x, (batch * heads, length, size))


def _unstacked(g: Value, shape: Shape, heads: int) -> Any:
    """The adjoint of `_stack`."""
    batch, own, length, size = shape
    if own == heads:
        return np.reshape(g, shape)
    return sum_dim(np.reshape(g, (batch, own, heads // own, length, size)), (2,), False, None)


def _heads_inside(g: Value) -> Any:
    """A copy of the gradient that lies in memory as (batch, length, heads, size), as PyTorch's gradients do.

    Most programs make their queries from an array of this shape.
    """
    _, heads, length, size = g.shape
    return clone(g, (length * heads * size, size, heads * size, 1))


def _weights_q(g: Value, q: Value, k: Value, out: Value, scale: float) -> Any:
    slope = bmm(softmax_backward(g, out, 2), _stack(k, q.shape[1]))
    return np.reshape(slope * scale, q.shape)


def _weights_k(g: Value, q: Value, k_shape: Shape, out: Value, scale: float) -> Any:
    slope = bmm(transpose(softmax_backward(g, out, 2), 1, 2), _stack(q * scale, q.shape[1]))
    return _unstacked(slope, k_shape, q.shape[1])


attention_weights = operator("attention_weights", kernels.attention_weights, tensors=3, q=_weights_q, k=_weights_k)


def _by_weights(g: Value, q: Value, v: Value) -> Any:
    return bmm(_stack(g, q.shape[1]), transpose(_stack(v, q.shape[1]), 1, 2))


def _attention_q(g: Value, q: Value, k: Value, v: Value, weights: Value, scale: float) -> Any:
    return _heads_inside(_weights_q(_by_weights(g, q, v), q, k, attention_weights(q, k, weights, scale), scale))


def _attention_k(g: Value, q: Value, k: Value, v: Value, weights: Value, scale: float) -> Any:
    return _heads_inside(_weights_k(_by_weights(g, q, v), q, k.shape, attention_weights(q, k, weights, scale), scale))


def _attention_v(g: Value, q: Value, k: Value, v_shape: Shape, weights: Value, scale: float) -> Any:
    slope = bmm(transpose(attention_weights(q, k, weights, scale), 1, 2), _stack(g, q.shape[1]))
    return _heads_inside(_unstacked(slope, v_shape, q.shape[1]))


attention: Op = operator(
    "attention", kernels.attention, layout="kept", tensors=4, outputs="out weights", differentiable="out",
    node="ScaledDotProductFlashAttentionForCpuBackward0", q=_attention_q, k=_attention_k, v=_attention_v)
