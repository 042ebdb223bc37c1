"""Losses with margins, likelihoods and sequences, as modules. Each calls the function of its name with its options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import warn
from ..functional import ctc, likelihood, margins
from .distance import PairwiseDistance
from .loss import NLLLoss, _Loss, _WeightedLoss

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class CTCLoss(_Loss):
    """The negative log-likelihood of sequences of labels whose places in time are not known, reduced."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        """`functional.ctc_loss` of these."""
        return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                            self.zero_infinity)


class GaussianNLLLoss(_Loss):
    """The negative log-likelihood of samples of normal distributions, reduced."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Any, target: Any, var: Any) -> Any:
        """`functional.gaussian_nll_loss` of means, samples and variances."""
        return likelihood.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts of Poisson distributions, reduced."""

    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Any, target: Any) -> Any:
        """`functional.poisson_nll_loss` of rates and counts."""
        return likelihood.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
                                           reduction=self.reduction)


class _MarginLoss(_Loss):
    """A loss with a margin of 0, unless another is given."""

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """The input where the target is 1, max(0, margin - input) where it is -1; reduced."""

    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.hinge_embedding_loss` of input and target."""
        return margins.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos of the angle where the target is 1, max(0, cos - margin) where it is -1; reduced."""

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """`functional.cosine_embedding_loss` of the inputs and the target."""
        return margins.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(_MarginLoss):
    """max(0, margin - target * (input1 - input2)), reduced."""

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """`functional.margin_ranking_loss` of the inputs and the target."""
        return margins.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)) with targets of 1 and -1, reduced."""

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.soft_margin_loss` of input and target."""
        return margins.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """How much the classes that are not listed as targets come nearer to those that are than 1, reduced."""

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.multilabel_margin_loss` of input and target."""
        return margins.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean of the cross-entropies of sigmoid(input) with labels, reduced."""

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.multilabel_soft_margin_loss` of input and target."""
        return likelihood.multilabel_soft_margin_loss(input, target, self._buffers["weight"], reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """How much other classes come nearer to the target than the margin, or the square of that; reduced."""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError("MultiMarginLoss: expected weight to be None or 1D tensor, got "
                             f"{weight.dim()}D instead")
        self.p, self.margin = p, margin

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.multi_margin_loss` of input and target."""
        return margins.multi_margin_loss(input, target, self.p, self.margin, self._buffers["weight"],
                                         reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) with p-norms of differences for d; reduced."""

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """`functional.triplet_margin_loss` of the three."""
        return margins.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps, self.swap,
                                           reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with any function of two tensors for the distance."""

    def __init__(self, *, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0,
                 swap: bool = False, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} "
                             "instead")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """`functional.triplet_margin_with_distance_loss` of the three."""
        return margins.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """`NLLLoss`, by its old name, which is warned of."""

    def __init__(self, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
             "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.", FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
