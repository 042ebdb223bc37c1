"""Divergences of distributions: integrals and sums, infinite ones, and how functions are registered."""

from __future__ import annotations

import math
from typing import Any

import pytest

import retrograd as torch
from comparing.distribution_calls import Made
from retrograd import distributions as dist

F64 = torch.float64


def made(line: str) -> Any:
    return Made(torch, line).value


def close(ours: Any, expected: Any, near: float = 1e-9) -> None:
    torch.testing.assert_close(ours, torch.as_tensor(expected, dtype=ours.dtype).expand_as(ours), rtol=near, atol=near)


# Pairs of distributions of float64, and an interval that holds nearly all of the first.
PAIRS = [(p, q, low, high) for p, low, high, others in [
    ("Beta(t(2.5, dtype=f64), 3.0)", 0.0, 1.0, "CB Exponential Gamma Normal Uniform Beta"),
    ("ContinuousBernoulli(t(0.3, dtype=f64))", 0.0, 1.0, "Exponential Normal Uniform CB"),
    ("Exponential(t(1.5, dtype=f64))", 0.0, 25.0, "Gamma Gumbel Normal Exponential"),
    ("Gamma(t(3.5, dtype=f64), 2.0)", 0.0, 25.0, "Exponential Gumbel Normal Gamma"),
    ("Gumbel(t(0.5, dtype=f64), 0.75)", -4.0, 30.0, "Normal Gumbel"),
    ("Laplace(t(0.5, dtype=f64), 0.75)", -25.0, 25.0, "Normal Laplace"),
    ("Normal(t(0.5, dtype=f64), 2.0)", -16.0, 17.0, "Gumbel Laplace Normal"),
    ("Pareto(t(0.5, dtype=f64), 9.0)", 0.5, 40.0, "Exponential Gamma Normal"),
    ("Uniform(t(0.25, dtype=f64), 0.75)", 0.25, 0.75, "Beta CB Exponential Gamma Gumbel Normal Pareto Uniform"),
    ("Cauchy(t(0.5, dtype=f64), 0.1)", -4000.0, 4000.0, "Cauchy"),
    ("HalfNormal(t(0.5, dtype=f64))", 0.0, 5.0, "HalfNormal"),
] for q in others.split()]
OTHERS = {"CB": "ContinuousBernoulli(t(0.8, dtype=f64))", "Exponential": "Exponential(t(0.6, dtype=f64))",
          "Gamma": "Gamma(t(1.75, dtype=f64), 0.8)", "Normal": "Normal(t(-0.25, dtype=f64), 1.25)",
          "Uniform": "Uniform(t(0.0, dtype=f64), 1.0)", "Beta": "Beta(t(1.5, dtype=f64), 0.75)",
          "Gumbel": "Gumbel(t(-0.75, dtype=f64), 1.5)", "Laplace": "Laplace(t(1.5, dtype=f64), 1.25)",
          "Pareto": "Pareto(t(0.125, dtype=f64), 1.5)", "Cauchy": "Cauchy(t(0.75, dtype=f64), 0.2)",
          "HalfNormal": "HalfNormal(t(0.75, dtype=f64))"}


@pytest.mark.parametrize(("line", "other", "low", "high"), PAIRS)
def test_divergences_are_integrals(line: str, other: str, low: float, high: float) -> None:
    p, q, width = made(line), made(OTHERS[other]), (high - low) / 200_000
    x = torch.linspace(low + width / 2, high - width / 2, 200_000, dtype=F64)
    logarithms = p.log_prob(x)
    close(dist.kl_divergence(p, q), (logarithms.exp() * (logarithms - q.log_prob(x))).sum() * width,
          1e-3 if other == "Cauchy" else 1e-4)


@pytest.mark.parametrize(("p", "q"), [
    ("Bernoulli(t(0.3, dtype=f64))", "Bernoulli(t(0.6, dtype=f64))"),
    ("Bernoulli(t(0.3, dtype=f64))", "Poisson(t(0.6, dtype=f64))"),
    ("Binomial(7, t(0.3, dtype=f64))", "Binomial(7, t(0.6, dtype=f64))"),
    ("Geometric(t(0.3, dtype=f64))", "Geometric(t(0.6, dtype=f64))"),
    ("Poisson(t(3.5, dtype=f64))", "Poisson(t(0.6, dtype=f64))")])
