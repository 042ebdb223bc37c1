"""Norms of one dim, and of channels that are one number, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("size", [100, 5000])
def test_second_derivatives_of_a_layer_norm_of_one_dim(size: int, native: bool) -> None:
    array, found = np.random.default_rng(0).standard_normal(size), []
    for t in (torch, retrograd):
        x = t.from_numpy(array).requires_grad_()
        with retrograd.backends.native.flags(enabled=native):
            first, = t.autograd.grad(t.nn.functional.layer_norm(x, (size,)).sin().sum(), x, create_graph=True)
            found.append(t.autograd.grad(first.square().sum(), x)[0].numpy())
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-12)


NORMS: dict[str, Callable[[Any, Any], Any]] = {
    "native_batch_norm": lambda t, x: t.native_batch_norm(x, None, None, None, None, True, 0.1, 0.0),
    "instance_norm": lambda t, x: t.nn.functional.instance_norm(x, eps=0.0),
    "group_norm": lambda t, x: t.nn.functional.group_norm(x, 3, eps=0.0),
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, x.shape[2:], eps=0.0)}


@pytest.mark.parametrize("way", ["NumPy", "machine code", "compiled"])
@pytest.mark.parametrize("length", [5, 500])
@pytest.mark.parametrize("name", NORMS)
def test_channels_of_one_number_without_eps(name: str, length: int, way: str) -> None:
    array, found = np.random.default_rng(0).standard_normal((4, 3, length)), []
    array[:, 1] = 4.0

    def norm(t: Any, x: Any) -> Any:
        results = NORMS[name](t, x)
        return results if isinstance(results, tuple) else (results,)

    def compiled(t: Any, x: Any) -> Any:
        call = t.compile(lambda x: norm(t, x))
        call(x)
        return call(x)

    for t in (torch, retrograd):
        x = t.from_numpy(array).requires_grad_()
        with retrograd.backends.native.flags(enabled=way != "NumPy"):
            results = compiled(t, x) if way == "compiled" and t is retrograd else norm(t, x)
        gradient, = t.autograd.grad(results[0].sin().sum(), x)
        found.append([a.detach().numpy() for a in (*results, gradient)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)
