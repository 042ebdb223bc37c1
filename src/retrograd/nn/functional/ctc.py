"""The loss of connectionist temporal classification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import kind_of, noted, span
from ...kernels.networks import ctc as kernels
from ...ops.networks import ctc as ops
from ...tensors.arguments.combinations import combination
from ...tensors.arguments.schemas import schemas
from ...tensors.functions.elementwise.comparison import where
from ...tensors.functions.shapes.shape import unsqueeze
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.state.base import TensorBase, plain
from ...tensors.state.inside import refuse_samples
from ...tensors.tensor import Tensor
from .reduction import checked_reduction, reduced

__all__ = ["ctc_loss"]

_ctc_loss = recorded(ops.ctc_loss)
_CHECKING = " (while checking arguments for ctc_loss_allocate_outputs)"

_LAST = "int blank=0, int reduction=at::Reduction::Mean, bool zero_infinity=False)"
_SCHEMAS = (f"ctc_loss(Tensor log_probs, Tensor targets, ints input_lengths, ints target_lengths, {_LAST}",
            f"ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, {_LAST}")


@public()
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = "mean",
             zero_infinity: bool = False) -> Tensor:
    """The negative log-likelihood of sequences of labels whose places in time are not known, reduced.

    `log_probs` are log-probabilities of shape (T, N, C) or (T, C), for T steps, N samples and C classes; `log_softmax`
    makes them. `targets` are classes as ints: (N, S), or all sequences joined in one row. Both lengths are int tensors
    (N) or sequences of N ints. `blank` is the class of no label. With "mean" each sample is divided by the number of
    its labels first. With `zero_infinity` a sample whose labels do not fit into its steps counts 0.

    >>> import retrograd as torch
    >>> scores = torch.zeros(3, 1, 2).log_softmax(2)
    >>> torch.nn.functional.ctc_loss(scores, torch.tensor([[1]]), torch.tensor([3]), torch.tensor([1]))
    tensor(0.2877)

    As in PyTorch, the gradient is right if `log_probs` come from `log_softmax`. Raises RuntimeError if shapes, dtypes,
    lengths or labels do not fit.
    """
    checked_reduction(reduction)
    kinds = {isinstance(lengths, TensorBase) for lengths in (input_lengths, target_lengths)}
    if not (isinstance(log_probs, TensorBase) and isinstance(targets, TensorBase) and len(kinds) == 1):
        given = log_probs, targets, input_lengths, target_lengths, blank, 1, zero_infinity
        raise combination(schemas(_SCHEMAS), given, {}, kind_of)
    refuse_samples("ctc_loss", targets, *[each for each in (input_lengths, target_lengths)
                                          if isinstance(each, TensorBase)])
    times, lengths = _lengths("input_lengths", input_lengths), _lengths("target_lengths", target_lengths)
    batched = log_probs._array.ndim == 3
    scores = log_probs if batched else unsqueeze(log_probs, 1)
    labels = _checked(scores._array, targets._array, times, lengths, blank)
    loss = _ctc_loss(scores, kernels.states(labels, times, lengths, blank), bool(zero_infinity))
    if zero_infinity:
        loss = where(loss == float("inf"), 0.0, loss)
    if reduction == "mean":
        loss = loss / plain(np.maximum(lengths, 1).astype(loss._array.dtype))
    loss = reduced(loss, reduction)
    return loss if batched or reduction != "none" else loss.squeeze(0)


def _lengths(name: str, lengths: Any) -> Any:
    array = lengths._array if isinstance(lengths, TensorBase) else np.array(lengths)
    if array.dtype.kind not in "iu" and array.size:
        raise RuntimeError(f"{name} must be integral")
    return array.astype(np.int64).reshape(-1)


def _checked(scores: Array, targets: Array, times: Array, lengths: Array, blank: int) -> Any:
    """The labels, a row for each sample. Raises RuntimeError for what does not fit."""
    if not scores.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if scores.ndim != 3:
        raise RuntimeError(f"Expected 3-dimensional tensor, but got {scores.ndim}-dimensional tensor for argument #1 "
                           f"'log_probs'{_CHECKING}")
    if not 1 <= targets.ndim <= 2:
        raise RuntimeError(f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 "
                           f"'targets'{_CHECKING}")
    steps, count, classes = scores.shape
    if not 0 <= blank < classes:
        raise noted(
            RuntimeError("blank must be in label range"), given=f"blank is {blank}, and there are {classes} classes")
    for name, given in (("input_lengths", times), ("target_lengths", lengths)):
        if given.size != count:
            raise noted(RuntimeError(f"{name} must be of size batch_size"), given=f"{given.size} is not {count}")
        if given.min() < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {given.min()}{_CHECKING}")
    _check_size(targets, count, lengths)
    if times.max() > steps:
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {times.max()}"
                           f"{_CHECKING}")
    labels = targets.astype(np.int64)
    labels = kernels.padded(labels, lengths) if labels.ndim == 1 else labels[:, : lengths.max()]
    used = labels[np.arange(labels.shape[1]) < lengths[:, None]]
    if used.size and not (used.min() >= 0 and used.max() < classes):
        raise noted(
            RuntimeError("targets must be in label range"),
            given=f"targets of {span(used.min(), used.max())}, and {classes} classes")
    return labels


def _check_size(targets: Array, count: int, lengths: Array) -> None:
    """Raises RuntimeError if the lengths do not fit the number of labels."""
    size = targets.shape[0]
    expected = int(lengths.sum()) if targets.ndim == 1 else count
    if size != expected:
        raise RuntimeError(f"Expected tensor to have size {expected} at dimension 0, but got size {size} for argument "
                           f"#2 'targets'{_CHECKING}")
    if targets.ndim == 2 and targets.shape[1] < lengths.max():
        raise RuntimeError(f"Expected tensor to have size at least {lengths.max()} at dimension 1, but got size "
                           f"{targets.shape[1]} for argument #2 'targets'{_CHECKING}")
