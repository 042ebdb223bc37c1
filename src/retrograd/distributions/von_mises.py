"""The von Mises distribution: angles near a direction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .distribution import Distribution
from .symmetric import _Symmetric
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(_Symmetric, Distribution):
    """Angles from -pi to pi with a density in proportion to exp(concentration * cos(x - loc)).

    >>> import retrograd as torch
    >>> torch.distributions.VonMises(torch.tensor([0.5]), 2.0).mean
    tensor([0.5000])
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape),
                          validate_args=self.__dict__.get("_validate_args"))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # i0e is the Bessel function divided by exp(concentration)
        return (self.concentration * (torch.cos(value - self.loc) - 1) - math.log(2 * math.pi)
                - torch.special.i0e(self.concentration).log())

    @lazy_property
    def _loc(self) -> Tensor:
        return self.loc.to(torch.double)

    @lazy_property
    def _concentration(self) -> Tensor:
        return self.concentration.to(torch.double)

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The shape of the wrapped Cauchy distribution from which samples are proposed."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        """Samples by rejection (Best and Fisher, 1979), computed in double precision."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            r, kappa = self._proposal_r, self._concentration
            angles = torch.zeros(shape, dtype=torch.double)
            done = torch.zeros(shape, dtype=torch.bool)
            while not done.all():
                turn, chance, sign = torch.rand((3, *shape), dtype=torch.double).unbind()
                z = torch.cos(math.pi * turn)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = (c * (2 - c) - chance > 0) | ((c / chance).log() + 1 - c >= 0)
                angles = torch.where(accepted, (sign - 0.5).sign() * f.acos(), angles)
                done = done | accepted
            return ((angles + math.pi + self._loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance."""
        return 1 - (torch.special.i1e(self.concentration).log() - torch.special.i0e(self.concentration).log()).exp()
