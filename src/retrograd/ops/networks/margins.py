"""Losses with margins, each one node: for one target in a row, for several targets, for signs.

`reduction` is "mean", "sum" or "none". Targets are classes and have no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.networks import margins as kernels
from ..choosing import choose
from ..framework import operator
from ..indexing.indexing import gather, gather_backward
from ..reductions import sum_dim
from .activations import sigmoid
from .losses import _share

soft_margin_loss = operator("soft_margin_loss", kernels.soft_margin_loss, tensors=2, x=lambda g, x, y, reduction: (
    _share(g, x, reduction) * (-y * sigmoid(-y * x))))


def _in_rows(x: Any) -> Any:
    return x if x.ndim == 2 else np.reshape(x, (1, -1))


def _of_rows(g: Any, count: int, reduction: Any) -> Any:
    """The cotangent of each row, as a column. The rows of a reduced loss share one cotangent."""
    return np.reshape(g / count if reduction == "mean" else g, (-1, 1))


def _multi_margin(g: Any, x: Any, target: Any, weight: Any, p: Any, margin: Any, reduction: Any) -> Any:
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


def _multilabel_margin(g: Any, x: Any, classes: Any, between: Any, reduction: Any) -> Any:
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
