"""Learning rates in compiled steps: schedules change them from call to call, and no new trace is needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS, noted_traces
from compiled.steps import step_of
from retrograd import nn
from retrograd.optim import lr_scheduler

pytestmark = pytest.mark.filterwarnings("error")

OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "SGD": lambda p, lr: torch.optim.SGD(p, lr),
    "SGD with all options": lambda p, lr: torch.optim.SGD(p, lr, momentum=0.9, weight_decay=0.1, nesterov=True),
    "Adam": lambda p, lr: torch.optim.Adam(p, lr, weight_decay=0.1),
    "AdamW": lambda p, lr: torch.optim.AdamW(p, lr, weight_decay=0.3, amsgrad=True),
    "AdamW going up": lambda p, lr: torch.optim.AdamW(p, lr, maximize=True),
}
SCHEDULES: dict[str, Callable[[Any], Any]] = {
    "exponential": lambda optimizer: lr_scheduler.ExponentialLR(optimizer, 0.8),
    "cosine": lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, 12),
    "in steps": lambda optimizer: lr_scheduler.StepLR(optimizer, 2, 0.1),
    "warm-up": lambda optimizer: lr_scheduler.LinearLR(optimizer, 0.1, total_iters=8),
}


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> Any:
    """Each of the two ways to run a plan."""
    return request.param


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that were traced."""
    return noted_traces(monkeypatch)


class Training:
    """A step of a small network, and what drives its learning rate."""

    def __init__(self, make: Callable[[Any, Any], Any], lr: Any = 0.1, dtype: Any = torch.float32) -> None:
        torch.manual_seed(0)
        self.model = nn.Linear(5, 3, dtype=dtype)
        self.optimizer = make(self.model.parameters(), lr)
        self.x = torch.randn(7, 5, dtype=dtype)

    def step(self) -> Callable[[Any], Any]:
        return step_of(self.model, self.optimizer)

    def run(self, step: Callable[[Any], Any], after: Callable[[int], object], calls: int = 12) -> list[Any]:
        """The losses, and the parameters at the end."""
        losses = []
        for i in range(calls):
            losses.append(step(self.x).item())
            after(i)
        return [np.array(losses), *[p.detach().numpy().copy() for p in self.model.parameters()]]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-5, atol=1e-7)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("as_tensor", [False, True], ids=["number", "tensor"])
def test_a_schedule_needs_no_new_trace(kind: str, schedule: str, as_tensor: bool, backend: str,
                                       traces: list[Any]) -> None:
    found = []
    for compiled in (False, True):
        training = Training(OPTIMIZERS[kind], torch.tensor(0.1) if as_tensor else 0.1)
        scheduler = SCHEDULES[schedule](training.optimizer)
        step = torch.compile(training.step(), backend=backend) if compiled else training.step()
        found.append(training.run(step, lambda i, scheduler=scheduler: scheduler.step()))  # type: ignore[misc]
    assert_same(found[1], found[0])
    assert len(traces) <= 3                                # the first has no gradients and no state yet


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("lr", [0.0, 1e-30, 0.1, 1e30, math.inf, math.nan])
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_numpy_gives_the_same_bits_for_each_rate(kind: str, lr: float, dtype: Any) -> None:
    found = []
    for compiled in (False, True):
        training = Training(OPTIMIZERS[kind], 0.1, dtype)
        step = torch.compile(training.step(), backend="numpy") if compiled else training.step()
        found.append(training.run(step, lambda i, t=training: t.optimizer.param_groups[0].update(lr=lr), 5))  # type: ignore[misc]
    for f, e in zip(found[1], found[0], strict=True):
        np.testing.assert_array_equal(f, e)


def reads_the_rate(training: Training) -> Callable[[Any], Any]:
    plain, optimizer = training.step(), training.optimizer
    return lambda x: plain(x) * optimizer.param_groups[0]["lr"]


def holds_the_options(training: Training) -> Callable[[Any], Any]:
    plain, options = training.step(), training.optimizer.param_groups[0]
    return lambda x: plain(x) * options["lr"]


