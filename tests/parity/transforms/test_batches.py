"""Inside of `vmap`: random numbers are PyTorch's for the same seed, and what is refused is refused in its words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from retrograd.tensors.transforms.batching import BatchLevel
from retrograd.tensors.transforms.crossing import enter_batch, entered, leave_batch

P = np.linspace(0.1, 0.9, 40, dtype=np.float32).reshape(2, 20)


def ours(function: Callable[[Any, Any], Any], randomness: str) -> Any:
    level = BatchLevel(len(P), randomness)
    with entered(level):
        found = function(retrograd, enter_batch(level, retrograd.tensor(P), 0))
    return leave_batch(level, found, 0)


def theirs(function: Callable[[Any, Any], Any], randomness: str) -> Any:
    return torch.func.vmap(lambda a: function(torch, a), randomness=randomness)(torch.tensor(P))


def outcome(call: Callable[..., Any], t: Any, function: Callable[[Any, Any], Any], randomness: str) -> Any:
    t.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(function, randomness).detach().numpy()
        except (RuntimeError, ValueError, NotImplementedError) as error:
            return type(error).__name__, str(error).split(".")[0]


RANDOM: dict[str, Callable[[Any, Any], Any]] = {
    "rand": lambda t, a: t.rand(3), "randn": lambda t, a: t.randn(4, 5), "randint": lambda t, a: t.randint(9, (20,)),
    "randperm": lambda t, a: t.randperm(7), "normal": lambda t, a: t.normal(a, 1.0),
    "rand_like": lambda t, a: t.rand_like(a), "randint_like": lambda t, a: t.randint_like(a, 9),
    "exponential_": lambda t, a: a.clone().exponential_(), "random_": lambda t, a: a.clone().random_(),
    "bernoulli": lambda t, a: a.bernoulli(), "bernoulli by number": lambda t, a: a.bernoulli(0.4),
    "bernoulli_": lambda t, a: a.clone().bernoulli_(a), "multinomial": lambda t, a: a.multinomial(5, True),
    "poisson": lambda t, a: t.poisson(a), "dropout": lambda t, a: t.nn.functional.dropout(a, 0.4),
    "dropout2d": lambda t, a: t.nn.functional.dropout2d(a.reshape(1, 4, 5, 1), 0.4),
    "alpha_dropout": lambda t, a: t.nn.functional.alpha_dropout(a, 0.4),
    "feature_alpha_dropout": lambda t, a: t.nn.functional.feature_alpha_dropout(a.reshape(1, 4, 5), 0.4),
    "gumbel_softmax": lambda t, a: t.nn.functional.gumbel_softmax(a),
    "fractional_max_pool2d": lambda t, a: t.nn.functional.fractional_max_pool2d(
        a.reshape(1, 1, 4, 5), 2, output_size=2),
    "over a constant": lambda t, a: t.ones(20).normal_(), "from a constant": lambda t, a: t.ones(20).multinomial(5),
    "over a constant, by a batch": lambda t, a: t.ones(20).bernoulli_(a),
}
REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "item": lambda t, a: a.sum().item(), "int": lambda t, a: int(a.sum()), "bool": lambda t, a: a if a[0] else -a,
    "numpy": lambda t, a: a.numpy(), "tolist": lambda t, a: a.tolist(), "storage": lambda t, a: a.untyped_storage(),
    "nonzero": lambda t, a: a.nonzero(), "unique": lambda t, a: a.unique(), "mask": lambda t, a: a[a > 0.5],
    "masked_select": lambda t, a: a.masked_select(a > 0.5), "one_hot": lambda t, a: t.nn.functional.one_hot(a.long()),
    "mul_": lambda t, a: t.ones(20).mul_(a), "add_": lambda t, a: t.ones(20).add_(a),
    "index_add_": lambda t, a: t.ones(20).index_add_(0, t.arange(20), a),
    "scatter_": lambda t, a: t.ones(20).scatter_(0, t.arange(20), a),
    "clamp_min_": lambda t, a: t.ones(20).clamp_min_(a), "copysign_": lambda t, a: t.ones(20).copysign_(a),
    "logical_and_": lambda t, a: t.ones(20).logical_and_(a),
    "bitwise_or_": lambda t, a: t.ones(20, dtype=t.int64).bitwise_or_(a.long()),
    "index_fill_": lambda t, a: t.ones(20).index_fill_(0, a.long(), 2.0),
    "scatter_reduce_": lambda t, a: t.ones(20).scatter_reduce_(0, t.arange(20), a, "sum"),
    "equal": lambda t, a: t.equal(a, a), "allclose": lambda t, a: t.allclose(a, t.ones(20)),
    "data": lambda t, a: a.data, "assigned data": lambda t, a: setattr(a, "data", a * 2),
    "quantized weight": lambda t, a: t.fbgemm_linear_quantize_weight(a.reshape(4, 5)),
    "observed": lambda t, a: t.fused_moving_avg_obs_fake_quant(
        a, *[t.ones(1, dtype=t.int64)] * 2, *[t.ones(1)] * 3, t.ones(1, dtype=t.int32), 0.1, 0, 255, 0),
    "batch_norm": lambda t, a: t.nn.BatchNorm1d(4)(a.reshape(5, 4)),
    "instance_norm": lambda t, a: t.nn.InstanceNorm1d(4, track_running_stats=True)(a.reshape(1, 4, 5)),
    "as_strided": lambda t, a: a.as_strided((2, 2), (15, 5), 2),
    "as_strided before": lambda t, a: a[3:].as_strided((2,), (1,), 2),
}


@pytest.mark.parametrize("randomness", ["error", "different", "same"])
@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers(name: str, randomness: str) -> None:
    found = outcome(ours, retrograd, RANDOM[name], randomness)
    expected = outcome(theirs, torch, RANDOM[name], randomness)
    if isinstance(expected, tuple):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    expected = outcome(theirs, torch, REFUSED[name], "error")
    assert isinstance(expected, tuple)
    assert outcome(ours, retrograd, REFUSED[name], "error") == expected
