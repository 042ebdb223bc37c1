"""Mixtures of distributions of one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """Samples of one of k distributions, which is drawn first.

    `mixture_distribution` is a Categorical of k categories. `component_distribution` is a batch of distributions; its
    last batch dimension has k elements.

    >>> import retrograd as torch
    >>> weights = torch.distributions.Categorical(torch.tensor([1.0, 3.0]))
    >>> parts = torch.distributions.Poisson(torch.tensor([4.0, 8.0]))
    >>> torch.distributions.MixtureSameFamily(weights, parts).mean
    tensor(7.)

    Raises ValueError if an argument is no such distribution, or if the shapes do not fit.
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False

    def __init__(self, mixture_distribution: Categorical, component_distribution: Distribution,
                 validate_args: bool | None = None) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        mixed, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(1 not in pair and pair[0] != pair[1] for pair in zip(reversed(mixed), reversed(batch))):
            raise ValueError(f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                             f"`component_distribution.batch_shape`({batch})")
        k, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if k != components:
            raise ValueError(f"`mixture_distribution component` ({k}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({components})")
        self._num_component = components
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        batch_shape = Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        return self._expanded(MixtureSameFamily, batch_shape, new)

    @constraints.dependent_property
    def support(self) -> Any:
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the components."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, as one batch."""
        return self._component_distribution

    @property
    def mean(self) -> Tensor:
        return self._mixed(self._weights, self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        probs = self._weights
        spread = (self._component_distribution.mean - self._pad(self.mean)).pow(2.0)
        return self._mixed(probs, self._component_distribution.variance) + self._mixed(probs, spread)

    @property
    def _weights(self) -> Tensor:
        """The probabilities of the components, with the dimensions of a value of each component."""
        return self._pad_mixture_dimensions(self._mixture_distribution.probs)

    def _mixed(self, probs: Tensor, values: Tensor) -> Tensor:
        """The mean over the components of a value of each component."""
        return torch.sum(probs * values, dim=-1 - self._event_ndims)

    def cdf(self, x: Tensor) -> Tensor:
        return torch.sum(self._component_distribution.cdf(self._pad(x)) * self._mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(x)
        log_probs = self._component_distribution.log_prob(self._pad(x))
        log_weights = torch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return torch.logsumexp(log_probs + log_weights, dim=-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with torch.no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self._batch_shape)
            index = chosen.reshape((*chosen.shape, *[1] * (self._event_ndims + 1)))
            index = index.expand((*chosen.shape, 1, *self._event_shape))
            return torch.gather(samples, dim, index).squeeze(dim)

    def _pad(self, x: Tensor) -> Tensor:
        """The value with a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Tensor) -> Tensor:
        """A value of each component with dimensions for those of the event."""
        return x.reshape((*x.shape, *[1] * self._event_ndims))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
