"""Divergences between distributions of different families: the cross entropy -E[log q], less the entropy of p.

The cross entropy needs only some means over p: of x, of its square, of log(x), of exp(-x / s). So there is one function
for each such mean, and one for each q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import retrograd as torch
from retrograd import Tensor

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .divergences_within_families import infinite_where
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

_LOG_2_PI = math.log(2 * math.pi)


def _mean_of_uniform_log(p: Uniform, low: Tensor, high: Tensor) -> Tensor:
    """The mean of log(y) for y from low to high, both not negative."""
    return (torch.xlogy(high, high) - torch.xlogy(low, low)) / (p.high - p.low) - 1


def _mean_log(p: Any) -> Tensor:
    """E[log(x)]."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    return _mean_of_uniform_log(p, p.low, p.high)


def _mean_decay(p: Any, scale: Tensor, shift: Tensor) -> Tensor:
    """E[exp((shift - x) / scale)]."""
    if isinstance(p, Gamma):
        return torch.exp(shift / scale) * (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)
    if isinstance(p, Exponential):
        return torch.exp(shift / scale) * p.rate * scale / (p.rate * scale + 1)
    if isinstance(p, Normal):
        return torch.exp((shift - p.loc) / scale + 0.5 * (p.scale / scale).pow(2))
    return (torch.exp((shift - p.low) / scale) - torch.exp((shift - p.high) / scale)) * scale / (p.high - p.low)


def _mean_distance(p: Normal, loc: Tensor) -> Tensor:
    """E[|x - loc|]."""
    off = p.loc - loc
    return (math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * (off / p.scale).pow(2))
            + off * torch.erf(math.sqrt(0.5) * off / p.scale))


def _of_exponential(p: Any, q: Exponential) -> Tensor:
    return q.rate * p.mean - q.rate.log()


def _of_gamma(p: Any, q: Gamma) -> Tensor:
    return (q.concentration.lgamma() - q.concentration * q.rate.log() - (q.concentration - 1) * _mean_log(p)
            + q.rate * p.mean)


def _of_normal(p: Any, q: Normal) -> Tensor:
    squares: Tensor = p.variance + (p.mean - q.loc).pow(2)
    return 0.5 * (_LOG_2_PI + squares / q.scale.pow(2)) + q.scale.log()


def _of_gumbel(p: Any, q: Gumbel) -> Tensor:
    return q.scale.log() + (p.mean - q.loc) / q.scale + _mean_decay(p, q.scale, q.loc)


def _of_laplace(p: Any, q: Laplace) -> Tensor:
    return (2 * q.scale).log() + _mean_distance(p, q.loc) / q.scale


def _of_uniform(p: Any, q: Uniform) -> Tensor:
    return (q.high - q.low).log()


def _of_beta(p: Uniform, q: Beta) -> Tensor:
    log_beta = q.concentration1.lgamma() + q.concentration0.lgamma() - (q.concentration1 + q.concentration0).lgamma()
    return (log_beta - (q.concentration1 - 1) * _mean_log(p)
            - (q.concentration0 - 1) * _mean_of_uniform_log(p, 1 - p.high, 1 - p.low))


def _of_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    return -p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()


def _of_pareto(p: Uniform, q: Pareto) -> Tensor:
    return (q.alpha + 1) * _mean_log(p) - q.alpha.log() - q.alpha * q.scale.log()


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


_CROSS_ENTROPIES: list[tuple[type, Callable[[Any, Any], Tensor], tuple[type, ...]]] = [
    (Exponential, _of_exponential, (Beta, ContinuousBernoulli, Gamma, Uniform)),
    (Gamma, _of_gamma, (Beta, Exponential, Uniform)),
    (Normal, _of_normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform)),
    (Gumbel, _of_gumbel, (Exponential, Gamma, Normal, Uniform)),
    (Laplace, _of_laplace, (Normal,)),
    (Uniform, _of_uniform, (Beta, ContinuousBernoulli)),
    (Beta, _of_beta, (Uniform,)),
    (ContinuousBernoulli, _of_continuous_bernoulli, (Beta, Uniform)),
    (Pareto, _of_pareto, (Uniform,)),
]
# A Pareto distribution has these powers of x in its mean only if alpha is larger.
_OF_PARETO: list[tuple[type, Callable[[Any, Any], Tensor], int]] = [
    (Exponential, _of_exponential, 1), (Gamma, _of_gamma, 1), (Normal, _of_normal, 2)]
# p has values that q has not, whatever the parameters are.
_INFINITE = [
    (Beta, (Pareto,)), (ContinuousBernoulli, (Pareto,)), (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform)),
    *((p, (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)) for p in (Gumbel, Laplace, Normal)),
    (Pareto, (Beta, ContinuousBernoulli, Uniform)), (Poisson, (Bernoulli, Binomial)),
]


def _outside(p: Any, q: Any) -> Any:
    """Whether p has values outside the support of q."""
    bounds = [(getattr(d.support, "lower_bound", -math.inf), getattr(d.support, "upper_bound", math.inf))
              for d in (p, q)]
    below, above = bounds[0][0] < bounds[1][0], bounds[0][1] > bounds[1][1]
    return torch.as_tensor(below) | torch.as_tensor(above)


def _less_entropy(cross_entropy: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Tensor]:
    def divergence(p: Any, q: Any) -> Tensor:
        return infinite_where(_outside(p, q), cross_entropy(p, q) - p.entropy())

    return divergence


def _of_pareto_less_entropy(cross_entropy: Callable[[Any, Any], Tensor], power: int) -> Callable[[Any, Any], Tensor]:
    def divergence(p: Pareto, q: Any) -> Tensor:
        finite = p.alpha > power
        # Where the mean is infinite, another alpha spares the gradients infinities.
        tame = Pareto(p.scale, torch.where(finite, p.alpha, power + 1.0), validate_args=False)
        return infinite_where(~finite, cross_entropy(tame, q) - tame.entropy())

    return divergence


def _infinite(p: Any, q: Any) -> Tensor:
    return torch.full_like(p.mean, math.inf)


def _register() -> None:
    for cls_q, cross_entropy, classes in _CROSS_ENTROPIES:
        for cls_p in classes:
            register_kl(cls_p, cls_q)(_less_entropy(cross_entropy))
    for cls_q, cross_entropy, power in _OF_PARETO:
        register_kl(Pareto, cls_q)(_of_pareto_less_entropy(cross_entropy, power))
    for cls_p, others in _INFINITE:
        for other in others:
            register_kl(cls_p, other)(_infinite)


_register()
