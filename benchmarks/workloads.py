"""The workloads. Each workload is written once and receives the package as `torch`.

`prepare` makes the inputs once and returns the function to time. This function returns a tensor with one number. The
number shows whether the two packages compute the same result. This module must not know how workloads are timed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Run = Callable[[], Any]
Prepare = Callable[[Any], Run]


@dataclass(frozen=True)
class Workload:
    name: str
    summary: str
    target: float  # the largest allowed ratio of retrograd's time to PyTorch's time
    alone: float | None  # the same with NumPy alone, for workloads that machine code changes
    prepare: Prepare
    rounds: int


WORKLOADS: list[Workload] = []


def workload(name: str, summary: str, *, target: float, alone: float | None = None,
             rounds: int = 31) -> Callable[[Prepare], Prepare]:
    """Add a workload to the list. `rounds` is the number of times that each package is timed."""

    def add(prepare: Prepare) -> Prepare:
        WORKLOADS.append(Workload(name, summary, target, alone, prepare, rounds))
        return prepare

    return add


def by_numpy(torch: Any, run: Run) -> Run:
    """A run of retrograd without machine code."""

    def alone() -> Any:
        with torch.backends.native.flags(enabled=False):
            return run()

    return alone


def _chain(torch: Any) -> tuple[Any, Any, Run]:
    # The factors are near 1, so that a thousand of them neither overflow nor underflow. Denormal numbers are slow.
    x = (1 + 0.001 * torch.rand(2, 3)).requires_grad_()
    y = (1 + 0.001 * torch.rand(2, 3)).requires_grad_()
    start = torch.ones(2, 3)

    def forward() -> Any:
        z = start
        for _ in range(1000):
            z = (z / x) * y
        return z

    return x, y, forward


@workload("chain-forward", "z = (z / x) * y, 1000 times on 2x3: forward", target=0.9)
def chain_forward(torch: Any) -> Run:
    _, _, forward = _chain(torch)
    return lambda: forward()[0, 0]


@workload("chain", "z = (z / x) * y, 1000 times on 2x3: forward and backward", target=0.75)
def chain(torch: Any) -> Run:
    x, y, forward = _chain(torch)

    def run() -> Any:
        x.grad = y.grad = None
        forward().sum().backward()
        return y.grad[1, 2]

    return run


@workload("cubic", "a training step of a cubic on 2,000 points, written by hand", target=0.9)
def cubic(torch: Any) -> Run:
    x = torch.linspace(-math.pi, math.pi, 2000)
    y = torch.sin(x)
    a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))

    def run() -> Any:
        guess = a + b * x + c * x**2 + d * x**3
        loss = (guess - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for weight in (a, b, c, d):
                weight -= 1e-6 * weight.grad
                weight.grad = None
        return loss

    return run


@workload("legendre", "a training step with a custom Function, P3, on 2,000 points", target=0.9)
def legendre(torch: Any) -> Run:
    class P3(torch.autograd.Function):  # type: ignore[misc]  # the base is known only at run time
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return 0.5 * (5 * x**3 - 3 * x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 1.5 * (5 * x**2 - 1)

    x = torch.linspace(-math.pi, math.pi, 2000)
    y = torch.sin(x)
    a, b, c, d = (torch.full((), value, requires_grad=True) for value in (0.0, -1.0, 0.0, 0.3))

    def run() -> Any:
        loss = (a + b * P3.apply(c + d * x) - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for weight in (a, b, c, d):
                weight -= 5e-6 * weight.grad
                weight.grad = None
        return loss

    return run


@workload("model", "a training step of a 1000-100-10 network at batch 16, with SGD", target=0.9)
def model(torch: Any) -> Run:
    nn = torch.nn
    network = nn.Sequential(nn.Linear(1000, 100), nn.ReLU(), nn.Linear(100, 10))
    inputs, ideal = torch.randn(16, 1000), torch.randn(16, 10)
    return training_step(torch.optim.SGD(network.parameters(), lr=0.001),
                         lambda: (ideal - network(inputs)).pow(2).sum())


def training_step(optimizer: Any, loss_now: Run) -> Run:
    """One step down the gradient of the loss that a function computes."""

    def run() -> Any:
        loss = loss_now()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return run


@workload("million", "a chain of a million nodes: forward, backward, release", target=0.6, rounds=3)
def million(torch: Any) -> Run:
    x = torch.ones(2, requires_grad=True)

    def run() -> Any:
        x.grad = None
        y = x
        for _ in range(1_000_000):
            y = y * 1.0000001
        y.sum().backward()
        return x.grad[0]

    return run


@workload("jacobian", "functional.jacobian of 2 * exp(x) + 3 * y for x and y of 3 numbers", target=0.8)
def jacobian(torch: Any) -> Run:
    inputs = (torch.rand(3), torch.rand(3))
    differentiate = torch.autograd.functional.jacobian

    def run() -> Any:
        return differentiate(lambda x, y: 2 * x.exp() + 3 * y, inputs)[0][2, 2]

    return run


@workload("data-loader", "an epoch over 60,000 samples in shuffled batches of 64", target=1.0, rounds=5)
def data_loader(torch: Any) -> Run:
    dataset = torch.utils.data.TensorDataset(torch.arange(60_000 * 4.0).view(60_000, 4), torch.arange(60_000))
    loader = torch.utils.data.DataLoader(dataset, batch_size=64, shuffle=True)

    def run() -> Any:
        return sum(rows[:, 0].sum() for rows, _ in loader)

    return run


@workload("rmsprop", "a training step of a 64-64-64-10 network at batch 16, with RMSprop", target=1.0)
def rmsprop(torch: Any) -> Run:
    nn = torch.nn
    network = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    inputs, ideal = torch.randn(16, 64), torch.randn(16, 10)
    return training_step(torch.optim.RMSprop(network.parameters(), lr=1e-5),
                         lambda: (ideal - network(inputs)).pow(2).sum())


@workload("lstm", "an LSTM from 32 to 32 features on 20 steps at batch 16: forward and backward", target=1.0)
def lstm(torch: Any) -> Run:
    return _recurrent_step(torch, torch.nn.LSTM(32, 32))


@workload("gru", "a GRU from 32 to 32 features on 20 steps at batch 16: forward and backward", target=0.8)
def gru(torch: Any) -> Run:
    return _recurrent_step(torch, torch.nn.GRU(32, 32))


def _recurrent_step(torch: Any, network: Any) -> Run:
    inputs = torch.randn(20, 16, 32)

    def run() -> Any:
        network.zero_grad()
        network(inputs)[0].sum().backward()
        return network.weight_hh_l0.grad.sum()

    return run
