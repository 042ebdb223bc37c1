"""Losses and encodings of classes: cross-entropy, negative log-likelihood, one-hot vectors."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, int64, letter
from ...foundations.errors import noted, warn
from ...ops.basic import beyond
from ...ops.elementwise import arithmetic
from ...ops.networks import losses as ops, softmax
from ...tensors.arguments.dims import array_of, as_int
from ...tensors.arguments.options import check_optional, check_tensor, check_tensors, number
from ...tensors.recording.calls import recorded
from ...tensors.recording.not_differentiable import refuse_gradient
from ...tensors.recording.public import public
from ...tensors.state.base import plain
from ...tensors.state.dispatch import is_wrapper
from ...tensors.tensor import Tensor
from ...tensors.transforms.batched import is_batch
from .affine import linear
from .reduction import checked_reduction, of_both

__all__ = ["cross_entropy", "linear_cross_entropy", "nll_loss", "one_hot"]

_nll_loss, _nll_loss2d = recorded(ops.nll_loss), recorded(ops.nll_loss2d)
_mul_number, _div_number = recorded(arithmetic.mul_number), recorded(arithmetic.div_number)
_add_number = recorded(arithmetic.add_number)
_log_softmax = recorded(softmax.log_softmax)
_CLASS_TYPES = frozenset((np.dtype(np.int64), np.dtype(np.uint8)))


@public(event="aten::cross_entropy_loss")
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
                  ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Tensor:
    """The cross-entropy of softmax(`input`) with `target`, reduced.

    `input` has shape (C), (N, C) or (N, C, d1, …), for C classes. `target` holds either classes, as int64 or uint8, in
    the shape of the input without C, or the probabilities of all classes, as floats, in the shape of the input.
    `weight` (C) is a factor for each class. Targets equal to `ignore_index` do not count. `label_smoothing`, from 0 to
    1, mixes the target with equal probabilities. `reduction` is "mean", "sum" or "none", which gives the shape of the
    target's classes.

    >>> import retrograd as torch
    >>> torch.nn.functional.cross_entropy(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)

    Raises IndexError for a class out of bounds, ValueError or RuntimeError if shapes or dtypes do not fit.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    x, y = of_both("cross_entropy_loss", input, target)
    if weight is not None:
        check_tensor("cross_entropy_loss", weight, "weight", 3)
    label_smoothing = number("cross_entropy_loss", "label_smoothing", 6, label_smoothing, "float")
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    ignore_index = as_int("cross_entropy_loss", ignore_index, "ignore_index", 5)
    dim = min(x.ndim - 1, 1)
    if x.shape == y.shape:
        if letter(y.dtype) != "f":
            raise noted(
                RuntimeError("Expected floating point type for target with class probabilities, "
                             f"got {target.dtype.legacy}"),
                because="classes have the shape of the input without its second dimension")
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, dim, weight, reduction, label_smoothing)
    scores = _log_softmax(input, dim)
    if label_smoothing > 0.0:
        return _smoothed(scores, target, dim, weight, ignore_index, reduction, label_smoothing)
    return _negative_log_likelihood(scores, target, weight, ignore_index, reduction)


def _along(weight: Tensor, dim: int, ndim: int) -> Any:
    """A weight for each class, in a shape that broadcasts along `dim`."""
    return weight.view(*[-1 if i == dim else 1 for i in range(ndim)])


