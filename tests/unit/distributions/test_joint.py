"""Discrete, gamma-like, relaxed, joint and mixed distributions: sums, integrals, closed forms, recorded samples."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.distribution_calls import Made
from retrograd import distributions as dist

F64 = torch.float64


def made(line: str) -> Any:
    return Made(torch, line).value


def close(ours: Any, expected: Any, near: float = 1e-9) -> None:
    torch.testing.assert_close(ours, torch.as_tensor(expected, dtype=ours.dtype).expand_as(ours), rtol=near, atol=near)


# Distributions of float64, with as many values from 0 as have some probability.
COUNTS = [("Bernoulli(t(0.3, dtype=f64))", 2), ("Bernoulli(logits=t(-1.5, dtype=f64))", 2),
          ("Geometric(t(0.2, dtype=f64))", 200), ("Geometric(logits=t(0.5, dtype=f64))", 100),
          ("Binomial(7, t(0.3, dtype=f64))", 8), ("Binomial(20, logits=t(1.5, dtype=f64))", 21),
          ("NegativeBinomial(2.5, t(0.6, dtype=f64))", 150), ("NegativeBinomial(4, logits=t(0.5, dtype=f64))", 200),
          ("Poisson(t(3.7, dtype=f64))", 60), ("Poisson(t(0.4, dtype=f64))", 30)]


@pytest.mark.parametrize(("line", "count"), COUNTS)
def test_sums_over_the_values(line: str, count: int) -> None:
    d, values = made(line), torch.arange(count, dtype=F64)
    logarithms = d.log_prob(values)
    chances = logarithms.exp()
    close(chances.sum(), 1.0)
    close(d.mean, (chances * values).sum())
    close(d.variance, (chances * values.square()).sum() - d.mean.square())
    close(d.stddev, d.variance.sqrt())
    close(d.mode, float(chances.argmax()))
    if not isinstance(d, dist.NegativeBinomial | dist.Poisson):
        close(d.entropy(), -(chances * logarithms).sum())
    if d.has_enumerate_support:
        assert d.enumerate_support().tolist() == values.tolist()


def test_sums_over_categories() -> None:
    weights = torch.tensor([[1.0, 3.0, 0.5], [2.0, 2.0, 4.0]], dtype=F64)
    chances = weights / weights.sum(-1, keepdim=True)
    for d in (dist.Categorical(weights), dist.Categorical(logits=weights.log() + 3)):
        close(d.probs, chances)
        close(d.log_prob(d.enumerate_support()).exp(), chances.T)
        close(d.entropy(), -(chances * chances.log()).sum(-1))
        assert d.mode.tolist() == [1, 2]
        assert d.mean.isnan().all()
        assert d.variance.isnan().all()
    one_hot = dist.OneHotCategorical(weights)
    close(one_hot.log_prob(one_hot.enumerate_support()).exp(), chances.T)
    close(one_hot.variance, chances * (1 - chances))
    assert one_hot.enumerate_support(expand=False).shape == (3, 1, 3)


def test_an_impossible_category_has_no_part_in_the_entropy() -> None:
    close(dist.Categorical(torch.tensor([0.5, 0.5, 0.0])).entropy(), math.log(2), 1e-6)


def test_sums_over_the_counts_of_a_multinomial() -> None:
    d = dist.Multinomial(4, torch.tensor([1.0, 3.0, 0.5], dtype=F64))
    counts = torch.tensor([c for c in itertools.product(range(5), repeat=3) if sum(c) == 4], dtype=F64)
    logarithms = d.log_prob(counts)
    chances = logarithms.exp()
    close(chances.sum(), 1.0)
    mean = (chances.unsqueeze(-1) * counts).sum(0)
    close(d.mean, mean)
    close(d.variance, (chances.unsqueeze(-1) * counts.square()).sum(0) - mean.square())
    close(d.entropy(), -(chances * logarithms).sum())
    assert d.sample((50,)).sum(-1).eq(4).all()
    close(d.expand((2,)).entropy(), d.entropy())


# Distributions of float64, and an interval that holds nearly all of them.
DENSITIES = [
    ("Gamma(t(3.5, dtype=f64), 2.0)", 0.0, 25.0), ("Chi2(t(5.0, dtype=f64))", 0.0, 90.0),
    ("InverseGamma(t(9.0, dtype=f64), 4.0)", 0.01, 30.0), ("Beta(t(2.5, dtype=f64), 3.0)", 0.0, 1.0),
    ("StudentT(t(30.0, dtype=f64), 0.5, 1.5)", -35.0, 35.0), ("FisherSnedecor(t(5.0, dtype=f64), 60.0)", 0.0, 25.0),
    ("ContinuousBernoulli(t(0.3, dtype=f64))", 0.0, 1.0), ("ContinuousBernoulli(t(0.4995, dtype=f64))", 0.0, 1.0),
    ("RelaxedBernoulli(t(0.75, dtype=f64), t(0.3, dtype=f64))", 0.0, 1.0),
    ("torch.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(t(0.75, dtype=f64), t(0.3, dtype=f64))", -40, 40),
    ("VonMises(t(0.5, dtype=f64), 2.0)", -math.pi, math.pi),
    ("MixtureSameFamily(Categorical(t([1.0, 3.0])), Normal(t([0.0, 3.0], dtype=f64), t([1.0, 2.0])))", -16.0, 20.0)]


@pytest.mark.parametrize(("line", "low", "high"), DENSITIES)
def test_integrals_of_the_density(line: str, low: float, high: float) -> None:
    d, width = made(line), (high - low) / 400_000
    x = torch.linspace(low + width / 2, high - width / 2, 400_000, dtype=F64)
    logarithms = d.log_prob(x)
    weights = logarithms.exp() * width
    near = 1e-4 if "Relaxed" in line else 1e-6
    close(weights.sum(), 1.0, near)
    if "Relaxed" in line:
        return
    if isinstance(d, dist.VonMises):
        close(d.variance, 1 - (weights * torch.cos(x - 0.5)).sum(), near)
    else:
        mean = (weights * x).sum()
        close(d.mean, mean, near)
        close(d.variance, (weights * (x - mean).square()).sum(), 1e-5)
        if not isinstance(d, dist.FisherSnedecor | dist.MixtureSameFamily):
            close(d.entropy(), -(weights * logarithms).sum(), 1e-5)
    if not isinstance(d, dist.ContinuousBernoulli | dist.MixtureSameFamily):
        assert abs(d.mode - x[logarithms.argmax()]) < 2 * width
    if isinstance(d, dist.Gamma | dist.ContinuousBernoulli | dist.MixtureSameFamily) and "0.4995" not in line:
        below = weights.cumsum(0)[::20_000]
        close(d.cdf(x[::20_000] + width / 2), below, 1e-6)


def test_quantiles_of_a_continuous_bernoulli() -> None:
    d, chances = dist.ContinuousBernoulli(torch.tensor([[0.2], [0.5], [0.8]])), torch.linspace(0.05, 0.95, 10)
    close(d.cdf(d.icdf(chances)), chances, 1e-5)


def test_a_dirichlet_of_two_components_is_a_beta() -> None:
    a, b = torch.tensor([0.5, 2.0, 7.0], dtype=F64), torch.tensor([3.0, 1.5, 0.75], dtype=F64)
    both, beta = dist.Dirichlet(torch.stack([a, b], -1)), dist.Beta(a, b)
    x = torch.tensor([0.2, 0.5, 0.7], dtype=F64)
    norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    close(beta.log_prob(x), (a - 1) * x.log() + (b - 1) * (1 - x).log() - norm)
    close(both.mean[..., 0], beta.mean)
    close(both.variance[..., 1], beta.variance)
    close(both.mode[1:, 0], [1.0 / 1.5, 1.0])
    assert dist.Dirichlet(torch.tensor([0.5, 0.75])).mode.tolist() in ([0.0, 1.0], [1.0, 0.0])


@pytest.mark.parametrize("family", ["Bernoulli", "Gamma", "Beta", "Dirichlet", "Poisson", "ContinuousBernoulli"])
def test_exponential_families(family: str) -> None:
    """The mean of the sufficient statistic is the derivative of the log-normalizer."""
    d = made({"Bernoulli": "Bernoulli(t(0.3, dtype=f64))", "Gamma": "Gamma(t(2.5, dtype=f64), 3.0)",
              "Beta": "Beta(t(2.5, dtype=f64), 3.0)", "Dirichlet": "Dirichlet(t([0.5, 2.5, 3.0], dtype=f64))",
              "Poisson": "Poisson(t(2.5, dtype=f64))",
              "ContinuousBernoulli": "ContinuousBernoulli(t(0.3, dtype=f64))"}[family])
    theta = [parameter.detach().requires_grad_() for parameter in d._natural_params]
    slopes = torch.autograd.grad(d._log_normalizer(*theta).sum(), theta)
    if family in ("Beta", "Dirichlet"):
        total = d.concentration1 + d.concentration0 if family == "Beta" else d.concentration.sum()
        close(slopes[0], torch.digamma(theta[0]) - torch.digamma(total))
    else:
        close(slopes[-1], d.mean)


def test_samples_of_a_beta_move_with_their_quantile() -> None:
    """With a second concentration of 1, a sample is u ** (1 / a)."""
    a = torch.tensor([0.25, 1.0, 5.0], dtype=F64, requires_grad=True)
    x = dist.Beta(a, torch.ones(3, dtype=F64)).rsample()
    (slope,) = torch.autograd.grad(x.sum(), a)
    close(slope, (-x * x.log() / a).detach())
    assert type(dist.Dirichlet(a).rsample().grad_fn).__name__ == "_DirichletBackward"


def test_straight_through_samples_have_the_gradients_of_the_probabilities() -> None:
    logits = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    d = dist.OneHotCategoricalStraightThrough(logits=logits)
    sample = d.rsample((4,))
    assert ((sample - sample.detach().round()).abs() < 1e-6).all()
    weight = torch.arange(12.0).view(4, 3)
    (ours,) = torch.autograd.grad((sample * weight).sum(), logits)
    (expected,) = torch.autograd.grad((torch.softmax(logits, -1) * weight).sum(), logits)
    close(ours, expected, 1e-5)


def test_relaxed_samples_are_near_the_corners_if_they_are_cold() -> None:
    torch.manual_seed(0)
    cold = dist.RelaxedOneHotCategorical(torch.tensor(1e-3), torch.tensor([1.0, 3.0]))
    assert cold.sample((200,)).max(-1)[0].gt(0.99).float().mean() > 0.98
    assert dist.RelaxedBernoulli(torch.tensor(1e-3), 0.25).sample((200,)).round().mean() < 0.4


def test_normal_vectors_by_their_coordinates() -> None:
    loc, factor = torch.tensor([0.5, -1.0], dtype=F64), torch.tensor([[2.0, 0.0], [0.5, 1.5]], dtype=F64)
    covariance = factor @ factor.T
    x = torch.tensor([[1.0, 2.0], [-3.0, 0.5], [0.0, 0.0]], dtype=F64)
    white = torch.linalg.solve(factor, (x - loc).T).T
    expected = dist.Normal(torch.tensor(0.0, dtype=F64), 1.0).log_prob(white).sum(-1) - math.log(3.0)
    for matrix in ({"covariance_matrix": covariance}, {"precision_matrix": covariance.inverse()},
                   {"scale_tril": factor}):
        d = dist.MultivariateNormal(loc, **matrix)
        close(d.log_prob(x), expected)
        for name, full in (("covariance_matrix", covariance), ("precision_matrix", covariance.inverse()),
                           ("scale_tril", factor), ("variance", covariance.diagonal()), ("mean", loc)):
            close(getattr(d, name), full)
        close(d.entropy(), 1 + math.log(2 * math.pi) + math.log(3.0))


def test_normal_vectors_of_a_batch() -> None:
    """Samples, a batch and a factor without a batch in all combinations of shapes."""
    factors = torch.tensor([[[2.0, 0.0], [0.5, 1.5]], [[1.0, 0.0], [-1.0, 0.5]]], dtype=F64)
    values = torch.linspace(-1, 1, 24, dtype=F64).view(2, 3, 2, 2)
    d = dist.MultivariateNormal(torch.zeros(2, dtype=F64), scale_tril=factors)
    single = [dist.MultivariateNormal(torch.zeros(2, dtype=F64), scale_tril=factor) for factor in factors]
    close(d.log_prob(values), torch.stack([one.log_prob(values[..., i, :]) for i, one in enumerate(single)], -1))
    close(d.log_prob(values[0, 0, 0]), torch.stack([one.log_prob(values[0, 0, 0]) for one in single]))
    close(d.expand((3, 2)).log_prob(values[0]), d.log_prob(values[0]))
    assert d.expand((3, 2)).covariance_matrix.shape == (3, 2, 2, 2)


def test_normal_vectors_of_low_rank_are_normal_vectors() -> None:
    loc = torch.tensor([0.5, -1.0, 2.0], dtype=F64)
    factor = torch.tensor([[1.0, 0.5], [2.0, 0.0], [-1.0, 1.0]], dtype=F64)
    low = dist.LowRankMultivariateNormal(loc, factor, torch.tensor([1.0, 0.5, 2.0], dtype=F64))
    full = dist.MultivariateNormal(loc, factor @ factor.T + torch.diag(low.cov_diag))
    for name in ("covariance_matrix", "precision_matrix", "scale_tril", "variance", "mean", "mode"):
        close(getattr(low, name), getattr(full, name))
    x = torch.linspace(-2, 2, 12, dtype=F64).view(4, 3)
    close(low.log_prob(x), full.log_prob(x))
    close(low.entropy(), full.entropy())
    other = dist.MultivariateNormal(loc + 1, torch.eye(3, dtype=F64))
    close(dist.kl_divergence(low, other), dist.kl_divergence(full, other))
    close(dist.kl_divergence(other, low), dist.kl_divergence(other, full))
    close(dist.kl_divergence(low, full), 0.0)


def test_a_wishart_of_one_row_is_a_gamma() -> None:
    df, variance = torch.tensor(3.5, dtype=F64), torch.tensor([[2.0]], dtype=F64)
    ours, gamma = dist.Wishart(df, variance), dist.Gamma(df / 2, 1 / (2 * variance[0, 0]))
    x = torch.tensor([0.5, 2.0, 7.0], dtype=F64)
    close(ours.log_prob(x.view(3, 1, 1)), gamma.log_prob(x))
    close(ours.mean[0, 0], gamma.mean)
    close(ours.variance[0, 0], gamma.variance)
    close(ours.mode[0, 0], gamma.mode)
    close(ours.entropy(), gamma.entropy())
    close(dist.ExponentialFamily.entropy(dist.Wishart(df + 1, torch.eye(2, dtype=F64))),
          dist.Wishart(df + 1, torch.eye(2, dtype=F64)).entropy())


def test_the_divergence_of_a_batch_of_wisharts_is_that_of_each() -> None:
    p, q = torch.tensor([3.0, 5.0], dtype=F64), dist.Wishart(torch.tensor(4.0, dtype=F64), 2 * torch.eye(2, dtype=F64))
    each = [dist.kl_divergence(dist.Wishart(df, torch.eye(2, dtype=F64)), q) for df in p]
    close(dist.kl_divergence(dist.Wishart(p, torch.eye(2, dtype=F64)), q), torch.stack(each))


def test_samples_of_wisharts_have_gradients_and_the_mean() -> None:
    torch.manual_seed(0)
    covariance = torch.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=F64, requires_grad=True)
    sample = dist.Wishart(torch.tensor(5.0, dtype=F64), covariance).rsample((4000,))
    assert (sample.mean(0) - 5 * covariance).abs().max() < 0.3
    (slope,) = torch.autograd.grad(sample.mean(0).diagonal().sum(), covariance)
    assert (slope.diagonal() - 5).abs().max() < 0.3


@pytest.mark.parametrize("concentration", [0.75, 1.0, 3.0])
def test_correlations_of_two_have_a_power_of_the_determinant_for_a_density(concentration: float) -> None:
    d = dist.LKJCholesky(2, torch.tensor(concentration, dtype=F64))
    angle = torch.linspace(-math.pi / 2, math.pi / 2, 200_002, dtype=F64)[1:-1]
    r, root = angle.sin(), angle.cos()
    factors = torch.zeros(len(r), 2, 2, dtype=F64)
    factors[:, 0, 0], factors[:, 1, 0], factors[:, 1, 1] = 1, r, root
    density = d.log_prob(factors).exp()
    close((density * root).sum() * (math.pi / 200_001), 1.0, 1e-4)
    close(density / density[100_000], root ** (2 * concentration - 2) / root[100_000] ** (2 * concentration - 2), 1e-9)


def test_samples_of_correlations_are_factors() -> None:
    torch.manual_seed(0)
    d = dist.LKJCholesky(4, torch.tensor([0.5, 3.0]))
    sample = d.sample((50,))
    assert sample.shape == (50, 2, 4, 4)
    assert d.support.check(sample).all()
    assert d.log_prob(sample).isfinite().all()


def test_mixtures() -> None:
    weights = torch.tensor([0.25, 0.75], dtype=F64)
    parts = dist.Independent(dist.Normal(torch.tensor([[0.0, 1.0], [3.0, -1.0]], dtype=F64), 2.0), 1)
    d = dist.MixtureSameFamily(dist.Categorical(weights), parts)
    x = torch.tensor([[0.5, 0.5], [2.0, -2.0], [9.0, 0.0]], dtype=F64)
    close(d.log_prob(x), (parts.log_prob(x.unsqueeze(1)).exp() @ weights).log())
    close(d.mean, [2.25, -0.5])
    close(d.variance, [4 + 0.25 * 0.75 * 9, 4 + 0.25 * 0.75 * 4])
    batch = d.expand((3, 2))
    assert batch.sample((5,)).shape == (5, 3, 2, 2)
    close(batch.log_prob(x.unsqueeze(1)), d.log_prob(x).unsqueeze(-1))
    assert repr(d.mixture_distribution) in repr(d)


# Samples that PyTorch draws after manual_seed(5).
RECORDED = {
    "Gamma(2.5, 2.0)": [0.763113856, 0.696929753],
    "Chi2(3.0)": [1.43182671, 1.25689864],
    "InverseGamma(2.5, 2.0)": [1.31042039, 1.43486488],
    "Beta(0.5, 3.0)": [0.0303485785, 0.00292243809],
    "StudentT(3.0, 1.0, 2.0)": [-0.465793729, -0.0339238644],
    "FisherSnedecor(3.0, 5.0)": [0.63169229, 0.161912799],
    "VonMises(0.5, 2.0)": [-0.516038001, 0.801053584],
    "Dirichlet(t([0.5, 2.0, 3.0]))": [0.0188602917, 0.427095264, 0.554044425, 0.00165557291, 0.208445162, 0.78989923],
    "Bernoulli(0.25)": [0.0, 1.0],
    "Binomial(40, t(0.5))": [21.0, 19.0],
    "Geometric(0.125)": [1.0, 15.0],
    "NegativeBinomial(5, t(0.75))": [9.0, 11.0],
    "Poisson(15.0)": [17.0, 13.0],
    "Categorical(t([1.0, 3.0, 4.0]))": [2.0, 1.0],
    "OneHotCategorical(t([1.0, 3.0, 4.0]))": [0.0, 0.0, 1.0, 0.0, 1.0, 0.0],
    "Multinomial(6, t([1.0, 3.0, 4.0]))": [0.0, 3.0, 3.0, 0.0, 4.0, 2.0],
    "ContinuousBernoulli(0.75)": [0.890683174, 0.204730496],
    "RelaxedBernoulli(t(0.5), 0.25)": [0.726632178, 0.00230858778],
    "RelaxedOneHotCategorical(t(0.5), t([1.0, 3.0, 4.0]))":
        [0.0167211704, 0.00121469575, 0.982064188, 0.0191200208, 0.978267908, 0.00261207484],
    "MultivariateNormal(t([0.0, 1.0]), scale_tril=t([[2.0, 0.0], [0.5, 1.0]]))":
        [-0.973561525, 0.152788043, -1.11619246, 1.38847613],
    "LowRankMultivariateNormal(t([0.0, 1.0]), t([[2.0], [0.5]]), t([1.0, 3.0]))":
        [-1.5316577, 1.91279554, -1.40505826, 4.06308889],
    "Wishart(4.0, t([[2.0, 0.5], [0.5, 1.0]]))":
        [4.18116236, 1.15449309, 1.15449309, 3.96412921, 10.8639507, -0.951059997, -0.951059997, 3.41345596],
    "LKJCholesky(2, 1.5)": [1.0, 0.0, 0.0945447534, 0.995520592, 1.0, 0.0, 0.340540648, 0.940229833],
    "MixtureSameFamily(Categorical(t([1.0, 3.0])), Normal(t([0.0, 9.0]), 1.0))": [9.66752434, 10.9427834],
}


@pytest.mark.parametrize("line", RECORDED)
def test_recorded_samples(line: str) -> None:
    torch.manual_seed(5)
    np.testing.assert_allclose(made(line).sample((2,)).flatten().tolist(), RECORDED[line], rtol=2e-6)


def test_continuous_bernoulli_of_large_log_odds() -> None:
    logits = torch.tensor([20.0, -110.0, 3.0], requires_grad=True)
    d = dist.ContinuousBernoulli(logits=logits)
    close(d.mean, torch.tensor([0.9373, 0.0627, 0.7191]), 1e-4)
    close(d.entropy(), torch.tensor([-1.7690, -1.7690, -0.3069]), 1e-4)
    log_prob = d.log_prob(torch.tensor(0.3))
    close(log_prob, torch.tensor([-11.2310, -30.2310, -0.9503]), 1e-4)
    (slope,) = torch.autograd.grad(log_prob.sum(), logits)
    close(slope, torch.tensor([-0.7, 0.3, -0.4191]), 1e-4)
