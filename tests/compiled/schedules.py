"""Optimizers, schedules and a training step, for tests of options that change from step to step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import retrograd as torch
from compiled.steps import step_of
from retrograd import nn
from retrograd.optim import lr_scheduler

CALLS = 14

OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "SGD": lambda p, lr: torch.optim.SGD(p, lr),
    "SGD with momentum": lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9, weight_decay=0.1, dampening=0.1),
    "Nesterov": lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9, nesterov=True),
    "Adam": lambda p, lr: torch.optim.Adam(p, lr, weight_decay=0.1),
    "AdamW": lambda p, lr: torch.optim.AdamW(p, lr, amsgrad=True),
    "RMSprop": lambda p, lr: torch.optim.RMSprop(p, lr, momentum=0.9, weight_decay=0.1),
    "centered RMSprop": lambda p, lr: torch.optim.RMSprop(p, lr, momentum=0.9, centered=True, maximize=True),
    "Adagrad": lambda p, lr: torch.optim.Adagrad(p, lr, lr_decay=0.01, weight_decay=0.1),
    "Adadelta": lambda p, lr: torch.optim.Adadelta(p, lr, weight_decay=0.1),
    "Adamax": lambda p, lr: torch.optim.Adamax(p, lr, weight_decay=0.1),
    "NAdam": lambda p, lr: torch.optim.NAdam(p, lr, weight_decay=0.1, decoupled_weight_decay=True),
    "RAdam": lambda p, lr: torch.optim.RAdam(p, lr, weight_decay=0.1),
    "ASGD": lambda p, lr: torch.optim.ASGD(p, lr, t0=4, weight_decay=0.1),
    "Rprop": lambda p, lr: torch.optim.Rprop(p, lr),
    "Adafactor": lambda p, lr: torch.optim.Adafactor(p, lr, weight_decay=0.1),
}


class ByHand:
    """Changes the weight decay, as programs do that have no class for it."""

    def __init__(self, optimizer: Any) -> None:
        self.optimizer, self.calls = optimizer, 0

    def step(self) -> None:
        self.calls += 1
        for group in self.optimizer.param_groups:
            group["weight_decay"] = 0.2 / (1 + self.calls)


SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "steps": lambda optimizer: lr_scheduler.StepLR(optimizer, 2, 0.9),
    "cosine": lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, 20),
    "function": lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.95 ** epoch),
    "in sequence": lambda optimizer: lr_scheduler.SequentialLR(optimizer, [
        lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4), lr_scheduler.ExponentialLR(optimizer, 0.9)], [5]),
    "one cycle": lambda optimizer: lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=CALLS + 2),
    "cycles": lambda optimizer: lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, 3),
    "plateau": lambda optimizer: lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.9, patience=0, threshold=0.5),
    "weight decay by hand": ByHand,
}

class Training:
    """A small network, its optimizer, and a batch."""

    def __init__(self, make: Callable[..., Any], lr: Any = 0.05, dtype: Any = torch.float32) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3, bias=False)).to(dtype)
        self.optimizer = make(self.model.parameters(), lr)
        self.x = torch.randn(7, 5, dtype=dtype)

    def step(self) -> Callable[[Any], Any]:
        return step_of(self.model, self.optimizer)

    def numbers(self) -> list[Any]:
        """All parameters, and all numbers in the state of the optimizer."""
        held = [value for state in self.optimizer.state.values() for value in state.values()]
        return [x.detach().numpy().copy() for x in (*self.model.parameters(), *held) if isinstance(x, torch.Tensor)]


def assert_as_eager(run: Callable[[Callable[..., Any], Any], list[Any]], backend: str) -> None:
    """`run(change, dtype)` gives the same for a compiled step: with NumPy bit for bit.

    Machine code sums in another order, so its steps are compared in double precision.
    """
    dtype = torch.float32 if backend == "numpy" else torch.float64
    found = run(lambda step: torch.compile(step, backend=backend), dtype)
    for f, e in zip(found, run(lambda step: step, dtype), strict=True):
        if backend == "numpy":
            np.testing.assert_array_equal(f, e)
        else:
            np.testing.assert_allclose(f, e, rtol=1e-6, atol=1e-9)
