"""Distributions of transformed samples."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

import retrograd as torch
from retrograd import Size, Tensor

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of samples of `base_distribution` after the transforms, a `Transform` or a list.

    The density follows from that of the base distribution and from the Jacobians.

    >>> from retrograd.distributions import ExpTransform, Normal, TransformedDistribution
    >>> import retrograd as torch
    >>> log_normal = TransformedDistribution(Normal(0.0, 1.0), ExpTransform())
    >>> log_normal.log_prob(torch.tensor(2.0))
    tensor(-1.8523)

    Raises ValueError for other transforms, and if a sample has fewer dims than a transform needs.
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        self.transforms: list[Any] = _as_list(transforms)
        base: Any = base_distribution
        base_shape, base_dims = base.batch_shape + base.event_shape, len(base.event_shape)
        transform = ComposeTransform(self.transforms)
        domain_dims = transform.domain.event_dim
        if len(base_shape) < domain_dims:
            raise ValueError(f"base_distribution needs to have shape with size at least {domain_dims}, but got "
                             f"{base_shape}.")
        shape = transform.forward_shape(base_shape)
        wanted = transform.inverse_shape(shape)
        if base_shape != wanted:
            base = base.expand(wanted[:len(wanted) - base_dims])
        if domain_dims > base_dims:
            base = Independent(base, domain_dims - base_dims)
        self.base_dist = base
        event_dims = max(transform.codomain.event_dim, base_dims + transform.codomain.event_dim - domain_dims)
        cut = len(shape) - event_dims
        if cut < 0:
            raise AssertionError(f"forward_shape length {len(shape)} must be >= event_dim {event_dims}")
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch_shape = Size(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        super(TransformedDistribution, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expanded(self, cls: type[Any], batch_shape: Sequence[int], _instance: Distribution | None,
                  **event_dims: int) -> Any:
        new = self._with_expanded(cls, batch_shape, _instance, event_dims)
        return TransformedDistribution.expand(self, batch_shape, _instance=new)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        region = self.transforms[-1].codomain
        more = len(self.event_shape) - region.event_dim
        return constraints.independent(region, more) if more > 0 else region

    @property
    def has_rsample(self) -> Any:                                         # type: ignore[override]
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        with torch.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        result: Any = 0.0
        event_dims, y = len(self.event_shape), value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dims += transform.domain.event_dim - transform.codomain.event_dim
            logarithm = transform.log_abs_det_jacobian(x, y)
            result = result - _sum_rightmost(logarithm, event_dims - transform.domain.event_dim)
            y = x
        base = self.base_dist
        return result + _sum_rightmost(base.log_prob(y), event_dims - len(base.event_shape))

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """`value`, or 1 - value if the transforms turn the order of numbers round."""
        sign = functools.reduce(operator.mul, (transform.sign for transform in self.transforms), 1)
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))


def _as_list(transforms: Any) -> list[Any]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(transform, Transform) for transform in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
