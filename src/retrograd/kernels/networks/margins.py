"""Losses that require the score of a target to exceed the other scores by a margin.

`reduction` is "mean", "sum" or "none". Rows are samples and columns are classes. A single row may lack its dimension.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import F16, refuse
from ..elementwise.choosing import limited, where
from .losses import reduced


def soft_margin_loss(x: Any, y: Any, reduction: str) -> Any:
    """log(1 + exp(-y x)), without overflow."""
    t = np.multiply(-y, x, out=...)
    if t.dtype.kind == "c":
        return reduced(np.asarray(np.log1p(np.exp(t))), reduction)
    size = np.negative(np.abs(t, out=...), out=...)
    return reduced(np.add(limited(t, 0, math.inf), np.log1p(np.exp(size, out=size), out=size), out=size), reduction)


def in_rows(x: Any) -> Any:
    """A matrix unchanged, and a vector or a number as one row."""
    return x if x.ndim == 2 else x.reshape(1, -1)


def beside(target: Any, classes: int) -> Any:
    """Which classes of each row are not its target."""
    return np.arange(classes) != target.reshape(-1, 1)


def multi_margin_loss(x: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> Any:
    """The mean over the classes of max(0, margin - x[target] + x) ** p, times the weight of the target."""
    refuse_half(x.dtype, "multi_margin_loss_cpu_kernel")
    rows, classes = in_rows(x), target.reshape(-1, 1)
    over = np.add(margin - np.take_along_axis(rows, classes, 1), rows, out=...)
    limited(over, 0, math.inf, out=over)
    over = where(beside(target, rows.shape[1]), over if p == 1 else np.square(over, out=over), 0.0)
    loss = np.add.reduce(over, axis=1) / x.dtype.type(rows.shape[1])
    if weight is not None:
        loss = loss * weight[classes[:, 0]]
    return reduced(np.asarray(loss.reshape(target.shape)), reduction)


def refuse_half(dtype: np.dtype[Any], kernel: str) -> None:
    """Raise NotImplementedError unless the dtype is single or double precision: PyTorch's kernels have no others."""
    refuse(dtype, kernel, "biuc" if dtype != F16 else "f")


# Several targets per row, listed up to the first -1


def listed(target: Any) -> tuple[Any, Any]:
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


def multilabel_margin_loss(x: Any, classes: Any, between: Any, reduction: str) -> Any:
    """The sum of max(0, 1 - x[listed] + x[other]) over listed and other classes, divided by the number of classes."""
    refuse_half(x.dtype, "multilabel_margin_loss_forward_out_frame")
    rows = in_rows(x)
    over = np.add(1 - np.take_along_axis(rows, classes, 1)[:, :, None], rows[:, None, :], out=...)
    loss = where(between, limited(over, 0, math.inf, out=over), 0.0).sum(axis=(1, 2)) / x.dtype.type(rows.shape[1])
    return reduced(np.asarray(loss if x.ndim == 2 else loss.reshape(())), reduction)
