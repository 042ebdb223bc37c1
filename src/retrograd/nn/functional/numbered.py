"""Losses as torch itself offers them: a number stands for the reduction, 0 for "none", 1 for "mean", 2 for "sum".

They compute what the functions of torch.nn.functional compute, without the checks and warnings that come first there.
PyTorch documents a default reduction of 1, but its functions do not reduce by default; these do not either.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...foundations.errors import noted
from ...kernels.shape import common_shape
from ...tensors.arguments.options import check_tensors
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor
from . import ctc, loss, margins
from .reduction import reduced

__all__ = [
    "binary_cross_entropy_with_logits", "cosine_embedding_loss", "ctc_loss", "hinge_embedding_loss", "kl_div",
    "margin_ranking_loss", "poisson_nll_loss", "triplet_margin_loss",
]


def _word(reduction: int) -> str:
    """The name of a reduction. As in PyTorch, any other number stands for "none"."""
    return {1: "mean", 2: "sum"}.get(reduction, "none")


@public()
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
             target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: int = 0,
             zero_infinity: bool = False) -> Tensor:
    """The negative log-likelihood of sequences of labels whose places in time are not known, reduced."""
    return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, _word(reduction), zero_infinity)


@public()
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0) -> Tensor:
    """`input` if the target is 1, max(0, margin - input) if it is -1; reduced."""
    return margins.hinge_embedding_loss(input, target, margin, reduction=_word(reduction))


@public()
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                          reduction: int = 0) -> Tensor:
    """1 - cos of the angle if the target is 1, max(0, cos - margin) if it is -1; reduced."""
    return margins.cosine_embedding_loss(input1, input2, target, margin, reduction=_word(reduction))


@public()
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,
                        reduction: int = 0) -> Tensor:
    """max(0, margin - target * (input1 - input2)), reduced."""
    return margins.margin_ranking(input1, input2, target, margin, _word(reduction))


@public()
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0,
                        eps: float = 1e-6, swap: bool = False, reduction: int = 0) -> Tensor:
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) for the distance d by the p-norm, reduced."""
    return margins.triplet_margin(anchor, positive, negative, margin, p, eps, swap, _word(reduction))


@public()
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """The negative log-likelihood of counts under Poisson distributions, reduced."""
    return loss.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_word(reduction))


@public()
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Tensor:
    """The Kullback-Leibler divergence of log-probabilities `input` from `target`, reduced."""
    return reduced(loss.divergence(input, target, log_target), _word(reduction))


@public()
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                     pos_weight: Tensor | None = None, reduction: int = 0) -> Tensor:
    """The cross-entropy of sigmoid(`input`) with probabilities `target`, reduced. The input is broadcast."""
    check_tensors("binary_cross_entropy_with_logits", input=input, target=target)
    have, shape = target._array.shape, common_shape(input._array.shape, target._array.shape)
    if shape != have:
        raise noted(
            RuntimeError(f"output with shape {list(have)} doesn't match the broadcast shape {list(shape)}"),
            because="only the input is broadcast")
    if input._array.shape != shape:
        input = input.expand(shape)
    return loss.cross_entropy_of_logits(input, target, weight, pos_weight, _word(reduction))
