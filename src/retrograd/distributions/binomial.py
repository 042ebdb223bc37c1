"""The binomial distribution: how many of a number of trials succeed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .chances import _Chances
from .distribution import Distribution

__all__ = ["Binomial"]


class Binomial(_Chances, Distribution):
    """The number of successes in `total_count` trials, which succeed with the probability `probs`.

    >>> import retrograd as torch
    >>> torch.distributions.Binomial(4, torch.tensor([0.25, 0.5])).mean
    tensor([1., 2.])
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
                       "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None,
                 validate_args: bool | None = None) -> None:
        super().__init__(self._take_with_count(total_count, probs, logits), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        return self._expanded(Binomial, batch_shape, _instance, total_count=0, probs=0, logits=0)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        choices = [torch.lgamma(count + 1) for count in (self.total_count, value, self.total_count - value)]
        # Where the logit is 0, the gradient of the maximum with 0 is 1 / 2.
        above = (self.logits.clamp(min=0) + self.logits - self.logits.clamp(max=0)) / 2
        normalizer = (self.total_count * above + self.total_count * torch.log1p(torch.exp(-torch.abs(self.logits)))
                      - choices[0])
        return value * self.logits - choices[1] - choices[2] - normalizer

    def entropy(self) -> Tensor:
        self._common_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(1 + self._common_count("enumerate_support"), dtype=self._param.dtype)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def _common_count(self, method: str) -> int:
        """The number of trials. Raises NotImplementedError if it differs within the batch."""
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return count
