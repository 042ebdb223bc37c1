"""Distributions that are symmetric about their location."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from retrograd import Tensor

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all


class _Symmetric:
    """A distribution, or a part of one, whose mean and whose mode are `loc`."""

    loc: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean: the location."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The value with the greatest density: the location."""
        return self.loc


class _LocationScale(_Symmetric, Distribution):
    """A distribution, or a part of one, with the location `loc` and the width `scale`, numbers or tensors."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        return self._expanded(_LocationScale, batch_shape, _instance, loc=0, scale=0)
