"""Dropout as modules."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from ..functional import dropping as functional
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """A module that drops with probability `p`. Raises ValueError if `p` is outside of [0, 1]."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        functional.check_probability(p)
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, sets each element to 0 with probability `p` and multiplies the others by 1 / (1 - p).

    In evaluation the input is returned.

    >>> import retrograd as torch
    >>> torch.nn.Dropout(0.2).eval()(torch.ones(2))
    tensor([1., 1.])

    Raises ValueError if `p` is outside of [0, 1].
    """

    def forward(self, input: Tensor) -> Tensor:
        """`functional.dropout` of the input."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """`Dropout` of whole channels of signals (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.dropout1d` of the input."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """`Dropout` of whole channels of images (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.dropout2d` of the input."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """`Dropout` of whole channels of volumes (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.dropout3d` of the input."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Sets elements to the lower limit of selu in training, and keeps the mean and the variance."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.alpha_dropout` of the input."""
        return functional.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """`functional.feature_alpha_dropout` of the input."""
        return functional.feature_alpha_dropout(input, self.p, self.training)
