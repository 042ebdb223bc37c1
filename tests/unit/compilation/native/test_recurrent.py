"""Recurrent layers whose steps machine code walks: the numbers and the layouts of the kernels of NumPy.

Machine code adds the terms of a product in another order than a BLAS, and its exp and tanh are off by up to three units
in the last place. So numbers differ by some units for each term, and sums that cancel by as much as their terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation.native import walks

pytestmark = needs("llvmlite")

KINDS: dict[str, Any] = {"LSTM": {}, "GRU": {}, "RNN": {}, "relu": {"nonlinearity": "relu"}}
# Steps, batch, features, states; the options of the layer; and whether machine code walks.
LAYERS: dict[str, Any] = {
    "plain": ((20, 16, 32, 32), {}, True),
    "two layers, both ways": ((5, 4, 3, 8), {"num_layers": 2, "bidirectional": True}, True),
    "no bias": ((6, 8, 5, 4), {"bias": False}, True),
    "batch first": ((4, 3, 7, 16), {"batch_first": True}, True),
    "one step": ((1, 4, 4, 4), {}, True),
    "one state": ((5, 8, 3, 1), {}, True),
    "one sequence": ((5, 1, 3, 8), {}, True),
    "many factors": ((3, 4, 300, 8), {}, True),
    "an odd batch of odd states": ((4, 3, 5, 5), {}, False),
    "large weights": ((2, 2, 300, 420), {}, False),
    "an empty batch": ((4, 0, 3, 8), {}, False),
}


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The machine code of each walk."""
    used, walk = [], walks._walk

    def counted(native: Any, *args: Any) -> None:
        used.append(id(native))
        walk(native, *args)

    monkeypatch.setattr(walks, "_walk", counted)
    return used


def made(kind: str, features: int, states: int, **options: Any) -> Any:
    """A layer of one kind."""
    return getattr(torch.nn, "RNN" if kind == "relu" else kind)(features, states, **KINDS[kind], **options)


def parts(last: Any) -> tuple[Any, ...]:
    """The last states, and the last cells of an LSTM."""
    return last if isinstance(last, tuple) else (last,)


def close(found: Any, expected: Any, scale: float = 1e-30) -> None:
    """Compare numbers that were made of numbers up to the scale, and strides."""
    off = 1e-5 if expected.dtype is torch.float32 else 1e-13
    scale = np.nan_to_num(np.abs(expected.numpy()), posinf=0).max(initial=scale)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=off, atol=off * scale)
    assert found.stride() == expected.stride()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("kind", KINDS)
def test_layers(kind: str, name: str, dtype: Any, walked: list[int]) -> None:
    (steps, batch, features, states), options, native = LAYERS[name]
    layer = made(kind, features, states, dtype=dtype, **options)
    native = native and (kind, name) != ("RNN", "large weights")

    def step(x: Any, weights: Any) -> Any:
        out, last = layer(x)
        loss = (out * weights).sum() + sum([part.square().sum() for part in parts(last)])
        return (out.detach(), *[part.detach() for part in parts(last)],
                *torch.autograd.grad(loss, (x, *layer.parameters())))

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        x = torch.randn(steps, batch, features, dtype=dtype).requires_grad_()
        weights = torch.randn(layer(x)[0].shape, dtype=dtype)
        for found, expected in zip(compiled(x, weights), step(x, weights), strict=True):
            close(found, expected)
    rows = layer.num_layers * (1 + layer.bidirectional)
    assert len({*walked}) == (2 * rows if native else 0)