def test_divergences_are_sums(p: str, q: str) -> None:
    first, second = made(p), made(q)
    values = torch.arange({"Be": 2, "Bi": 8}.get(p[:2], 90), dtype=F64)
    logarithms = first.log_prob(values)
    close(dist.kl_divergence(first, second), (logarithms.exp() * (logarithms - second.log_prob(values))).sum())


def test_divergences_of_rows() -> None:
    p, q = torch.tensor([[0.5, 2.5, 3.0]], dtype=F64), torch.tensor([[1.5, 0.5, 1.0]], dtype=F64)
    for cls in (dist.Categorical, dist.OneHotCategorical):
        a, b = cls(p), cls(q)
        close(dist.kl_divergence(a, b), (a.probs * (a.probs / b.probs).log()).sum(-1))
    a, b = dist.Dirichlet(p), dist.Dirichlet(q)
    mean_log = torch.digamma(p) - torch.digamma(p.sum(-1, keepdim=True))
    cross = q.lgamma().sum(-1) - q.sum(-1).lgamma() - ((q - 1) * mean_log).sum(-1)
    close(dist.kl_divergence(a, b), cross - a.entropy())


def test_infinite_divergences() -> None:
    kl, ones = dist.kl_divergence, torch.ones(3)
    assert kl(dist.Normal(ones, 1.0), dist.Gamma(1.0, 1.0)).tolist() == [math.inf] * 3
    assert kl(dist.Uniform(-ones, 1.0), dist.Beta(ones, ones)).tolist() == [math.inf] * 3
    assert kl(dist.Bernoulli(0.5), dist.Bernoulli(torch.tensor([0.0, 1.0]))).tolist() == [math.inf] * 2
    assert kl(dist.Categorical(torch.tensor([0.5, 0.5])), dist.Categorical(torch.tensor([1.0, 0.0]))) == math.inf
    alpha = torch.tensor([0.5, 2.0, 3.0], requires_grad=True)
    found = kl(dist.Pareto(1.0, alpha), dist.Normal(0.0, 1.0))
    assert found.isinf().tolist() == [True, True, False]
    (slope,) = torch.autograd.grad(found[2], alpha)
    assert slope.isfinite().all()
    close(kl(dist.ContinuousBernoulli(0.25), dist.Uniform(0.0, 1.0)), -dist.ContinuousBernoulli(0.25).entropy())


def test_registering_a_divergence() -> None:
    class Mine(dist.Normal):
        pass

    class Other(dist.Normal):
        pass

    registry, memo = dist.kl._KL_REGISTRY, dist.kl._KL_MEMOIZE
    close(dist.kl_divergence(Mine(0.0, 1.0), dist.Normal(1.0, 1.0)), 0.5)
    try:
        dist.register_kl(Mine, dist.Normal)(lambda p, q: torch.tensor(7.0))
        close(dist.kl_divergence(Mine(0.0, 1.0), dist.Normal(1.0, 1.0)), 7.0)
        dist.register_kl(dist.Normal, Other)(lambda p, q: torch.tensor(8.0))
        with pytest.warns(RuntimeWarning, match=r"\(Mine, Other\). Please register_kl\(Mine, Other\)"):
            close(dist.kl_divergence(Mine(0.0, 1.0), Other(1.0, 1.0)), 7.0)
    finally:
        del registry[Mine, dist.Normal], registry[dist.Normal, Other]
        memo.clear()
    with pytest.raises(TypeError, match="arg 1 must be a class"):
        dist.register_kl(dist.Normal(0.0, 1.0), dist.Normal)                 # type: ignore[arg-type]


@pytest.mark.parametrize(("p", "q", "error", "message"), [
    ("VonMises(0.0, 1.0)", "Normal(0.0, 1.0)", NotImplementedError,
     "No KL(p || q) is implemented for p type VonMises and q type Normal"),
    ("Poisson(1.0)", "Gamma(1.0, 1.0)", NotImplementedError, "The cross KL-divergence between different exponential"),
    ("Binomial(3, t(0.5))", "Binomial(4, t(0.5))", NotImplementedError, "KL between Binomials where q.total_count >"),
    ("MultivariateNormal(torch.zeros(2), torch.eye(2))", "MultivariateNormal(torch.zeros(3), torch.eye(3))", ValueError,
     "KL-divergence between two Multivariate Normals with"),
    ("Independent(Normal(t([0.0]), 1.0), 1)", "Independent(Normal(t([0.0]), 1.0), 0)", NotImplementedError, "")])
def test_divergences_that_do_not_exist(p: str, q: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        dist.kl_divergence(made(p), made(q))
    assert str(caught.value).startswith(message)