def holds_all_options(training: Training) -> Callable[[Any], Any]:
    plain, groups = training.step(), training.optimizer.param_groups
    return lambda x: plain(x) * sum([group["lr"] for group in groups])


def looks_at_the_state(training: Training) -> Callable[[Any], Any]:
    plain, optimizer = training.step(), training.optimizer
    return lambda x: plain(x) * optimizer.state_dict()["param_groups"][0]["lr"]


def takes_the_options(training: Training) -> Callable[[Any], Any]:
    plain, options = training.step(), training.optimizer.param_groups[0]
    inner = torch.compile(lambda x, options: plain(x) * options["lr"], backend="numpy")
    return lambda x: inner(x, options)


@pytest.mark.parametrize("make", [reads_the_rate, holds_the_options, holds_all_options, looks_at_the_state])
def test_programs_that_read_the_rate_see_each_rate(make: Callable[[Training], Any], backend: str) -> None:
    found = []
    for compiled in (False, True):
        training = Training(OPTIMIZERS["Adam"])
        step = torch.compile(make(training), backend=backend) if compiled else make(training)
        found.append(training.run(step, lambda i, t=training: t.optimizer.param_groups[0].update(lr=0.1 / (i % 3 + 1))))  # type: ignore[misc]
    assert_same(found[1], found[0])


def test_options_in_the_arguments() -> None:
    found = []
    for make in (holds_the_options, takes_the_options):
        training = Training(OPTIMIZERS["SGD"])
        found.append(training.run(
            make(training), lambda i, t=training: t.optimizer.param_groups[0].update(lr=0.1 / (i % 3 + 1))))  # type: ignore[misc]
    assert_same(found[1], found[0])


def test_rates_of_several_groups_and_of_other_kinds(backend: str, traces: list[Any]) -> None:
    """A number may become an int or a tensor, and a number again."""
    rates: list[Any] = [0.1, 0.2, 1, 1, torch.tensor(0.05), 0.3, torch.tensor([0.2], dtype=torch.float64), 0.1, 0.4]
    found = []
    for compiled in (False, True):
        training = Training(lambda p, lr: torch.optim.AdamW([{"params": [q], "lr": lr} for q in p], weight_decay=0.2))
        groups = training.optimizer.param_groups
        step = torch.compile(training.step(), backend=backend) if compiled else training.step()

        def change(i: int, groups: Any = groups) -> None:
            groups[1]["lr"], groups[0]["lr"] = rates[i % len(rates)], 0.1 / (i + 1)

        found.append(training.run(step, change, 11))
    assert_same(found[1], found[0])
    assert len(traces) <= 7


def test_rates_and_sizes_change_together(backend: str, traces: list[Any]) -> None:
    found = []
    for compiled in (False, True):
        training = Training(OPTIMIZERS["Adam"])
        scheduler, plain = lr_scheduler.ExponentialLR(training.optimizer, 0.8), training.step()
        step = torch.compile(plain, backend=backend, dynamic=True) if compiled else plain
        losses = []
        for i in range(14):
            losses.append(step(training.x[:3 + i % 5]).item())
            scheduler.step()
        found.append([np.array(losses)])
    assert_same(found[1], found[0])
    assert len(traces) <= 4


@pytest.mark.parametrize("whole", [False, True])
def test_the_options_are_the_same_after_a_trace(whole: bool) -> None:
    """Also if the call raises an error, or cannot be compiled."""
    training = Training(OPTIMIZERS["SGD"])
    plain, options = training.step(), training.optimizer.param_groups[0]

    def looking(x: Any) -> Any:
        return x * float(plain(x))

    def raising(x: Any) -> Any:
        plain(x)
        raise KeyError("after the step")

    for function in (plain, looking, raising):
        try:
            with pytest.warns(UserWarning, match="numbers") if function is looking and not whole else nullcontext():
                torch.compile(function, backend="numpy", fullgraph=whole)(training.x)
        except (KeyError, RuntimeError):
            assert function is not plain
        assert type(options["lr"]) is float
        assert options["lr"] == 0.1
