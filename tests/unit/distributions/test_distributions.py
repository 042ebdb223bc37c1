"""Distributions: integrals of densities, quantiles, entropies, numbers recorded from PyTorch, and checks of values."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.distribution_calls import Made
from retrograd import distributions as dist
from retrograd.distributions import constraints

# A distribution of float64, and an interval that holds all of it but some 1e-9.
DENSITIES = [
    ("Normal(t(0.5, dtype=f64), 2.0)", -12.0, 13.0),
    ("Uniform(t(-1.0, dtype=f64), 3.0)", -1.0, 3.0),
    ("Exponential(t(1.5, dtype=f64))", 0.0, 16.0),
    ("Laplace(t(0.5, dtype=f64), 0.75)", -18.0, 18.0),
    ("HalfNormal(t(1.5, dtype=f64))", 0.0, 10.0),
    ("Gumbel(t(0.5, dtype=f64), 0.75)", -3.0, 18.0),
    ("Weibull(t(1.5, dtype=f64), 2.0)", 0.0, 8.0),
    ("Kumaraswamy(t(2.0, dtype=f64), 3.0)", 0.0, 1.0),
    ("LogNormal(t(-0.5, dtype=f64), 0.25)", 0.05, 4.0),
    ("GeneralizedPareto(t(0.5, dtype=f64), 2.0, -0.25)", 0.5, 8.5),
    ("GeneralizedPareto(t(0.5, dtype=f64), 1.0, 0.0)", 0.5, 25.0),
]
QUANTILES = [line for line, _, _ in DENSITIES] + [
    "Cauchy(t(0.5, dtype=f64), 2.0)", "HalfCauchy(t(2.0, dtype=f64))", "Pareto(t(1.5, dtype=f64), 2.0)",
    "GeneralizedPareto(t(0.5, dtype=f64), 1.0, 1.5)",
    "TransformedDistribution(Normal(t(0.5, dtype=f64), 2.0), [AffineTransform(1.0, -2.0), SigmoidTransform()])"]


def made(line: str) -> Any:
    return Made(torch, line).value


def middles(low: float, high: float) -> tuple[torch.Tensor, float]:
    """The middles of many small intervals, and their width."""
    width = (high - low) / 400_000
    return torch.linspace(low + width / 2, high - width / 2, 400_000, dtype=torch.float64), width


@pytest.mark.parametrize(("line", "low", "high"), DENSITIES)
def test_integrals_of_the_density(line: str, low: float, high: float) -> None:
    d = made(line)
    x, width = middles(low, high)
    logarithm = d.log_prob(x)
    weights = logarithm.exp() * width
    mean = (x * weights).sum()
    near = {"rtol": 1e-5, "atol": 1e-7}
    torch.testing.assert_close(weights.sum().item(), 1.0, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(d.mean, mean, **near)
    torch.testing.assert_close(d.variance, ((x - mean) ** 2 * weights).sum(), **near)
    torch.testing.assert_close(d.stddev, d.variance.sqrt(), rtol=1e-12, atol=0.0)
    torch.testing.assert_close(d.entropy(), -(logarithm.where(weights > 0, 0.0) * weights).sum(), **near)
    torch.testing.assert_close(d.perplexity(), d.entropy().exp())
    torch.testing.assert_close(d.cdf(x[100_000]), weights[:100_000].sum(), rtol=1e-4, atol=1e-7)
    if not torch.isnan(d.mode):
        assert d.log_prob(d.mode.clamp(x[0], x[-1])) >= logarithm.max() - 1e-9


@pytest.mark.parametrize("line", QUANTILES)
def test_quantiles_and_densities(line: str) -> None:
    d = made(line)
    chances = torch.tensor([0.05, 0.3, 0.55, 0.95], dtype=torch.float64)
    x = d.icdf(chances).detach().requires_grad_()
    torch.testing.assert_close(d.cdf(x), chances, rtol=1e-9, atol=1e-9)
    (slope,) = torch.autograd.grad(d.cdf(x).sum(), x)
    torch.testing.assert_close(slope, d.log_prob(x).exp(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("line", ["Normal(p([0.5, -1.0], f64), p([2.0, 0.5], f64))",
                                  "Laplace(p(0.5, f64), p(2.0, f64))", "Exponential(p(1.5, f64))",
                                  "Weibull(p(1.5, f64), p(2.0, f64))",
                                  "Gumbel(p(0.5, f64), p(2.0, f64))", "Kumaraswamy(p(2.0, f64), p(3.0, f64))",
                                  "GeneralizedPareto(p(0.5, f64), p(2.0, f64), p(0.25, f64))"])
def test_a_sample_moves_with_its_quantile(line: str) -> None:
    """The gradient of a sample by a parameter is -(dF/dparameter) / density: the chance F(sample) stays as drawn."""
    call = Made(torch, line)
    sample = call.value.rsample()
    found = torch.autograd.grad(sample.sum(), call.leaves, retain_graph=True)
    at = sample.detach()
    moves = torch.autograd.grad((call.value.cdf(at) / call.value.log_prob(at).exp().detach()).sum(), call.leaves)
    for gradient, move in zip(found, moves):
        torch.testing.assert_close(gradient, -move, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("line", ["Normal(t([0.5, -1.0]), 2.0)", "Exponential(t([0.5, 3.0]))"])
def test_the_entropy_of_an_exponential_family_follows_from_its_normalizer(line: str) -> None:
    d = made(line)
    torch.testing.assert_close(dist.ExponentialFamily.entropy(d), d.entropy())


# Samples that PyTorch draws after manual_seed(5).
RECORDED = {
    "Normal(0.0, 2.0)": [-0.973561525, -1.20764315, -1.11619246],
    "Uniform(-1.0, 3.0)": [2.32100749, -0.495556355, 2.62987876],
    "Exponential(0.5)": [2.05452847, 0.601556003, 0.895162165],
    "Laplace(0.0, 1.0)": [1.08029234, -1.37744582, 1.6870718],
    "Cauchy(1.0, 2.0)": [1.95663905, -0.880989432, 0.06521523],
    "LogNormal(0.0, 0.5)": [0.783965409, 0.739404023, 0.756503522],
    "HalfNormal(3.0)": [1.46034229, 1.81146479, 1.67428875],
    "HalfCauchy(1.0)": [0.478319556, 0.940494716, 0.467392385],
    "Gumbel(0.0, 2.0)": [3.36373425, -1.4556706, 4.66412592],
    "Weibull(2.0, 0.5)": [2.11054373, 0.180934817, 0.400657654],
    "Pareto(1.0, 3.0)": [1.40835369, 1.10545754, 1.16089785],
    "Kumaraswamy(2.0, 3.0)": [0.245204598, 0.706061721, 0.178456947],
    "GeneralizedPareto(1.0, 2.0, 0.5)": [6.70861959, 1.27889705, 10.1497641],
}


@pytest.mark.parametrize("line", RECORDED)
def test_recorded_samples(line: str) -> None:
    torch.manual_seed(5)
    torch.testing.assert_close(made(line).sample((3,)), torch.tensor(RECORDED[line]), rtol=3e-7, atol=0.0)


def test_moments_of_many_samples() -> None:
    torch.manual_seed(0)
    for line, _, _ in DENSITIES:
        d = made(line)
        samples = d.sample((20_000,))
        assert d.support.check(samples).all()
        assert abs(samples.mean() - d.mean) < 5 * d.stddev / math.sqrt(20_000), line


def test_logistic_normal_samples_lie_on_the_simplex() -> None:
    d = dist.LogisticNormal(torch.zeros(4, 3), 1.0)
    assert (d.batch_shape, d.event_shape) == ((4,), (4,))
    assert d.support.check(d.sample((10,))).all()
    # The normal density in the coordinates log(y_i / rest), times the Jacobian of these coordinates.
    y = d.sample()
    x = d.transforms[0].inv(y)
    torch.testing.assert_close(d.log_prob(y), dist.Normal(0.0, 1.0).log_prob(x).sum(-1) - y.log().sum(-1), rtol=1e-4,
                               atol=1e-4)


def test_parameters_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^Expected parameter scale \(Tensor of shape \(2,\)\) of distribution "
                       r"Normal\(loc: torch.Size\(\[2\]\), scale: torch.Size\(\[2\]\)\) to satisfy the constraint "
                       r"GreaterThan\(lower_bound=0.0\), but found invalid values:\ntensor\(\[ 1., -1.\]\)$"):
        dist.Normal(0.0, torch.tensor([1.0, -1.0]))
    dist.Normal(0.0, torch.tensor([1.0, -1.0]), validate_args=False)


def test_values_are_checked() -> None:
    d = dist.Exponential(torch.tensor([1.0, 2.0]))
    with pytest.raises(ValueError, match="^The value argument to log_prob must be a Tensor$"):
        d.log_prob(1.0)
    with pytest.raises(ValueError, match=r"^Value is not broadcastable with batch_shape\+event_shape: "
                       r"torch.Size\(\[3\]\) vs torch.Size\(\[2\]\).$"):
        d.log_prob(torch.ones(3))
    with pytest.raises(ValueError, match=r"^Expected value argument \(Tensor of shape \(\)\) to be within the support "
                       r"\(GreaterThanEq\(lower_bound=0.0\)\) of the distribution Exponential\(rate: "
                       r"torch.Size\(\[2\]\)\), but found invalid values:\n-1.0$"):
        d.cdf(torch.tensor(-1.0))
    independent = dist.Independent(dist.Normal(torch.zeros(2, 3), 1.0), 1)
    with pytest.raises(ValueError, match="^The right-most size of value must match event_shape: "):
        dist.TransformedDistribution(independent, []).log_prob(torch.zeros(2))
    unchecked = dist.Exponential(1.0, validate_args=False)
    assert unchecked.log_prob(torch.tensor(-1.0)) == 1.0
    assert not unchecked.expand((2,))._validate_args


@pytest.fixture
def no_checks() -> Iterator[None]:
    dist.Distribution.set_default_validate_args(False)
    yield
    dist.Distribution.set_default_validate_args(True)


@pytest.mark.usefixtures("no_checks")
def test_checks_are_switched_off() -> None:
    assert dist.Normal(0.0, -1.0).mean == 0
    with pytest.raises(ValueError, match="Expected parameter scale"):
        dist.Normal(0.0, -1.0, validate_args=True)
    with pytest.raises(ValueError, match="the argument must be True or False, not 'no'"):
        dist.Distribution.set_default_validate_args("no")  # type: ignore[arg-type]


class Triangle(dist.Distribution):
    """A user's distribution on [0, width], which says little about itself."""

    def __init__(self, width: torch.Tensor) -> None:
        self.width = width
        super().__init__(width.shape)

    def rsample(self, sample_shape: Any = ()) -> torch.Tensor:
        return torch.rand(self._extended_shape(sample_shape)).sqrt() * self.width

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        self._validate_sample(value)
        return torch.log(2 * value / self.width**2)