def _of_probabilities(input: Tensor, target: Tensor, dim: int, weight: Tensor | None, reduction: str,
                      smoothing: float) -> Any:
    classes = input._array.shape[dim] if input.ndim else 1
    if weight is not None and weight._array.shape != (classes,):
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {classes} classes or no "
                           f"classes but got weight tensor of shape: {list(weight.shape)}")
    if smoothing > 0.0:
        target = _add_number(_mul_number(target, 1 - smoothing), smoothing / classes)
    loss = _log_softmax(input, dim) * target
    if weight is not None:
        loss = loss * _along(weight, dim, input.ndim)
    if reduction == "none":
        return -loss.sum(dim)
    if reduction == "mean" and not input.numel():
        return -loss.sum().fill_(math.nan)
    total = -loss.sum()
    return _div_number(total, max(input.numel() // classes, 1)) if reduction == "mean" else total


def _smoothed(scores: Tensor, target: Tensor, dim: int, weight: Tensor | None, ignore_index: int, reduction: str,
              smoothing: float) -> Any:
    """The loss of the target's class, mixed with the mean loss of all classes."""
    classes = scores._array.shape[dim]
    hard = _negative_log_likelihood(scores, target, weight, ignore_index, reduction)
    spread = -(scores if weight is None else scores * _along(weight, dim, scores.ndim)).sum(dim)
    ignored = target == ignore_index
    spread = spread.masked_fill(ignored, 0.0)
    if reduction == "sum":
        spread = spread.sum()
    elif reduction == "mean":
        counted = ~ignored
        total = counted.sum() if weight is None else plain(
            beyond(_counted_weight, weight._array, counted._array, target._array))
        spread = spread.sum() / total
    return _mul_number(hard, 1 - smoothing) + _mul_number(spread, smoothing / classes)


def _counted_weight(weight: Array, counted: Array, target: Array) -> Any:
    """The sum of the weights of the classes that are counted."""
    return np.asarray(weight[np.where(counted, target, 0)][counted].sum())


@public(event="aten::nll_loss_nd")
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
             ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """The negative log-probabilities `input` of the classes `target`, reduced.

    The arguments are those of `cross_entropy`, with log-probabilities for `input` and classes for `target`.

    >>> import retrograd as torch
    >>> torch.nn.functional.nll_loss(torch.tensor([[-1., -2.], [-3., -4.]]), torch.tensor([0, 1]))
    tensor(2.5000)

    Raises IndexError for a class out of bounds, ValueError or RuntimeError if shapes or dtypes do not fit.
    """
    reduction = checked_reduction(reduction, size_average, reduce)
    of_both("nll_loss_nd", input, target)
    check_optional("nll_loss_nd", 3, weight=weight)
    ignore_index = as_int("nll_loss_nd", ignore_index, "ignore_index", 5)
    return _negative_log_likelihood(input, target, weight, ignore_index, reduction)


def _negative_log_likelihood(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int,
                             reduction: str) -> Any:
    x, y = input._array, target._array
    if not (x.ndim == 2 and y.ndim == 1 and y.shape[0] == x.shape[0] and y.dtype in _CLASS_TYPES and weight is None):
        _check(x, y, target, input, weight)
        if weight is not None:
            refuse_gradient("nll_loss_forward" if x.ndim <= 2 else "nll_loss2d_forward", "weight", weight)
    if x.ndim <= 2:
        return _nll_loss(input, target, weight, reduction, ignore_index)
    if x.ndim == 4:
        return _nll_loss2d(input, target, weight, reduction, ignore_index)
    # As PyTorch does, any other number of dimensions becomes an image of one row.
    flat = input.contiguous().view(x.shape[0], x.shape[1], 1, -1)
    losses = _nll_loss2d(flat, target.contiguous().view(x.shape[0], 1, -1), weight, reduction, ignore_index)
    return losses.view(y.shape) if reduction == "none" else losses


def _check(x: Array, y: Array, target: Tensor, input: Tensor, weight: Tensor | None) -> None:
    """Raises ValueError or RuntimeError if shapes or dtypes do not fit."""
    if x.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if x.ndim == 1:
        if y.ndim == 1 and y.shape[0] != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {y.shape[0]}")
    elif y.ndim == 0 or x.shape[0] != y.shape[0]:
        raise noted(
            ValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size "
                       f"({(y.shape[0] if y.ndim else 0)})."), "shapes#batch-of-targets")
    if x.ndim <= 2 and y.ndim > 1:
        raise noted(
            RuntimeError("0D or 1D target tensor expected, multi-target not supported"),
            given=f"the target has shape {list(y.shape)}", instead="target.squeeze(1)" if y.shape[1:] == (1,) else
            "target.float(), if it has a probability for each class" if y.shape == x.shape else "")
    expected = (x.shape[0], *x.shape[2:])
    if x.ndim == 4 and y.ndim != 3:
        raise RuntimeError("only batches of spatial targets supported (3D tensors) but got targets of dimension: "
                           f"{y.ndim}")
    if x.ndim == 4 and y.shape != expected:
        raise RuntimeError(f"size mismatch (got input: {list(x.shape)} , target: {list(y.shape)}")
    if x.ndim > 2 and y.shape != expected:
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(y.shape)}")
    if y.dtype not in _CLASS_TYPES:
        raise noted(
            RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}"),
            "shapes#dtype-of-targets", instead="convert classes with .long()")
    if x.ndim > 2 and y.dtype != np.int64:
        raise noted(RuntimeError("expected scalar type Long but found Byte"), instead="convert classes with .long()")
    if weight is not None:
        classes = x.shape[min(x.ndim - 1, 1)]
        if weight._array.shape != (classes,):
            raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but "
                               f"got weight tensor of shape: {list(weight.shape)}")
        if weight._array.dtype is not x.dtype:
            raise RuntimeError(f"expected scalar type {input.dtype.legacy} but found {weight.dtype.legacy}")


