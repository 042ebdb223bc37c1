"""Training steps of small networks, sums over many leaves, and element-wise functions of large arrays.

`workloads` explains the form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs import EXAMPLES
from benchmarks.workloads import Run, training_step, workload

BATCH = 32


def _digits(torch: Any) -> tuple[Any, Any]:
    """The scans of examples/digits.py as images of 1x8x8 numbers from 0 to 1, and the digit of each image."""
    with np.load(EXAMPLES / "data" / "digits.npz") as scans:
        images, digits = scans["images"], scans["labels"]
    return torch.from_numpy(images.astype("float32") / 16)[:, None], torch.from_numpy(digits.astype("int64"))


@workload("digits-adam", "an epoch over 1,797 digits: a 64-128-10 network at batch 32, cross-entropy, Adam", target=0.7,
          rounds=9)
def digits_adam(torch: Any) -> Run:
    nn = torch.nn
    images, digits = _digits(torch)
    network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-6)
    steps = [training_step(optimizer, lambda x=x, y=y: nn.functional.cross_entropy(network(x), y))  # type: ignore[misc]
             for x, y in zip(images.flatten(1).split(BATCH), digits.split(BATCH))]
    return lambda: [step() for step in steps][-1]


@workload("cnn", "a training step of a small convolutional network on 32 digits, with SGD", target=0.8, alone=1.1,
          rounds=15)
def cnn(torch: Any) -> Run:
    nn = torch.nn
    images, digits = (rows[:BATCH] for rows in _digits(torch))
    network = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1),
                            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10))
    return training_step(torch.optim.SGD(network.parameters(), lr=1e-6),
                         lambda: nn.functional.cross_entropy(network(images), digits))


@workload("attention", "a training step of a block with 4 heads of attention on 8x64x64, with SGD",
          target=0.5, alone=0.8, rounds=15)
def attention(torch: Any) -> Run:
    nn = torch.nn
    block = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    x, ideal = torch.randn(8, 64, 64), torch.randn(8, 64, 64)
    return training_step(torch.optim.SGD(block.parameters(), lr=1e-6), lambda: nn.functional.mse_loss(block(x), ideal))


@workload("leaves", "the sum of 10,000 leaves, forward and backward", target=0.8, rounds=9)
def leaves(torch: Any) -> Run:
    weights = [torch.ones(2, requires_grad=True) for _ in range(10_000)]

    def run() -> Any:
        for weight in weights:
            weight.grad = None
        total = weights[0]
        for weight in weights[1:]:
            total = total + weight
        total.sum().backward()
        return weights[-1].grad[0]

    return run


def _pointwise(torch: Any, size: int) -> Run:
    x = torch.randn(size, requires_grad=True)

    def run() -> Any:
        x.grad = None
        (torch.sin(x) * x + torch.exp(x)).sum().backward()
        return x.grad[-1]

    return run


@workload("pointwise-1e5", "sin(a) * a + exp(a) of 100,000 numbers, forward and backward", target=0.3, alone=0.6)
def pointwise_1e5(torch: Any) -> Run:
    return _pointwise(torch, 100_000)


@workload("pointwise-1e6", "the same of a million numbers", target=0.3, alone=0.6, rounds=15)
def pointwise_1e6(torch: Any) -> Run:
    return _pointwise(torch, 1_000_000)


@workload("pointwise-1e7", "the same of ten million numbers", target=0.3, alone=0.6, rounds=5)
def pointwise_1e7(torch: Any) -> Run:
    return _pointwise(torch, 10_000_000)
