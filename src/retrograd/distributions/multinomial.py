"""The multinomial distribution: how often each category comes in a number of draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .chances import _OfCategorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(_OfCategorical, Distribution):
    """The counts of the categories in `total_count` draws from a Categorical with these parameters.

    >>> import retrograd as torch
    >>> torch.distributions.Multinomial(8, torch.tensor([1.0, 3.0])).mean
    tensor([2., 6.])

    Raises NotImplementedError if `total_count` is not an int.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
                 validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._get_checked_instance(Multinomial, _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(Size(batch_shape))
        new._binomial = self._binomial.expand(Size(batch_shape) + self._event_shape)
        return self._expanded(Multinomial, batch_shape, new)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        draws = self._categorical.sample(Size((self.total_count,)) + Size(sample_shape))
        draws = draws.permute(*range(1, draws.dim()), 0)
        counts = draws.new(self._extended_shape(sample_shape)).zero_()
        counts.scatter_add_(-1, draws, torch.ones_like(draws))
        return counts.type_as(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        choices = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -torch.inf)] = 0
        return choices + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weighted = torch.exp(self._binomial.log_prob(counts)) * torch.lgamma(counts + 1)
        entropy = self._categorical.entropy()
        n = entropy.new_tensor(self.total_count)
        return n * entropy - torch.lgamma(n + 1) + weighted.sum([0, -1])
