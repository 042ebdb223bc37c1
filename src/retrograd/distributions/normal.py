"""The normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

import retrograd as torch
from retrograd import Size, Tensor

from .exp_family import ExponentialFamily
from .symmetric import _LocationScale
from .utils import _standard_normal

__all__ = ["Normal"]


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution with the mean `loc` and the standard deviation `scale`, numbers or tensors.

    >>> import retrograd as torch
    >>> d = torch.distributions.Normal(0.0, torch.tensor([1.0, 2.0]))
    >>> d.log_prob(torch.tensor(1.0)), d.rsample((3,)).shape
    (tensor([-1.4189, -1.7371]), torch.Size([3, 2]))
    """

    _mean_carrier_measure = 0

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        squares = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return squares - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + torch.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:                # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)