def test_a_projection_is_left_to_numpy(walked: list[int]) -> None:
    layer, x = torch.nn.LSTM(8, 8, proj_size=4), torch.randn(4, 4, 8)

    def step(x: Any) -> Any:
        out, _ = layer(x)
        return (out.detach(), *torch.autograd.grad(out.square().sum(), [*layer.parameters()]))

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        for found, expected in zip(compiled(x), step(x), strict=True):
            close(found, expected)
    assert not walked


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_gradient_of_the_outputs(kind: str, walked: list[int]) -> None:
    layer, x = made(kind, 4, 8), torch.randn(5, 4, 4)

    def step(x: Any) -> Any:
        loss = sum([part.exp().sum() for part in parts(layer(x)[1])])
        return torch.autograd.grad(loss, [*layer.parameters()])

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        for found, expected in zip(compiled(x), step(x), strict=True):
            close(found, expected)
    assert len({*walked}) == 2


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_one_plan_for_all_sizes_is_left_to_numpy(kind: str, walked: list[int]) -> None:
    layer = made(kind, 4, 8)

    def step(x: Any) -> Any:
        out, _ = layer(x)
        return (out.detach(), *torch.autograd.grad(out.square().sum(), [*layer.parameters()]))

    compiled = torch.compile(step, backend="llvm", dynamic=True)
    for batch in (4, 8, 16, 4, 12, 1, 32):
        x = torch.randn(5, batch, 4)
        for found, expected in zip(compiled(x), step(x), strict=True):
            close(found, expected)
    assert not walked


class Case:
    """A random layer, and the ways to lay out its input, to choose its gradients and to use its results."""

    def __init__(self, seed: int) -> None:
        draw = self.draw = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.kind = str(draw.choice([*KINDS]))
        self.dtype = torch.float64 if draw.random() < 0.5 else torch.float32
        self.steps, self.batch, self.features, self.states = [
            int(draw.choice(sizes)) for sizes in ((1, 2, 7), (1, 2, 3, 4, 16), (1, 3, 40), (1, 4, 5, 8, 24))]
        self.layer = made(
            self.kind, self.features, self.states, num_layers=int(draw.integers(1, 3)), bias=self.maybe(),
            bidirectional=self.maybe(), batch_first=self.maybe(), dtype=self.dtype)
        self.from_states = self.maybe()
        self.weights = [p.requires_grad_(bool(draw.random() < 0.7)) for p in self.layer.parameters()]
        self.scale = float(draw.choice([0.0, 1.0, 1.0, 30.0, 3e4]))
        self.odd = float(draw.choice([0.0, 0.0, 0.0, np.inf, -np.inf, np.nan]))
        self.outputs, self.last = [(True, True), (True, False), (False, True)][int(draw.integers(3))]

    def maybe(self) -> bool:
        return bool(self.draw.random() < 0.5)

    def input(self) -> Any:
        """An input that may lie anyhow, with the states."""
        shape = [self.steps, self.batch, self.features]
        first, second = [int(i) for i in self.draw.permutation(3)[:2]]
        shape[first], shape[second] = shape[second], shape[first]
        x = torch.randn(shape, dtype=self.dtype) * self.scale
        if self.odd:
            x.view(-1)[int(self.draw.integers(x.numel()))] = self.odd
        x = x.transpose(first, second)
        if self.maybe():
            x = torch.stack((x, x), -1)[..., 0]
        if self.layer.batch_first:
            x = x.transpose(0, 1)
        rows = self.layer.num_layers * (1 + self.layer.bidirectional), self.batch
        states = [torch.randn(*rows, self.states, dtype=self.dtype).requires_grad_(self.maybe())
                  for _ in range(2 if self.kind == "LSTM" else 1)]
        return x.detach().requires_grad_(self.maybe()), states

    def step(self, x: Any, states: Any) -> Any:
        """The results, and the gradients that are asked for."""
        hidden = (states if self.kind == "LSTM" else states[0]) if self.from_states else None
        out, last = self.layer(x, hidden)
        asked = [t for t in (x, *(states if self.from_states else ()), *self.weights) if t.requires_grad]
        loss = ((out * 0.7).sum() if self.outputs else 0) + (
            sum([(part * 1.3).sum() for part in parts(last)]) if self.last else 0)
        grads = torch.autograd.grad(loss, asked, allow_unused=True) if asked else ()
        return [part.detach() for part in (out, *parts(last))] + [g for g in grads if g is not None]


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(120))
def test_random_layers(seed: int) -> None:
    """A gate of large numbers is off by as much as they are, and a gradient of its slope by as much again."""
    case = Case(seed)
    compiled = torch.compile(case.step, backend="llvm", fullgraph=True)
    x, states = case.input()
    for _ in range(3):
        for found, expected in zip(compiled(x, states), case.step(x, states), strict=True):
            close(found, expected, max(1.0, case.scale) ** 2)
        with torch.no_grad():
            x.mul_(0.5)
