"""Dropout as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from ..functional import dropping as functional
from .layer import Layer

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class _DropoutNd(Layer):
    """A module that drops with probability `p`. Raises ValueError if `p` is outside of [0, 1]."""

    _options_text = "p={self.p}, inplace={self.inplace}"

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        functional.check_probability(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input, self.p, self.training, self.inplace)


class Dropout(_DropoutNd, function=functional.dropout):
    """In training, sets each element to 0 with probability `p` and multiplies the others by 1 / (1 - p).

    In evaluation the input is returned.

    >>> import retrograd as torch
    >>> torch.nn.Dropout(0.2).eval()(torch.ones(2))
    tensor([1., 1.])

    Raises ValueError if `p` is outside of [0, 1].
    """


class Dropout1d(_DropoutNd, function=functional.dropout1d):
    """`Dropout` of whole channels of signals (N, C, L) or (C, L)."""


class Dropout2d(_DropoutNd, function=functional.dropout2d):
    """`Dropout` of whole channels of images (N, C, H, W)."""


class Dropout3d(_DropoutNd, function=functional.dropout3d):
    """`Dropout` of whole channels of volumes (N, C, D, H, W) or (C, D, H, W)."""


class _NeverInPlace(_DropoutNd):
    """Dropout whose option `inplace` has no effect, as in PyTorch."""

    def forward(self, input: Tensor) -> Tensor:
        """The function of the module's name, of the input."""
        return self._function(input, self.p, self.training)


class AlphaDropout(_NeverInPlace, function=functional.alpha_dropout):
    """Sets elements to the lower limit of selu in training, and keeps the mean and the variance."""


class FeatureAlphaDropout(_NeverInPlace, function=functional.feature_alpha_dropout):
    """`AlphaDropout` of whole channels."""
