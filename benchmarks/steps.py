"""The steps that are compiled: forward, backward and, in training, the update. `steps_in_jax` has the same in JAX.

Each workload is written once and receives the package as `torch`. `prepare` makes the inputs from a fixed seed, so that
each package has the same numbers. This module must not know how the steps are compiled and timed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

DEGREE = 4
HEADS, WIDTH, HIDDEN = 4, 64, 128
BATCH, BATCHES = 64, 22


class Step(NamedTuple):
    """A step in two parts, so that a compiler can be given the whole step or the first part only.

    `loss` computes the loss of a batch. `finish` makes the gradients and the update, and returns what the step returns:
    the loss, or the loss and the gradients. `parameters` are the tensors that the gradients are for, which a training
    step changes. One run of the workload is a step for each of the `batches`.
    """

    loss: Callable[..., Any]
    finish: Callable[[Any], Any]
    parameters: Sequence[Any]
    batches: Sequence[tuple[Any, ...]] = ((),)


class Workload(NamedTuple):
    """`targets` are the largest ratios of compiled retrograd to the best rival: with NumPy, and with machine code."""

    name: str
    summary: str
    targets: tuple[float, float]
    prepare: Callable[[Any], Step]


WORKLOADS: list[Workload] = []


def workload(name: str, summary: str, *, numpy: float, llvm: float) -> Callable[[Any], Any]:
    """Add a workload to the list."""

    def add(prepare: Callable[[Any], Step]) -> Callable[[Any], Step]:
        WORKLOADS.append(Workload(name, summary, (numpy, llvm), prepare))
        return prepare

    return add


def with_gradients(torch: Any, leaves: Sequence[Any]) -> Callable[[Any], Any]:
    """The end of a step that returns the loss and the gradients of the leaves."""
    return lambda loss: (loss.detach(), *torch.autograd.grad(loss, leaves))


def with_update(optimizer: Any) -> Callable[[Any], Any]:
    """The end of a step that updates the parameters of an optimizer."""

    def finish(loss: Any) -> Any:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return (loss.detach(),)

    return finish


def classifying(torch: Any, network: Any, optimizer: Any, batches: Sequence[tuple[Any, ...]]) -> Step:
    """A training step of a network that gives the scores of classes, on batches of inputs and labels."""
    return Step(lambda inputs, labels: torch.nn.functional.cross_entropy(network(inputs), labels),
                with_update(optimizer), [*network.parameters()], batches)


def recurrent(torch: Any, kind: str) -> Step:
    """A training step of a recurrent layer from 32 to 32 features on 20 steps at batch 16, with SGD."""
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(32, 32)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.001)
    return Step(lambda x: layer(x)[0].pow(2).mean(), with_update(optimizer), [*layer.parameters()],
                [(torch.randn(20, 16, 32),)])


@workload("chain", "100 times z = (z / x) * y, on 2x3: forward and backward", numpy=5, llvm=0.3)
def chain(torch: Any) -> Step:
    torch.manual_seed(0)
    x, y = ((1 + 0.001 * torch.rand(2, 3)).requires_grad_() for _ in range(2))
    start = torch.ones(2, 3)

    def loss() -> Any:
        z = start
        for _ in range(100):
            z = (z / x) * y
        return z.sum()

    return Step(loss, with_gradients(torch, (x, y)), (x, y))


@workload("cubic", "a training step of a cubic on 2,000 points, written by hand", numpy=0.8, llvm=0.3)
def cubic(torch: Any) -> Step:
    torch.manual_seed(0)
    x = torch.linspace(-math.pi, math.pi, 2000)
    weights = [torch.randn((), requires_grad=True) for _ in range(DEGREE)]
    a, b, c, d = weights

    def finish(loss: Any) -> Any:
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients):
                weight -= 1e-6 * gradient
        return (loss.detach(),)

    return Step(lambda x, y: ((a + b * x + c * x**2 + d * x**3 - y) ** 2).sum(), finish, weights, [(x, torch.sin(x))])


def _pointwise(size: int) -> None:
    exponent = round(math.log10(size))

    @workload(f"sin-exp-1e{exponent}", f"sin(a) * a + exp(a) of {size:,} numbers: forward and backward",
              numpy=1.2, llvm=0.6)
    def prepare(torch: Any) -> Step:
        torch.manual_seed(0)
        a = torch.rand(size, requires_grad=True)
        return Step(lambda: (a.sin() * a + a.exp()).sum(), with_gradients(torch, (a,)), (a,))


for size in (10**3, 10**5, 10**6, 10**7):
    _pointwise(size)


@workload("model", "a training step of a 1000-100-10 network at batch 16, with SGD", numpy=1, llvm=0.8)
def model(torch: Any) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    network = nn.Sequential(nn.Linear(1000, 100), nn.ReLU(), nn.Linear(100, 10))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.001)
    batch = (torch.randn(16, 1000), torch.randn(16, 10))
    return Step(lambda x, y: nn.functional.mse_loss(network(x), y), with_update(optimizer),
                [*network.parameters()], [batch])


@workload("digits", f"an epoch of {BATCHES} steps of a 64-64-32-10 network at batch {BATCH}, with Adam",
          numpy=0.8, llvm=0.6)
def digits(torch: Any) -> Step:
    torch.manual_seed(0)
    nn = torch.nn
    network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    batches = [(torch.rand(BATCH, 64), torch.randint(0, 10, (BATCH,))) for _ in range(BATCHES)]
    return classifying(torch, network, optimizer, batches)


@workload("lstm", "a training step of an LSTM from 32 to 32 features on 20 steps at batch 16, with SGD",
          numpy=1.2, llvm=0.8)
def lstm(torch: Any) -> Step:
    return recurrent(torch, "LSTM")


@workload("attention", f"a training step of a transformer layer on 8x64x{WIDTH} with {HEADS} heads, with SGD",
          numpy=1.5, llvm=1)
def attention(torch: Any) -> Step:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, HIDDEN, dropout=0.0, batch_first=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.001)
    # The layer ends with a normalization, so the loss weighs its results: else the gradients would vanish.
    batch = (torch.randn(8, 64, WIDTH), torch.randn(8, 64, WIDTH))
    return Step(lambda x, weights: (layer(x) * weights).mean(), with_update(optimizer), [*layer.parameters()], [batch])
