"""Samples that are drawn until one fits, dropout and random slopes against PyTorch, bit for bit, with the state after.

Where PyTorch adds up in an order of its own (Dirichlet), the values agree to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from programs.random_draws import FLOATS, SEEDS, same_bytes

LIBRARIES = (torch, retrograd)
Draw = Callable[[Any], Any]


def draws(draw: Draw, seed: int, *, normal_first: bool = False) -> tuple[Any, Any]:
    """What a draw gives in both libraries. Fails where the states after it differ."""
    results, states = [], []
    for library in LIBRARIES:
        library.manual_seed(seed)
        if normal_first:                        # of a pair of normal numbers one is left
            library.randn(1)
        results.append(draw(library))
        states.append(library.get_rng_state().numpy().tobytes())
    assert states[0] == states[1]
    return results[0], results[1]


def same_draws(draw: Draw, seed: int, **options: Any) -> None:
    theirs, ours = draws(draw, seed, **options)
    same_bytes(ours.numpy(), theirs)


def _numbers(seed: int, size: int, scale: float, dtype: str) -> np.ndarray[Any, Any]:
    return np.abs(np.random.default_rng(seed).standard_normal(size) * scale).astype(dtype)


SCALES = [1e-3, 0.3, 3.0, 30.0, 1e4]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_poisson(dtype: str, scale: float) -> None:
    for seed, size in zip(SEEDS, (1, 2, 17, 300, 5000)):
        rates = _numbers(size, size, scale, dtype)
        rates[::7] = 0
        same_draws(lambda t, x=rates: t.poisson(t.tensor(x)), seed)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_binomial(dtype: str, scale: float) -> None:
    for seed, size in zip(SEEDS, (1, 2, 17, 300, 5000)):
        counts, chances = np.floor(_numbers(size, size, scale, dtype)), _numbers(size + 1, size, 0.5, dtype)
        same_draws(lambda t, n=counts, p=chances: t.binomial(t.tensor(n), t.tensor(p)), seed)


@pytest.mark.parametrize("normal_first", [False, True])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype", FLOATS[1:])
def test_gamma_and_dirichlet(dtype: str, scale: float, normal_first: bool) -> None:
    for seed, size in zip(SEEDS, (1, 2, 17, 300, 2000)):
        shapes = _numbers(size, size, scale, dtype)
        same_draws(lambda t, x=shapes: t._standard_gamma(t.tensor(x)), seed, normal_first=normal_first)
        theirs, ours = draws(lambda t, x=shapes: t._sample_dirichlet(t.tensor(x)), seed, normal_first=normal_first)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-13 if dtype == "float64" else 1e-6)


def _layouts(t: Any) -> list[Any]:
    flat = t.arange(24, dtype=t.float32) - 11.5
    cube = flat.reshape(2, 3, 4)
    return [flat, flat.reshape(4, 6).t(), cube.permute(2, 0, 1), flat.reshape(4, 6)[:, ::2], flat.reshape(2, 3, 2, 2)]


DROPPED = """
torch.dropout(x, 0.3, True); torch.alpha_dropout(x, 0.3, True); torch.feature_dropout(x, 0.3, True)
torch.feature_alpha_dropout(x, 0.3, True); torch.native_dropout(x, 0.3, True)[0]; torch.native_dropout(x, 0.3, None)[1]
torch.rrelu(x, 0.1, 0.4, True); torch.rrelu(x.double(), 0.1, 0.4, True); torch.dropout(x.half(), 0.3, True)
torch.alpha_dropout(x.half(), 0.3, True); torch.alpha_dropout(x.double(), 0.3, True)
torch.nn.functional.gumbel_softmax(x, hard=True); torch.poisson(x.abs()); torch._standard_gamma(x.abs())
torch.binomial(x.abs().floor(), torch.tensor(0.3))"""


@pytest.mark.parametrize("call", DROPPED.replace("\n", ";").strip(";").split(";"))
def test_layouts_are_filled_in_pytorchs_order(call: str) -> None:
    for place in range(len(_layouts(torch))):
        if "feature" not in call or _layouts(torch)[place].dim() > 1:
            same_draws(lambda t, i=place: eval(call.strip(), {"torch": t, "x": _layouts(t)[i]}).contiguous(), 5)


def test_a_refused_rate_leaves_the_stream_where_it_was_by_then() -> None:
    def refused(t: Any) -> None:
        with pytest.raises(RuntimeError, match="invalid Poisson rate"):
            t.poisson(t.tensor([3., -1.]))

    draws(refused, 3)


def test_gamma_samples_move_with_their_shape() -> None:
    """PyTorch's derivative is an approximation; of second order there is none."""
    shapes = np.concatenate([_numbers(n, 200, scale, "float64") for n, scale in enumerate(SCALES, 1)]) + 1e-3
    gradients = []
    for library in LIBRARIES:
        library.manual_seed(3)
        x = library.tensor(shapes, requires_grad=True)
        sample = library._standard_gamma(x)
        assert type(sample.grad_fn).__name__ == "StandardGammaBackward0"
        (first,) = library.autograd.grad(sample.sum(), x, create_graph=True)
        gradients.append(first.detach().numpy())
        with pytest.raises(NotImplementedError, match="the derivative for '_standard_gamma_grad' is not implemented"):
            library.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-3)


def test_dirichlet_samples_move_with_their_concentrations() -> None:
    """PyTorch's derivative is an approximation."""
    x, alpha, rest = (np.random.default_rng(n).uniform(low, high, 200) for n, (low, high) in enumerate(
        ((0.01, 0.99), (0.1, 12.0), (0.1, 12.0))))
    theirs, ours = (library._dirichlet_grad(*map(library.tensor, (x, alpha, alpha + rest))).numpy()
                    for library in LIBRARIES)
    np.testing.assert_allclose(ours, theirs, rtol=1e-2)
