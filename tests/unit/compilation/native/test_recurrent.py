"""LSTM layers whose steps machine code walks: the numbers and the layouts of the kernels of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation.native import walks

pytestmark = needs("llvmlite")

# Steps, batch, features, states; the options of the layer; and whether machine code walks.
LAYERS: dict[str, Any] = {
    "plain": ((20, 16, 32, 32), {}, True),
    "two layers, both ways": ((5, 4, 3, 8), {"num_layers": 2, "bidirectional": True}, True),
    "no bias": ((6, 8, 5, 4), {"bias": False}, True),
    "batch first": ((4, 3, 7, 16), {"batch_first": True}, True),
    "one step": ((1, 4, 4, 4), {}, True),
    "a projection": ((4, 4, 8, 8), {"proj_size": 4}, False),
    "an odd batch of odd states": ((4, 3, 5, 5), {}, False),
    "large weights": ((2, 2, 300, 200), {}, False),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, options, walked = LAYERS[name]
    used: list[Any] = []
    for walk in (walks._walk, walks._walk_back):
        def counted(*args: Any, walk: Any = walk) -> Any:
            used.append(walk.__name__)
            return walk(*args)

        monkeypatch.setattr(walks, walk.__name__, counted)
    steps, batch, features, states = sizes
    layer = torch.nn.LSTM(features, states, dtype=dtype, **options)

    def step(x: Any, weights: Any) -> Any:
        out, (h, c) = layer(x)
        loss = (out * weights).sum() + h.square().sum() + c.exp().sum()
        return (out.detach(), h.detach(), c.detach(), *torch.autograd.grad(loss, (x, *layer.parameters())))

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        x = torch.randn(steps, batch, features, dtype=dtype).requires_grad_()
        weights = torch.randn(layer(x)[0].shape, dtype=dtype)
        for found, expected in zip(compiled(x, weights), step(x, weights), strict=True):
            off = 1e-5 if dtype is torch.float32 else 1e-13
            scale = expected.abs().max().item()
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=off, atol=off * scale)
            assert found.stride() == expected.stride()
    assert {*used} == ({"_walk", "_walk_back"} if walked else set())


def test_without_a_gradient_of_the_outputs() -> None:
    layer, x = torch.nn.LSTM(4, 8), torch.randn(5, 4, 4)

    def step(x: Any) -> Any:
        _, (h, c) = layer(x)
        return torch.autograd.grad((h * c).sum(), [*layer.parameters()])

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        for found, expected in zip(compiled(x), step(x), strict=True):
            torch.testing.assert_close(found, expected)