_IGNORED = ("linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            "label_smoothing == 0, target.dtype == int64, out_features == (). ")


@public()
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None,
                         weight: Tensor | None = None, reduction: str = "mean", ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target, …)`.

    `input` is (in_features) or (N, in_features). `linear_weight` is (C, in_features) for one choice among C classes, or
    (C, d1, …, in_features) for several choices. `target`, `weight`, `ignore_index`, `reduction` and `label_smoothing`
    are those of `cross_entropy`. `options` tell PyTorch how to save memory; they change no number. A call for which
    PyTorch ignores them gives a warning.

    >>> import retrograd as torch
    >>> x, w = torch.ones(2, 3), torch.zeros(4, 3)
    >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([0, 3]))
    tensor(1.3863)

    Raises RuntimeError if shapes do not fit, and for `ignore_index` beside a target of probabilities.
    """
    check_tensors("linear_cross_entropy", input=input, linear_weight=linear_weight)
    classes, *several = _class_shape(input, linear_weight, linear_bias)
    shape = (*input.shape[:-1], classes, *several)
    if ignore_index is not None and tuple(target.shape) == shape:
        raise noted(
            RuntimeError("ignore_index cannot be specified when target contains probabilities"),
            instead="leave it out")
    if options is not None and (several or reduction not in ("mean", "sum", "none") or label_smoothing != 0
                                or target.dtype != int64):
        bias = None if linear_bias is None else tuple(linear_bias.shape)
        warn(_IGNORED + f"Got reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
                        f"out_features={tuple(several)}, tracing=False, linear_bias.shape={bias}.", UserWarning)
    if several:
        flat = math.prod((classes, *several))
        linear_weight = linear_weight.reshape(flat, -1)
        linear_bias = None if linear_bias is None else linear_bias.reshape(flat)
    logits = linear(input, linear_weight, linear_bias).reshape(shape)
    return cross_entropy(logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
                         reduction=reduction, label_smoothing=label_smoothing)


def _class_shape(input: Tensor, linear_weight: Tensor, linear_bias: Any) -> tuple[int, ...]:
    """The number of classes, and the sizes of the choices. Raises RuntimeError if shapes do not fit."""
    given, shape = tuple(input.shape), tuple(linear_weight.shape)
    if len(given) not in (1, 2):
        raise noted(
            RuntimeError(f"expected input with dimensionality 1 or 2, got {len(given)}"),
            given=f"the shape is {given}")
    if len(shape) < 2:
        raise noted(
            RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(shape)}"),
            given=f"the shape of linear_weight is {shape}")
    if given[-1] != shape[-1]:
        raise noted(
            RuntimeError(f"expected equal input and linear_weight last dimensions (in_features), got {given[-1]} "
                         f"and {shape[-1]}, respectively"), because="linear_weight is (classes, …, in_features)")
    if linear_bias is not None and tuple(linear_bias.shape) != shape[:-1]:
        raise noted(
            RuntimeError(f"expected linear_bias shape {shape[:-1]}, got {tuple(linear_bias.shape)}"),
            because="the bias has one number for each output")
    if len(shape) > 2 and len(given) == 1:
        raise noted(
            RuntimeError(f"K-dimensional loss defined by linear_weight shape {shape} requires batched input, "
                         f"(N, {shape[-1]}), got unbatched input with shape {given}"),
            instead="use input.unsqueeze(0)")
    return shape[:-1]


@public("one_hot(Tensor input, int num_classes=-1)", event="aten::one_hot", strict=True)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Classes as vectors of zeros with a single one: int64, in the shape of `tensor` with a last dimension of classes.

    Without `num_classes` there are as many classes as the greatest class needs.

    >>> import retrograd as torch
    >>> torch.nn.functional.one_hot(torch.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])

    Raises RuntimeError if `tensor` is not int64, and for classes out of bounds.
    """
    classes = array_of("one_hot", tensor)
    if classes.dtype != np.int64:
        raise noted(
            RuntimeError("one_hot is only applicable to index tensor of type LongTensor."),
            instead="convert with .long()")
    if tensor.is_meta:
        zeros: Tensor = tensor.new_zeros((*classes.shape, num_classes))
        return zeros
    if is_batch(classes):
        if num_classes <= 0:
            raise RuntimeError("When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive "
                               "num_classes argument.")
        return (tensor.unsqueeze(-1) == plain(np.arange(num_classes))).long()
    if is_wrapper(tensor):
        count = int(tensor.max().item()) + 1 if num_classes == -1 else num_classes
        return (tensor.unsqueeze(-1) == plain(np.arange(count))).long()
    if not classes.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return plain(np.zeros((*classes.shape, num_classes), np.int64))
    if num_classes == -1:
        return plain(_one_hot(num_classes, classes))
    return plain(beyond(partial(_one_hot, num_classes), classes))


def _one_hot(num_classes: int, classes: Array) -> Any:
    """The vectors of classes; -1 stands for as many classes as the greatest class needs."""
    if classes.min() < 0:
        raise noted(RuntimeError("Class values must be non-negative."), given=f"the least class is {classes.min()}")
    if num_classes == -1:
        num_classes = int(classes.max()) + 1
    elif classes.max() >= num_classes:
        raise noted(
            RuntimeError("Class values must be smaller than num_classes."),
            given=f"the greatest class is {classes.max()}, and num_classes is {num_classes}")
    vectors = np.zeros((classes.size, num_classes), np.int64)
    vectors.reshape(-1)[classes.reshape(-1) + np.arange(0, vectors.size, num_classes)] = 1
    return vectors.reshape(*classes.shape, num_classes)
