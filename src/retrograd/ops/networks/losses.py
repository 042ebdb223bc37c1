"""Losses with one node: squared and absolute differences, cross-entropies, negative log-likelihood, kernels.

`reduction` is "mean", "sum" or "none". The cotangent of a reduced loss has no dimensions. `_share` computes each
element's share of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Shape
from ...kernels.elementwise.choosing import limited
from ...kernels.networks import losses as kernels
from ..choosing import choose
from ..elementwise.arithmetic import among
from ..elementwise.elementary import sgn
from ..framework import Op, composed, linear, operator
from ..indexing.indexing import gather, gather_backward
from ..reductions import sum_dim
from .activations import sigmoid

if TYPE_CHECKING:
    from ..values import Value


def _share(g: Value, x: Value, reduction: str) -> Any:
    """The cotangent of each element's loss."""
    return among(g, max(math.prod(x.shape), 1)) if reduction == "mean" else g


def _squared(g: Value, x: Value, y: Value, reduction: str) -> Any:
    return (x - y) * (2.0 * _share(g, x, reduction))


mse_loss = operator("mse_loss", kernels.mse_loss, domain="promote", layout="elementwise", x=_squared,
                    y=lambda g, x, y, reduction: _squared(g, y, x, reduction))


def _flat_beyond(off: Value, limit: float) -> Any:
    """The difference, limited to this size. From the limit on it is flat. A nan is kept."""
    return choose(np.abs(off) >= limit, sgn(off) * limit, off)


_bounded = composed("clamp", lambda off, limit: limited(off, -limit, limit), _flat_beyond, tensors=1)


def _smooth(g: Value, x: Value, y: Value, reduction: str, beta: complex) -> Any:
    off, g = x - y, _share(g, x, reduction)
    return _bounded(off, beta) * (g / beta) if beta else sgn(off) * g


smooth_l1_loss = operator("smooth_l1_loss", kernels.smooth_l1_loss, domain="promote", layout="elementwise", x=_smooth,
                          y=lambda g, x, y, reduction, beta: -_smooth(g, x, y, reduction, beta))


def _huber(g: Value, x: Value, y: Value, reduction: str, delta: float) -> Any:
    return _bounded(x - y, delta) * _share(g, x, reduction)


huber_loss = operator("huber_loss", kernels.huber_loss, domain="promote", layout="elementwise", x=_huber,
                      y=lambda g, x, y, reduction, delta: -_huber(g, x, y, reduction, delta))


def _weighted(g: Value, x: Value, weight: Value | None, reduction: str) -> Any:
    g = _share(g, x, reduction)
    return g if weight is None else g * weight


_TINY = 9.999999960041972e-13       # 1e-12 in single precision, as in PyTorch


def _bce(g: Value, x: Value, y: Value, weight: Value | None, reduction: str) -> Any:
    return _weighted(g, x, weight, reduction) * (x - y) / np.maximum((1.0 - x) * x, _TINY)


def _bce_target(g: Value, x: Value, y: Value, weight: Value | None, reduction: str) -> Any:
    """The gradient for the target uses the plain logarithms. The loss limits them to at least -100."""
    return _weighted(g, x, weight, reduction) * (np.log1p(-x) - np.log(x))


binary_cross_entropy = operator("binary_cross_entropy", kernels.binary_cross_entropy, tensors=3, layout="kept",
                                x=_bce, y=_bce_target)


def _bce_logits(g: Value, x: Value, y: Value, weight: Value | None, pos_weight: Value | None, reduction: str) -> Any:
    g = _weighted(g, x, weight, reduction)
    if pos_weight is None:
        return g * (sigmoid(x) - y)
    scaled = pos_weight * y
    return g * ((scaled + 1.0 - y) * sigmoid(x) - scaled)


def _bce_logits_target(g: Value, x: Value, weight: Value | None, pos_weight: Value | None, reduction: str) -> Any:
    g = _weighted(g, x, weight, reduction)
    if pos_weight is None:
        return -g * x
    log_sigmoid = np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
    return -g * (x + (pos_weight - 1.0) * log_sigmoid)


binary_cross_entropy_with_logits = operator(
    "binary_cross_entropy_with_logits", kernels.binary_cross_entropy_with_logits, tensors=4,
    layout="kept", x=_bce_logits, y=_bce_logits_target)


# Negative log-likelihood is linear in x, and its gradient is linear in g: each is the adjoint of the other.

def _to_classes(g: Value, x_shape: Shape, target: Value, weight: Value | None, reduction: str,
                ignore_index: int) -> Any:
    return nll_loss_backward(g, target, weight, x_shape, reduction, ignore_index)


nll_loss = linear("nll_loss", kernels.nll_loss, tensors=3, x=_to_classes)
nll_loss2d = linear("nll_loss2d", kernels.nll_loss, node="NllLoss2DBackward0", tensors=3, x=_to_classes)
nll_loss_backward: Op = linear(
    "nll_loss_backward", kernels.nll_loss_backward, tensors=3,
    g=lambda g, target, weight, reduction, ignore_index: nll_loss(g, target, weight, reduction, ignore_index))

# Losses with margins, for one target in a row, for several targets, for signs. Targets are classes, without derivative.

soft_margin_loss = operator("soft_margin_loss", kernels.soft_margin_loss, tensors=2, x=lambda g, x, y, reduction: (
    _share(g, x, reduction) * (-y * sigmoid(-y * x))))


def _in_rows(x: Value) -> Any:
    return x if x.ndim == 2 else np.reshape(x, (1, -1))


def _of_rows(g: Value, count: int, reduction: str) -> Any:
    """The cotangent of each row, as a column. The rows of a reduced loss share one cotangent."""
    return np.reshape(g / count if reduction == "mean" else g, (-1, 1))


def _multi_margin(g: Value, x: Value, target: Value, weight: Value | None, p: int, margin: float,
                  reduction: str) -> Any:
    """The target's gradient is minus the sum of those of the other classes. A margin that is just kept gives 0."""
    rows, classes = _in_rows(x), np.reshape(target, (-1, 1))
    own = gather(rows, classes, 1)
    over = margin - own + rows
    near = np.logical_and(over > 0.0, np.arange(rows.shape[1]) != classes)
    pull = _of_rows(g, rows.shape[0], reduction) / rows.shape[1]
    if weight is not None:
        pull = pull * weight[classes]
    push = choose(near, pull * 2.0 * over if p == 2 else pull, 0.0)
    return np.reshape(push - gather_backward(sum_dim(push, (1,), True, None), classes, rows.shape, 1), x.shape)


multi_margin_loss = operator("multi_margin_loss", kernels.multi_margin_loss, tensors=3, x=_multi_margin)


def _multilabel_margin(g: Value, x: Value, classes: Value, between: Value, reduction: str) -> Any:
    rows = _in_rows(x)
    own = gather(rows, classes, 1)
    over = 1.0 - np.expand_dims(own, 2) + np.expand_dims(rows, 1)
    pull = np.expand_dims(_of_rows(g, rows.shape[0], reduction) / rows.shape[1], 2)
    push = choose(np.logical_and(over > 0.0, between), pull, 0.0)
    up = gather_backward(sum_dim(push, (2,), False, None), classes, rows.shape, 1)
    return np.reshape(sum_dim(push, (1,), False, None) - up, x.shape)


multilabel_margin_loss = operator("multilabel_margin_loss", kernels.multilabel_margin_loss, tensors=3,
                                  x=_multilabel_margin)

# A mask of the target classes of each row, for `multilabel_margin_loss`.
listed = operator("listed", kernels.listed, outputs="classes between", tensors=1, layout="kept")
