"""Losses with margins: between distances, in rankings, of one class against the others, of several classes.

`reduction`, `size_average` and `reduce` are those of the losses in `loss`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted, span
from ...foundations.scalars import converted
from ...kernels.shape import common_shape
from ...ops.basic import check_values
from ...ops.elementwise import arithmetic
from ...ops.networks import losses as ops
from ...tensors.arguments.options import check_tensors, number, refuse_complex_gradient
from ...tensors.functions.elementwise.comparison import where
from ...tensors.recording.calls import recorded
from ...tensors.recording.not_differentiable import refuse_gradient
from ...tensors.recording.public import public
from ...tensors.state.base import plain
from ...tensors.tensor import Tensor
from .activation import logsigmoid
from .distance import pairwise_distance
from .reduction import REDUCTIONS, checked_reduction, of_both, reduced

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_soft_margin, _multi_margin, _multilabel = map(
    recorded, (ops.soft_margin_loss, ops.multi_margin_loss, ops.multilabel_margin_loss))
_add_number, _sub_number = recorded(arithmetic.add_number), recorded(arithmetic.sub_number)
_SMALL = 1e-12                              # keeps the length of a vector away from 0


# Losses of distances

@public()
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None,
                         reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """`input` if the target is 1, max(0, margin - input) if it is -1, for each element; reduced."""
    reduction = checked_reduction(reduction, size_average, reduce)
    x, _ = of_both("hinge_embedding_loss", input, target)
    margin = converted(float(number("hinge_embedding_loss", "margin", 3, margin, "float")), x.dtype)
    zero = x.dtype.type(0).item()
    short = (input.new_full((), margin) - input).clamp_min(0)
    return reduced(where(target != 1, short, zero) + where(target != -1, input, zero), reduction)


@public()
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = "mean") -> Tensor:
    """1 - cos of the angle if the target is 1, max(0, cos - margin) if it is -1; reduced.

    The two inputs are (N, D) and the target is (N), or the inputs are (D) and the target has no dimension. Raises
    RuntimeError for other shapes.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    check_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    margin = float(number("cosine_embedding_loss", "margin", 4, margin, "float"))
    dim = target._array.ndim
    if dim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1._array.ndim == input2._array.ndim == dim + 1:
        raise RuntimeError(f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes "
                           f"{list(input1.shape)} and {list(input2.shape)}.")
    lengths = _add_number((input1 * input1).sum(dim), _SMALL) * _add_number((input2 * input2).sum(dim), _SMALL)
    cos = (input1 * input2).sum(dim) / lengths.sqrt()
    alike, unlike = cos.new_ones(()) - cos, _sub_number(cos, margin).clamp_min(0)
    return reduced(where(target == 1, alike, 0.0) + where(target == -1, unlike, 0.0), reduction)


@public()
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """max(0, margin - target * (input1 - input2)) for each element, reduced.

    A target of 1 asks for input1 above input2, a target of -1 for input1 below input2. Raises RuntimeError if the three
    tensors have different numbers of dimensions.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.size()}, input2: {input2.size()}, target: {target.size()} ")
    return margin_ranking(input1, input2, target, margin, reduction)


def margin_ranking(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: str) -> Tensor:
    """`margin_ranking_loss`, given a checked name of a reduction."""
    check_tensors("margin_ranking_loss", input1=input1, input2=input2, target=target)
    ahead = input1 - input2
    return reduced(_add_number(-target * ahead, float(margin)).clamp_min(0), reduction)


@public()
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2,
                        eps: float = 1e-6, swap: bool = False, size_average: bool | None = None,
                        reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """max(0, margin + d(anchor, positive) - d(anchor, negative)), reduced.

    The distance d is the `p`-norm of the difference along the last dimension. With `swap` the distance of positive and
    negative counts if it is less than the distance of anchor and negative.

    >>> import retrograd as torch
    >>> a, p, n = torch.tensor([[0., 0.]]), torch.tensor([[0., 3.]]), torch.tensor([[4., 0.]])
    >>> torch.nn.functional.triplet_margin_loss(a, p, n, margin=2.0)
    tensor(1.)

    Raises ValueError if `margin` is not positive, RuntimeError if the three tensors have different numbers of
    dimensions.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, p: float, eps: float, swap: bool,
                   reduction: str) -> Tensor:
    """`triplet_margin_loss`, given a checked name of a reduction."""
    check_tensors("triplet_margin_loss", anchor=anchor, positive=positive, negative=negative)
    return _triplet(anchor, positive, negative, lambda x, y: pairwise_distance(x, y, p, eps),
                    lambda near: _add_number(near, float(margin)), swap, reduction)


@public()
def triplet_margin_with_distance_loss(
        anchor: Tensor, positive: Tensor, negative: Tensor, *,
        distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0, swap: bool = False,
        reduction: str = "mean") -> Tensor:
    """`triplet_margin_loss` with any function of two tensors for the distance.

    The default distance is `pairwise_distance`.
    """
    checked_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _triplet(anchor, positive, negative, distance_function or pairwise_distance,
                    lambda near: margin + near, swap, reduction)


