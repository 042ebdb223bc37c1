"""Samples that are drawn until one fits: facts recorded from PyTorch, moments, and what leaves the stream where."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.special.incomplete_gamma import gamma_sample_by_shape as by_shape

functional = torch.nn.functional


def test_one_stream_of_samples_recorded_from_pytorch() -> None:
    """Every draw begins where the one before ended."""
    torch.manual_seed(7)
    drawn = [
        torch.poisson(torch.tensor([0., 0.5, 3, 9.9, 10, 25, 1000])),
        torch.binomial(torch.tensor([0., 5, 5, 40, 100, 1000]), torch.tensor([0.5, 0.2, 0.9, 0.5, 0.05, 0.7])),
        torch._standard_gamma(torch.tensor([0.1, 1, 4, 50], dtype=torch.float64)),
        torch._sample_dirichlet(torch.tensor([0.5, 1, 2])),
        torch.rrelu(-torch.ones(4), 0.1, 0.3, True),
        torch.alpha_dropout(torch.ones(5), 0.4, True),
        torch.feature_dropout(torch.ones(2, 3, 2), 0.4, True)[..., 0],
        functional.gumbel_softmax(torch.zeros(4)),
    ]
    expected: list[Any] = [
        [0, 0, 5, 6, 6, 27, 1047],
        [0, 2, 4, 15, 3, 729],
        [0.00022933435921394614, 1.8710040043858154, 3.8758758497654027, 54.109618172852265],
        [0.0503365583717823, 0.11008603870868683, 0.8395773768424988],
        [-0.2906583249568939, -0.2679422199726105, -0.27195557951927185, -0.24732501804828644],
        [-0.9106420278549194, -0.9106420278549194, -0.9106420278549194, 1.4703772068023682, -0.9106420278549194],
        [[5 / 3] * 3] * 2,
        [0.12340931594371796, 0.26418814063072205, 0.3653576076030731, 0.2470448911190033],
    ]
    for found, wanted in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)


MOMENTS: list[tuple[str, Callable[[], Any], float, float]] = [
    ("poisson 2", lambda: torch.poisson(torch.full((20000,), 2.0)), 2.0, 2.0),
    ("poisson 40", lambda: torch.poisson(torch.full((20000,), 40.0)), 40.0, 40.0),
    ("binomial 10", lambda: torch.binomial(torch.full((20000,), 10.0), torch.tensor(0.3)), 3.0, 2.1),
    ("binomial 200", lambda: torch.binomial(torch.full((20000,), 200.0), torch.tensor(0.8)), 160.0, 32.0),
    ("gamma 0.4", lambda: torch._standard_gamma(torch.full((20000,), 0.4)), 0.4, 0.4),
    ("gamma 7", lambda: torch._standard_gamma(torch.full((20000,), 7.0)), 7.0, 7.0),
    ("dirichlet", lambda: torch._sample_dirichlet(torch.tensor([1., 3.]).expand(20000, 2))[:, 0], 0.25, 0.0375),
    ("dropout", lambda: torch.dropout(torch.ones(20000), 0.2, True), 1.0, 0.25),
    ("alpha_dropout", lambda: torch.alpha_dropout(torch.randn(20000), 0.2, True), 0.0, 1.0),
]


@pytest.mark.parametrize(("draw", "mean", "variance"), [row[1:] for row in MOMENTS], ids=[row[0] for row in MOMENTS])
def test_moments(draw: Callable[[], Any], mean: float, variance: float) -> None:
    torch.manual_seed(1)
    samples = draw().double()
    assert samples.mean().item() == pytest.approx(mean, abs=5 * (variance / 20000) ** 0.5)
    assert samples.var().item() == pytest.approx(variance, rel=0.1)


def test_dropout_drops_elements_and_channels() -> None:
    torch.manual_seed(2)
    x = torch.rand(8, 5, 4, 4) + 1
    for name in ("dropout2d", "feature_alpha_dropout"):
        kept = getattr(functional, name)(x, 0.5, True) / x
        if name == "dropout2d":
            assert {*kept.flatten().round().tolist()} == {0.0, 2.0}
            assert (kept.amax((2, 3)) == kept.amin((2, 3))).all()
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        small = x[:2, :3, 0]
        assert getattr(functional, name)(small if name == "dropout1d" else x, 0.5, False).equal(
            small if name == "dropout1d" else x)


def test_what_is_kept_of_native_dropout_is_in_the_mask() -> None:
    x = torch.arange(1.0, 9.0, requires_grad=True)
    out, mask = torch.native_dropout(x, 0.25, True)
    assert out.tolist() == pytest.approx((x * mask / 0.75).tolist())
    out.sum().backward()
    assert x.grad.tolist() == pytest.approx((mask / 0.75).tolist())


def test_counts_that_are_no_numbers() -> None:
    found = torch.binomial(torch.tensor([math.nan, math.nan, math.inf, math.inf, -math.inf]),
                           torch.tensor([0.5, 0.9, 0.25, 0.9, 0.5]))
    np.testing.assert_array_equal(found.numpy(), [math.nan, math.nan, math.inf, math.nan, 0.0])


def test_refused_parameters() -> None:
    for rate in (-1.0, float("nan"), float("inf")):
        with pytest.raises(RuntimeError, match="invalid Poisson rate"):
            torch.poisson(torch.tensor([rate]))
    with pytest.raises(ValueError, match="binomial only supports floating-point dtypes for prob, got: Long"):
        torch.binomial(torch.ones(2), torch.tensor([0, 1]))
    with pytest.raises(RuntimeError, match="derivative for aten::binomial is not implemented"):
        torch.binomial(torch.ones(2), torch.tensor([0.5], requires_grad=True)).sum().backward()
    with pytest.raises(RuntimeError, match="dropout probability has to be between 0 and 1, but got 2"):
        torch.dropout(torch.ones(2), 2, True)


def quantile(shape: int, x: float) -> float:
    """How likely a gamma-distributed number of a whole shape is to be below x."""
    return -math.expm1(-x) if shape == 1 else quantile(shape - 1, x) - math.exp(
        (shape - 1) * math.log(x) - x - math.lgamma(shape))


@pytest.mark.parametrize("shape", [1.0, 2.5, 40.0, 300.0])
@pytest.mark.parametrize("at", [0.7, 1.0, 1.2])
def test_a_gamma_sample_keeps_its_quantile(shape: float, at: float) -> None:
    """Along dx / da the quantile stays: from one whole shape to the next, for which it has a closed form."""
    x, steps, a = shape * at, 60, math.ceil(shape)
    start, step = x, 1 / steps
    for k in range(steps):                                  # Runge and Kutta's rule of second order
        half = x + step / 2 * by_shape(np.array([a + k * step]), np.array([x])).item()
        x += step * by_shape(np.array([a + (k + 0.5) * step]), np.array([half])).item()
    assert quantile(a + 1, x) == pytest.approx(quantile(a, start), rel=1e-3)


@pytest.mark.parametrize("a", [0.02, 0.7, 3.0, 400.0])
def test_a_component_of_a_dirichlet_sample_stays_at_its_quantile(a: float) -> None:
    """If b is 1, the quantile is x ** a. If a is 1 and b is 1, the sample is uniform."""
    x = torch.tensor([1e-9, 0.01, 0.3, 0.5, 0.9, 0.999], dtype=torch.float64)
    shape, total = torch.full_like(x, a), torch.full_like(x, a + 1)
    torch.testing.assert_close(torch._dirichlet_grad(x, shape, total), -x * x.log() / a / (1 - x), rtol=1e-12, atol=0)


@pytest.mark.parametrize(("a", "b"), [(0.5, 2.5), (2.0, 3.0), (30.0, 0.8), (7.0, 90.0)])
def test_the_slope_of_a_component_agrees_with_differences_of_the_distribution(a: float, b: float) -> None:
    """The distribution function is a sum over the logarithm of t / (1 - t)."""
    u = np.linspace(-90.0, 60.0, 300_001)

    def density(a: float) -> Any:
        heights = np.exp(-a * np.logaddexp(0, -u) - b * np.logaddexp(0, u))
        return heights / heights.sum()

    place = np.argmax(density(a)) + 600
    below = [float(np.cumsum(density(near))[place] - 0.5 * density(near)[place]) for near in (a - 1e-4, a + 1e-4)]
    slope = -(below[1] - below[0]) / 2e-4 / density(a)[place] * (u[1] - u[0])
    x = 1 / (1 + math.exp(-u[place]))
    ours = torch._dirichlet_grad(*(torch.tensor([v], dtype=torch.float64) for v in (x, a, a + b)))
    assert ours.item() == pytest.approx(slope * x, rel=1e-5)


def test_binomial_samples_on_both_sides_of_the_limit_recorded_from_pytorch() -> None:
    # From a mean of 10 on, samples are drawn by rejection, and below that by waiting for each success.
    torch.manual_seed(0)
    by_rejection, by_waiting = [torch.binomial(torch.full((count,), n), torch.full((count,), 0.5)).tolist()
                                for count, n in ((12, 21.0), (6, 19.0))]
    assert by_rejection == [8, 11, 10, 9, 10, 10, 12, 7, 8, 11, 12, 13]
    assert by_waiting == [9, 10, 8, 10, 6, 9]
