"""Samples from distributions with tensors as parameters. A gradient exists here if it exists in PyTorch."""

from __future__ import annotations

from typing import Any

from ..kernels.special.incomplete_gamma import gamma_sample_by_shape
from .creation import drawn, drawn_beside, random_fill
from .framework import elementwise, not_differentiable

poisson = random_fill("poisson")
bernoulli_like = elementwise("bernoulli", drawn, domain="as given", node="NotImplemented", tensors=1,
                           x=not_differentiable("bernoulli"))
binomial = elementwise("binomial", drawn_beside, domain="as given", node="NotImplemented", tensors=2,
                     x=not_differentiable("binomial"), y=not_differentiable("binomial"))


def _no_second(g: Any) -> Any:
    raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


gamma_gradient = elementwise("_standard_gamma_grad", gamma_sample_by_shape, domain="as given",
                           node="StandardGammaGradBackward0", tensors=2, shapes=_no_second, samples=_no_second)
standard_gamma = elementwise("_standard_gamma", drawn, domain="as given", node="StandardGammaBackward0", tensors=1,
                           x=lambda g, x, out: g * gamma_gradient(x, out))
sample_dirichlet = elementwise("_sample_dirichlet", drawn, domain="as given", node="NotImplemented", tensors=1,
                             x=not_differentiable("_sample_dirichlet"))
