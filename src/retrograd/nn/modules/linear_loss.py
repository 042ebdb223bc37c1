"""A linear layer and the cross-entropy of what it gives, as one module."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..functional.linear_loss import linear_cross_entropy
from ..module import Module
from .linear import Linear

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


@dataclass
class LinearCrossEntropyOptions:
    """How PyTorch may compute the loss in parts, to save memory. Here it changes nothing."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None


class LinearCrossEntropyLoss(Module):
    """`functional.linear_cross_entropy` with a linear map of its own, from `in_features` to `num_classes` numbers.

    With `out_features` it chooses among the classes as many times as these sizes say.

    >>> import retrograd as torch
    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 5)
    >>> loss(torch.ones(2, 3), torch.tensor([0, 4])).shape, [*loss.state_dict()]
    (torch.Size([]), ['linear.weight'])
    """

    def __init__(self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
                 device: Any = None, dtype: Any = None, reduction: str = "mean", weight: Any = None,
                 ignore_index: int | None = None, label_smoothing: float = 0.0,
                 options: LinearCrossEntropyOptions | None = None) -> None:
        super().__init__()
        self.in_features, self.num_classes, self.out_features = in_features, num_classes, tuple(out_features)
        self.reduction, self.ignore_index, self.label_smoothing = reduction, ignore_index, label_smoothing
        self.options = options
        self.register_buffer("weight", weight)
        self.linear = Linear(in_features, num_classes * math.prod(self.out_features), bias, device, dtype)

    def forward(self, input: Any, target: Any) -> Any:
        """The loss of input and target."""
        shape, bias = (self.num_classes, *self.out_features), self.linear.bias
        return linear_cross_entropy(
            input, self.linear.weight.view(*shape, self.in_features), target,
            linear_bias=None if bias is None else bias.view(shape), weight=self._buffers["weight"],
            reduction=self.reduction, ignore_index=self.ignore_index, label_smoothing=self.label_smoothing,
            options=self.options)

    def extra_repr(self) -> str:
        """What it was made with."""
        return (f"in_features={self.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
                f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
                f"label_smoothing={self.label_smoothing}, options={self.options}")