def test_a_distribution_without_constraints_warns() -> None:
    with pytest.warns(UserWarning, match=r"Triangle'> does not define `arg_constraints`\. Please set"):
        d = Triangle(torch.tensor([1.0, 2.0]))
    assert d.sample((3,)).shape == (3, 2)
    with pytest.warns(UserWarning, match="Triangle'> does not define `support` to enable sample validation"):
        d.log_prob(torch.tensor(1.0))
    with pytest.warns(FutureWarning, match=r"`sample_n\(n\)` will be deprecated. Use `sample\(\(n,\)\)` instead."):
        assert d.sample_n(4).shape == (4, 2)
    with pytest.raises(NotImplementedError, match="Triangle'> does not implement mode"):
        _ = d.mode
    for question in (d.entropy, d.enumerate_support, lambda: d.mean, lambda: d.stddev, lambda: d.expand((3, 2)),
                     lambda: d.cdf(torch.ones(())), lambda: repr(d)):
        with pytest.raises(NotImplementedError):
            question()


class Offset(dist.Normal):
    """A subclass with arguments of its own, which therefore needs an `expand` of its own."""

    def __init__(self, offset: float) -> None:
        super().__init__(offset, 1.0)


def test_a_subclass_with_other_arguments_needs_its_own_expand() -> None:
    with pytest.raises(NotImplementedError, match="^Subclass Offset of Normal that defines a custom __init__ method "
                       "must also define a custom .expand\\(\\) method.$"):
        Offset(1.0).expand((2,))


