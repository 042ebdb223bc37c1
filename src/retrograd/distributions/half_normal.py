"""The half-normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retrograd import Tensor

from .folded import _Folded
from .normal import Normal

if TYPE_CHECKING:
    from .distribution import Distribution

__all__ = ["HalfNormal"]


class HalfNormal(_Folded):
    """The distribution of |x| for a normal x with the mean 0 and the standard deviation `scale`.

    >>> import retrograd as torch
    >>> torch.distributions.HalfNormal(2.0).mean
    tensor(1.5958)
    """

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        return self._expanded(HalfNormal, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
