"""Exponential families: densities exp(t(x) . theta - F(theta) + k(x)) with the natural parameters theta."""

from __future__ import annotations

from typing import Any

import retrograd as torch
from retrograd import Tensor

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution that knows its natural parameters theta and its log-normalizer F. The entropy follows from them.

    A subclass defines `_natural_params`, `_log_normalizer` and `_mean_carrier_measure`.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """The natural parameters theta."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """The function F."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of k(x)."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """F - theta . F'(theta) - E[k(x)], where autograd computes F'."""
        theta = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        normalizer = self._log_normalizer(*theta)
        slopes = torch.autograd.grad(normalizer.sum(), theta, create_graph=True)
        result: Tensor = -self._mean_carrier_measure + normalizer
        for parameter, slope in zip(theta, slopes):
            result = result - (parameter * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result