def test_expand_shares_memory() -> None:
    loc = torch.tensor([0.0, 1.0])
    d = dist.Normal(loc, 1.0).expand((3, 2))
    assert (d.batch_shape, d.loc.stride()) == ((3, 2), (0, 1))
    loc += 1
    assert d.mean[2, 1] == 2.0


@pytest.mark.parametrize("line", [line for line, _, _ in DENSITIES] + QUANTILES[-5:])
def test_copies(line: str) -> None:
    d = made(line)
    value = d.icdf(torch.tensor(0.25, dtype=torch.float64))
    for other in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert repr(other) == repr(d)
        assert other.log_prob(value) == d.log_prob(value)


def test_gradients_reach_the_parameters_through_a_policy() -> None:
    """The score function: the mean of advantage * grad log_prob, as in REINFORCE."""
    loc = torch.zeros(2, requires_grad=True)
    actions = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
    advantages = torch.tensor([1.0, -2.0])
    policy = dist.Independent(dist.Normal(loc, 2.0), 1)
    (advantages * policy.log_prob(actions)).mean().backward()
    np.testing.assert_allclose(loc.grad.numpy(), (advantages[:, None] * actions / 4).mean(0).numpy(), rtol=1e-6)


PROGRAM = """
import sys
import torch
print(any(name.endswith("torch.distributions") or name == "retrograd.distributions" for name in sys.modules))
import torch.distributions as dist
from torch.distributions import Normal, constraints
from torch.distributions.constraint_registry import biject_to
from torch.distributions.distribution import Distribution
from torch.distributions.transforms import AffineTransform
from torch.distributions.utils import broadcast_all
import torch.distributions.log_normal
print(dist.normal.Normal is Normal, torch.distributions.transforms.AffineTransform is AffineTransform)
print(Normal(0.0, 1.0).log_prob(torch.tensor(0.0)), dist.log_normal.LogNormal)
"""


def test_a_program_for_pytorch_imports_distributions_late(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "retrograd", "run", str(tmp_path / "program.py")],
                          capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (
        "False\nTrue True\ntensor(-0.9189) <class 'retrograd.distributions.log_normal.LogNormal'>\n", "")


def test_densities_of_numbers() -> None:
    """Without checks, PyTorch takes a number for the half-Cauchy distribution, and casts tensors."""
    d = dist.HalfCauchy(torch.tensor(1.0, dtype=torch.float64), validate_args=False)
    assert d.log_prob(1.0).dtype == torch.float64
    torch.testing.assert_close(d.log_prob(1.0), torch.tensor(-math.log(math.pi), dtype=torch.float64))
    assert d.log_prob(-1) == -math.inf


def test_support_of_a_class_and_of_an_instance() -> None:
    assert constraints.is_dependent(dist.Uniform.support)
    assert repr(dist.Uniform(0.0, 1.0).support) == "Interval(lower_bound=0.0, upper_bound=1.0)"
    assert repr(dist.Pareto(2.0, 1.0).support) == "GreaterThanEq(lower_bound=2.0)"
    assert dist.Independent(dist.Normal(torch.zeros(2, 3), 1.0), 2).support.event_dim == 2
