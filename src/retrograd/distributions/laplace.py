"""The Laplace distribution."""

from __future__ import annotations

from collections.abc import Sequence

import retrograd as torch
from retrograd import Size, Tensor

from .symmetric import _LocationScale

__all__ = ["Laplace"]


class Laplace(_LocationScale):
    """The Laplace distribution, with the density `exp(-|x - loc| / scale) / (2 * scale)`.

    >>> import retrograd as torch
    >>> d = torch.distributions.Laplace(0.0, 2.0)
    >>> d.variance, d.cdf(torch.tensor(0.0))
    (tensor(8.), tensor(0.5000))
    """

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return (2**0.5) * self.scale

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        eps = torch.finfo(self.loc.dtype).eps
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * torch.log1p(-drawn.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * torch.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        centered = value - 0.5
        return self.loc - self.scale * centered.sign() * torch.log1p(-2 * centered.abs())

    def entropy(self) -> Tensor:
        return 1 + torch.log(2 * self.scale)