def _triplet(anchor: Tensor, positive: Tensor, negative: Tensor, distance: Callable[[Any, Any], Any],
             with_margin: Callable[[Any], Any], swap: bool, reduction: str) -> Any:
    ranks = anchor.ndim, positive.ndim, negative.ndim
    if len({*ranks}) > 1:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           "dimensions, but got: anchor {}D, positive {}D, and negative {}D inputs".format(*ranks))
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced((with_margin(near) - far).clamp_min(0), reduction)


# Losses of scores

@public()
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                     reduction: str = "mean") -> Tensor:
    """log(1 + exp(-target * input)) for targets of 1 and -1, reduced.

    The target is broadcast to the shape of the input. Raises RuntimeError for ints, and if the target requires grad.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    x, y = of_both("soft_margin_loss", input, target)
    refuse_gradient("soft_margin_loss", "target", target)
    refuse_complex_gradient("soft_margin_loss", input)
    shape = common_shape(x.shape, y.shape)
    if shape != x.shape:
        raise noted(
            RuntimeError(f"output with shape {list(x.shape)} doesn't match the broadcast shape {list(shape)}"),
            because="only the target is broadcast")
    if y.dtype.kind == "b":
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert "
                           "a mask, use the `~` or `logical_not()` operator instead.")
    if x.dtype.kind in "biu":
        raise noted(
            RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.legacy}"),
            instead="convert with .float() first")
    return _soft_margin(input, target.detach().to(input.dtype), reduction)


@public()
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
                      size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """The mean over the wrong classes j of max(0, margin - input[target] + input[j]) ** p, reduced over the batch.

    `input` is (N, C) and `target` is (N), or `input` is (C) and `target` holds one class. `weight` (C) has a factor for
    each class. Raises RuntimeError if shapes or dtypes do not fit and for a class out of bounds, ValueError if `p` is
    neither 1 nor 2.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    x, y = of_both("multi_margin_loss", input, target)
    margin = number("multi_margin_loss", "margin", 4, margin)
    samples, classes = _rows_and_classes(x)
    if y.ndim > 1 or y.size != samples:
        raise RuntimeError("multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
                           f"samples (batch size). Expected target size [{samples}], but got {list(y.shape)}. Input "
                           f"has shape {list(x.shape)}.")
    if weight is not None:
        refuse_gradient("multi_margin_loss", "weight", weight)
        if weight._array.size != classes:
            raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
        if weight._array.dtype != x.dtype:
            raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {weight.dtype.legacy}")
    _check_classes(target, classes, "target out of range")
    return _multi_margin(input, target, weight, p, margin, reduction)


def _rows_and_classes(x: Array) -> tuple[int, int]:
    """The numbers of samples and of classes. Raises RuntimeError for more dimensions and for no classes."""
    if x.ndim > 2 or (x.ndim and not x.shape[-1]):
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(x.shape)}")
    return (x.shape[0] if x.ndim == 2 else 1), (x.shape[-1] if x.ndim else 1)


def _check_classes(target: Tensor, classes: int, complaint: str, lowest: int = 0) -> None:
    y = target._array
    if y.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.legacy}")

    def test(y: Array) -> None:
        if y.size and not (lowest <= y.min() and y.max() < classes):
            raise noted(
                RuntimeError(f"{complaint}"),
                given=f"targets {span(y.min(), y.max())}; allowed: {span(lowest, classes - 1)}")

    check_values(y, test)


@public()
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
                           reduction: str = "mean") -> Tensor:
    """The sum of max(0, 1 - input[t] + input[j]) / C over target classes t and other classes j, reduced.

    `input` and `target` are (N, C) or (C). A row of `target` lists classes up to the first -1. Raises RuntimeError if
    shapes or dtypes do not fit, and for a class out of bounds.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    x, y = of_both("multilabel_margin_loss", input, target)
    _, classes = _rows_and_classes(x)
    if y.shape != x.shape:
        raise RuntimeError(f"inconsistent target size: {list(y.shape)} for input of size: {list(x.shape)}")
    _check_classes(target, classes, "argument #2 'target' is out of range", -1)
    return _multilabel(input, *map(plain, ops.listed.run(y)), reduction)


@public()
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:
    """The mean cross-entropy of sigmoid(`input`) with labels `target` along the last dimension, reduced.

    `weight` broadcasts to the shape of the input.
    """
    if size_average is not None or reduce is not None:
        reduction = checked_reduction(reduction, size_average, reduce)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    dim = input.dim() - 1
    loss = loss.sum(dim=dim) / input.size(dim)
    if reduction not in REDUCTIONS:
        raise noted(ValueError(f"{reduction} is not valid"), instead="choose 'mean', 'sum' or 'none'")
    return reduced(loss, reduction)
