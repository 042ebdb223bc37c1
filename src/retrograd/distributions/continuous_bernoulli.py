"""The continuous Bernoulli distribution: numbers between 0 and 1 with an exponential density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import retrograd as torch
from retrograd import Size, Tensor
from retrograd.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from .chances import _Chances, batch_of, given
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

if TYPE_CHECKING:
    from .distribution import Distribution

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(_Chances, ExponentialFamily):
    """Numbers from 0 to 1 with a density in proportion to probs ** x * (1 - probs) ** (1 - x).

    Within `lims`, near 1 / 2, the formulas are unstable, and Taylor series replace them.

    >>> import retrograd as torch
    >>> torch.distributions.ContinuousBernoulli(0.5).mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        name, value = given(probs, logits)
        (parameter,) = broadcast_all(value)
        if name == "probs":
            if validate_args is not None and not self.arg_constraints["probs"].check(parameter).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(parameter)
        else:
            self.logits = parameter
        self._lims = lims
        super().__init__(batch_of(parameter, value), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter of the density, between 0 and 1, and neither of them."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._get_checked_instance(ContinuousBernoulli, _instance)
        new._lims = self._lims
        return self._expanded(ContinuousBernoulli, batch_shape, new, probs=0, logits=0)

    def _outside_unstable_region(self) -> Tensor:
        return torch.max(torch.le(self.probs, self._lims[0]), torch.gt(self.probs, self._lims[1]))

    def _cut_probs(self) -> Tensor:
        """The probabilities, but the lower limit within the limits, where the formulas are not used."""
        return torch.where(self._outside_unstable_region(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Tensor:
        """The logarithm of the factor that makes the density integrate to 1."""
        cut = self._cut_probs()
        below = torch.where(cut <= 0.5, cut, torch.zeros_like(cut))
        above = torch.where(cut >= 0.5, cut, torch.ones_like(cut))
        exact = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut))) - torch.where(
            cut <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = torch.pow(self.probs - 0.5, 2)
        return self._where_stable(exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    def _where_stable(self, exact: Tensor, near: Tensor) -> Tensor:
        return torch.where(self._outside_unstable_region(), exact, near)

    @property
    def mean(self) -> Tensor:
        cut, x = self._cut_probs(), self.probs - 0.5
        exact = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        return self._where_stable(exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x)

    @property
    def stddev(self) -> Tensor:
        return torch.sqrt(self.variance)

    @property
    def variance(self) -> Tensor:
        cut, x = self._cut_probs(), torch.pow(self.probs - 0.5, 2)
        exact = (cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2)
                 + 1.0 / torch.pow(torch.log1p(-cut) - torch.log(cut), 2))
        return self._where_stable(exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut_probs()
        exact = (torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = self._where_stable(exact, value)
        return torch.where(torch.le(value, 0.0), torch.zeros_like(value),
                           torch.where(torch.ge(value, 1.0), torch.ones_like(value), inside))

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        above = torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)
        return self._where_stable(above / (torch.log(cut) - torch.log1p(-cut)), value)

    def entropy(self) -> Tensor:
        log_rest, log_probs = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (log_rest - log_probs) - self._cont_bern_log_norm() - log_rest

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        outside = torch.max(torch.le(x, self._lims[0] - 0.5), torch.gt(x, self._lims[1] - 0.5))
        cut = torch.where(outside, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        exact = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        near = 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0
        return torch.where(outside, exact, near)
