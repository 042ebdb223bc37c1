"""The Cauchy distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import retrograd as torch
from retrograd import Size, Tensor

from .symmetric import _LocationScale

__all__ = ["Cauchy"]


class Cauchy(_LocationScale):
    """The Cauchy (Lorentz) distribution with the median `loc` and the half width `scale`. It has no mean.

    >>> import retrograd as torch
    >>> d = torch.distributions.Cauchy(0.0, 1.0)
    >>> d.mean, d.cdf(torch.tensor(1.0))
    (tensor(nan), tensor(0.7500))
    """

    @property
    def mean(self) -> Tensor:
        return self._everywhere(math.nan)

    @property
    def variance(self) -> Tensor:
        return self._everywhere(math.inf)

    def _everywhere(self, number: float) -> Tensor:
        return torch.full(self._extended_shape(), number, dtype=self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
