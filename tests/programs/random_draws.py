"""Pairs of draws, ours and real PyTorch's, and what it means that they agree. For the tests in parity/ alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from retrograd.kernels.random import distributions as kernels, sampling
from retrograd.kernels.random.twister import Twister

Array = NDArray[Any]
Shape = tuple[int, ...]
# A draw from our generator, and the same from PyTorch's.
Draw = tuple[Callable[[Twister], Array], Callable[[Any], Any]]

SEEDS = [0, 1, 42, 2**32 - 1, 2**32, 2**40 + 3, 2**63 + 5, 2**64 - 1, -1, -12345, -(2**63)]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


def same_bytes(ours: Array, theirs: Any) -> None:
    expected = theirs.numpy()
    assert ours.dtype == expected.dtype
    assert ours.shape == expected.shape
    differing = np.flatnonzero(ours.ravel().view(np.uint8) != np.ascontiguousarray(expected).ravel().view(np.uint8))
    assert ours.tobytes() == expected.tobytes(), f"differs at bytes {differing[:5]} of {ours.nbytes}"


def same_state(ours: Twister, theirs: Any) -> None:
    assert ours.get_state().tobytes() == theirs.get_state().numpy().tobytes()


def check(draw: Draw, seeds: list[int]) -> None:
    for seed in seeds:
        ours, theirs = Twister(seed), torch.Generator().manual_seed(seed)
        same_bytes(draw[0](ours), draw[1](theirs))
        same_state(ours, theirs)


def empty(shape: Shape, dtype: str) -> Any:
    return torch.empty(shape, dtype=getattr(torch, dtype))


def of_name(dtype: str) -> Any:
    return getattr(torch, dtype)


def rand(shape: Shape, dtype: str) -> Draw:
    return (
        lambda g: kernels.uniform(g, shape, dtype),
        lambda g: torch.rand(shape, dtype=of_name(dtype), generator=g),
    )


def uniform(shape: Shape, dtype: str, low: float, high: float) -> Draw:
    return (
        lambda g: kernels.uniform(g, shape, dtype, low, high),
        lambda g: empty(shape, dtype).uniform_(low, high, generator=g),
    )


def randn(shape: Shape, dtype: str) -> Draw:
    return (
        lambda g: kernels.normal(g, shape, dtype),
        lambda g: torch.randn(shape, dtype=of_name(dtype), generator=g),
    )


def normal(shape: Shape, dtype: str, mean: float, std: float) -> Draw:
    return (
        lambda g: kernels.normal(g, shape, dtype, mean, std),
        lambda g: empty(shape, dtype).normal_(mean, std, generator=g),
    )


def randint(shape: Shape, dtype: str, low: int, high: int) -> Draw:
    return (
        lambda g: sampling.randint(g, shape, dtype, low, high),
        lambda g: torch.randint(low, high, shape, dtype=of_name(dtype), generator=g),
    )


def random_(shape: Shape, dtype: str, *bounds: int | None) -> Draw:
    return (
        lambda g: sampling.randint(g, shape, dtype, *bounds),
        lambda g: empty(shape, dtype).random_(*bounds, generator=g),
    )


def randperm(n: int, dtype: str) -> Draw:
    return (
        lambda g: sampling.randperm(g, n, dtype),
        lambda g: torch.randperm(n, dtype=of_name(dtype), generator=g),
    )


def bernoulli(shape: Shape, dtype: str, p: float) -> Draw:
    return (
        lambda g: kernels.bernoulli(g, shape, dtype, p),
        lambda g: empty(shape, dtype).bernoulli_(p, generator=g),
    )


def exponential(shape: Shape, dtype: str, rate: float) -> Draw:
    return (
        lambda g: kernels.exponential(g, shape, dtype, rate),
        lambda g: empty(shape, dtype).exponential_(rate, generator=g),
    )


def cauchy(shape: Shape, dtype: str, median: float, sigma: float) -> Draw:
    return (
        lambda g: kernels.cauchy(g, shape, dtype, median, sigma),
        lambda g: empty(shape, dtype).cauchy_(median, sigma, generator=g),
    )


def log_normal(shape: Shape, dtype: str, mean: float, std: float) -> Draw:
    return (
        lambda g: kernels.log_normal(g, shape, dtype, mean, std),
        lambda g: empty(shape, dtype).log_normal_(mean, std, generator=g),
    )


def geometric(shape: Shape, dtype: str, p: float) -> Draw:
    return (
        lambda g: kernels.geometric(g, shape, dtype, p),
        lambda g: empty(shape, dtype).geometric_(p, generator=g),
    )


def multinomial(weights: Any, count: int, replacement: bool) -> Draw:
    return (
        lambda g: sampling.multinomial(g, weights.numpy(), count, replacement),
        lambda g: torch.multinomial(weights, count, replacement, generator=g),
    )


def bernoulli_of(p: Any, shape: Shape, dtype: str) -> Draw:
    return (
        lambda g: kernels.bernoulli(g, shape, dtype, p.numpy()),
        lambda g: empty(shape, dtype).bernoulli_(p, generator=g),
    )


def normal_around(mean: Any, std: Any) -> Draw:
    ours = [x if isinstance(x, int | float) else x.numpy() for x in (mean, std)]
    return lambda g: kernels.normal_around(g, *ours), lambda g: torch.normal(mean, std, generator=g)
