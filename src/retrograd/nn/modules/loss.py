"""Losses as modules. Each calls the function of its name, with the options that it was made with."""

from __future__ import annotations

from typing import Any

from ..functional import classes, loss as functional
from ..functional.reduction import checked_reduction
from ..module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    """A loss and how it is reduced."""

    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = checked_reduction(reduction, size_average, reduce) if legacy else reduction


class _WeightedLoss(_Loss):
    """A loss with weights, which are a buffer and so part of the state."""

    def __init__(self, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """The squared differences of input and target, reduced.

    >>> import retrograd as torch
    >>> torch.nn.MSELoss()(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.mse_loss` of input and target."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The absolute differences of input and target, reduced."""

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.l1_loss` of input and target."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Absolute differences, rounded off to squares where they are less than `beta`; reduced."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 beta: float = 1.0) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.smooth_l1_loss` of input and target."""
        return functional.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the squared differences, made straight where they are more than `delta`; reduced."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.huber_loss` of input and target."""
        return functional.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence of log-probabilities from a target, reduced."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 log_target: bool = False) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.kl_div` of input and target."""
        return functional.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """The cross-entropy of probabilities with probabilities, for two classes; reduced."""

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.binary_cross_entropy` of input and target."""
        return functional.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """The cross-entropy of sigmoid(input) with probabilities, computed at once; reduced."""

    def __init__(self, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.binary_cross_entropy_with_logits` of input and target."""
        return functional.binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight)


class CrossEntropyLoss(_WeightedLoss):
    """The cross-entropy of softmax(input) with classes or with probabilities of classes, reduced."""

    def __init__(self, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.cross_entropy` of input and target."""
        return classes.cross_entropy(input, target, self._buffers["weight"], ignore_index=self.ignore_index,
                                     reduction=self.reduction, label_smoothing=self.label_smoothing)


class NLLLoss(_WeightedLoss):
    """The negative of log-probabilities at the target's classes, reduced."""

    def __init__(self, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        """`functional.nll_loss` of input and target."""
        return classes.nll_loss(input, target, self._buffers["weight"], ignore_index=self.ignore_index,
                                reduction=self.reduction)
