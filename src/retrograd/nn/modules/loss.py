"""Losses as modules. Each module calls the function of its name with its own options.

`reduction` is "mean", "sum" or "none". `size_average` and `reduce` are deprecated ways to say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import warn
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import classes, ctc, loss as functional, margins
from ..functional.reduction import checked_reduction
from .distance import PairwiseDistance
from .layer import Layer
from .linear import Linear
from .linear_cross_entropy_options import LinearCrossEntropyOptions
from .module.members import Member

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss",
    "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss",
    "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _Loss(Layer):
    """A loss and its reduction."""

    reduction: str

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        legacy = size_average is not None or reduce is not None
        self.reduction = checked_reduction(reduction, size_average, reduce) if legacy else reduction


class _OfTarget(_Loss):
    """A loss of input and target. The function also takes the attributes that `_options` names."""

    _options: tuple[str, ...] = ()

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The function of the loss, of input and target."""
        options = {name: getattr(self, name) for name in self._options}
        return self._function(input, target, reduction=self.reduction, **options)


class _WeightedLoss(_OfTarget):
    """A loss with weights. The weights are a buffer, and so part of the state."""

    weight = Member("_buffers")
    _options: tuple[str, ...] = ("weight",)

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_OfTarget, function=functional.mse_loss):
    """The squared differences of input and target, reduced.

    >>> import retrograd as torch
    >>> torch.nn.MSELoss()(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """


class L1Loss(_OfTarget, function=functional.l1_loss):
    """The absolute differences of input and target, reduced."""


class SmoothL1Loss(_OfTarget, function=functional.smooth_l1_loss):
    """Absolute differences less beta / 2, and diff² / (2 * beta) if they are less than `beta`; reduced."""

    _options = ("beta",)

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 beta: float = 1.0) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_OfTarget, function=functional.huber_loss):
    """Half the squared differences, continued by a line if they are greater than `delta`; reduced.

    Raises TypeError if `delta` is no number.
    """

    _options = ("delta",)

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta


class KLDivLoss(_OfTarget, function=functional.kl_div):
    """The Kullback-Leibler divergence of log-probabilities `input` from a target of probabilities, reduced.

    `reduction` is also "batchmean", which divides the sum by the size of the first dimension.
    """

    _options = ("log_target",)

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 log_target: bool = False) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class BCELoss(_WeightedLoss, function=functional.binary_cross_entropy):
    """The cross-entropy of probabilities with probabilities, for two classes; reduced."""


class BCEWithLogitsLoss(_OfTarget, function=functional.binary_cross_entropy_with_logits):
    """The cross-entropy of sigmoid(input) with probabilities, for two classes; reduced.

    It is computed in one step, without overflow. `weight` and `pos_weight` are buffers.
    """

    _options = ("weight", "pos_weight")

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)


class CrossEntropyLoss(_WeightedLoss):
    """The cross-entropy of softmax(input) with classes or with probabilities of classes, reduced.

    `input` is (C), (N, C) or (N, C, d1, …). See `functional.cross_entropy` for the target and the options.

    >>> import retrograd as torch
    >>> torch.nn.CrossEntropyLoss()(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """`functional.cross_entropy` of input and target."""
        return classes.cross_entropy(input, target, self.weight, ignore_index=self.ignore_index,
                                     reduction=self.reduction, label_smoothing=self.label_smoothing)


class NLLLoss(_WeightedLoss, function=classes.nll_loss):
    """The negative log-probabilities of the target's classes, reduced."""

    _options = ("weight", "ignore_index")

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class LinearCrossEntropyLoss(_WeightedLoss):
    """`functional.linear_cross_entropy` with a linear map of its own, from `in_features` to `num_classes` numbers.

    `out_features` has the sizes of several choices among the classes.

    >>> import retrograd as torch
    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 5)
    >>> loss(torch.ones(2, 3), torch.tensor([0, 4])).shape, [*loss.state_dict()]
    (torch.Size([]), ['linear.weight'])

    Raises RuntimeError if `weight` has not the shape (num_classes), or if `label_smoothing` is not between 0 and 1.
    """

    def __init__(self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None, reduction: str = "mean",
                 weight: Tensor | None = None, ignore_index: int | None = None, label_smoothing: float = 0.0,
                 options: LinearCrossEntropyOptions | None = None) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if label_smoothing < 0 or label_smoothing > 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features, self.options = num_classes, out_features, options
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of input and target."""
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return classes.linear_cross_entropy(
            input, self.linear.weight.reshape(*shape, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
            options=self.options)

    def extra_repr(self) -> str:
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
                f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
                f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}")


class CTCLoss(_Loss):
    """The negative log-likelihood of sequences of labels whose places in time are not known, reduced."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
                target_lengths: Tensor | Sequence[int]) -> Tensor:
        """`functional.ctc_loss` of the arguments."""
        return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                            self.zero_infinity)


class GaussianNLLLoss(_Loss):
    """The negative log-likelihood of samples under normal distributions, reduced."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        """`functional.gaussian_nll_loss` of means, samples and variances."""
        return functional.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(_Loss):
    """The negative log-likelihood of counts under Poisson distributions, reduced."""

    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """`functional.poisson_nll_loss` of rates and counts."""
        return functional.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
                                           reduction=self.reduction)


class _OfTwoInputs(_Loss):
    """A loss of two inputs and a target, with a margin."""

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The function of the loss, of the inputs and the target."""
        return self._function(input1, input2, target, self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(_OfTarget, function=margins.hinge_embedding_loss):
    """The input if the target is 1, max(0, margin - input) if it is -1; reduced."""

    _options = ("margin",)

    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class CosineEmbeddingLoss(_OfTwoInputs, function=margins.cosine_embedding_loss):
    """1 - cos of the angle if the target is 1, max(0, cos - margin) if it is -1; reduced."""


class MarginRankingLoss(_OfTwoInputs, function=margins.margin_ranking_loss):
    """max(0, margin - target * (input1 - input2)), reduced."""


class SoftMarginLoss(_OfTarget, function=margins.soft_margin_loss):
    """log(1 + exp(-target * input)) with targets of 1 and -1, reduced."""


class MultiLabelMarginLoss(_OfTarget, function=margins.multilabel_margin_loss):
    """The sum of max(0, 1 - input[t] + input[j]) / C over target classes t and other classes j, reduced."""


class MultiLabelSoftMarginLoss(_WeightedLoss, function=margins.multilabel_soft_margin_loss):
    """The mean cross-entropy of sigmoid(input) with labels along the last dimension, reduced."""


class MultiMarginLoss(_WeightedLoss, function=margins.multi_margin_loss):
    """The mean over the wrong classes j of max(0, margin - input[target] + input[j]) ** p, reduced over the batch.

    Raises ValueError if `p` is neither 1 nor 2, and for a weight that is not a vector.
    """

    _options = ("p", "margin", "weight")

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError("MultiMarginLoss: expected weight to be None or 1D tensor, got "
                             f"{weight.dim()}D instead")
        self.p, self.margin = p, margin


class TripletMarginLoss(_Loss):
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) for the distance d by the p-norm, reduced.

    Raises ValueError if `margin` is not positive.
    """

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """`functional.triplet_margin_loss` of the three tensors."""
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

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """`functional.triplet_margin_with_distance_loss` of the three tensors."""
        return margins.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """`NLLLoss` by its old name. Warns that the name is deprecated."""

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
             "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.", FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
