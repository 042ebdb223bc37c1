"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution, of the excess over a high threshold `loc`.

    With z = (x - loc) / scale and c = concentration, the probability of more than x is `(1 + c * z) ** (-1 / c)`, and
    exp(-z) if c is 0.

    >>> import retrograd as torch
    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.25).mean
    tensor(1.3333)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, concentration: Tensor | float,
                 validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        return self._expanded(GeneralizedPareto, batch_shape, _instance, loc=0, scale=0, concentration=0)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    @property
    def mean(self) -> Tensor:
        exists = self.concentration < 1
        concentration = torch.where(exists, self.concentration, 0.5)
        return torch.where(exists, self.loc + self.scale / (1 - concentration), math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        exists = self.concentration < 0.5
        concentration = torch.where(exists, self.concentration, 0.25)
        return torch.where(exists, self.scale**2 / ((1 - concentration) ** 2 * (1 - 2 * concentration)), math.nan)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _split(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentration with 1 in these places, to divide by."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, 1.0, self.concentration)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        drawn = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(drawn)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, concentration = self._split()
        power = 1 / concentration + torch.ones_like(z)
        decay = torch.where(power == 0, power, power * torch.log1p(concentration * z))
        return -self.scale.log() - torch.where(zero, z, decay)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of more than `value`."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, concentration = self._split()
        return torch.where(zero, -z, -torch.log1p(concentration * z) / concentration)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, concentration = self._split()
        logarithm = torch.log1p(-value)
        exponential = self.loc - self.scale * logarithm
        return torch.where(zero, exponential, self.loc + self.scale / concentration * torch.expm1(
            -concentration * logarithm))

    def entropy(self) -> Tensor:
        return (torch.log(self.scale) + self.concentration + 1).expand(self._batch_shape)
