"""Learning rates of each schedule, as the formula in its docstring says, and what schedules refuse."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.optim import lr_scheduler as schedules

RATE, LOW, EPOCHS = 0.5, 0.02, 14


def optimizer(**options: Any) -> Any:
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=RATE, **options)


def restarts(epoch: float, first: int, factor: int) -> float:
    """The rate of warm restarts: a cosine over `first` epochs, then over `factor` times as many, and so on."""
    length = first
    while epoch >= length:
        epoch -= length
        length *= factor
    return LOW + (RATE - LOW) * (1 + math.cos(math.pi * epoch / length)) / 2


def cycle(epoch: int, up: int, down: int) -> tuple[int, float]:
    """The number of the cycle, counted from 1, and how far up the rate is in it."""
    number, place = divmod(epoch, up + down)
    return number + 1, place / up if place <= up else 1 - (place - up) / down


def one_cycle(epoch: int, total: int, share: float) -> float:
    """The rate of one cycle from a 25th of the largest rate up, and down to a 10,000th of the first."""
    first, last, top = RATE / 25, RATE / 25 / 1e4, share * total - 1

    def between(start: float, end: float, part: float) -> float:
        return end + (start - end) / 2 * (1 + math.cos(math.pi * part))

    return between(first, RATE, epoch / top) if epoch <= top else between(RATE, last, (epoch - top) / (total - 1 - top))


# The schedule of an optimizer, and the rate of an epoch.
SCHEDULES: dict[str, tuple[Callable[[Any], Any], Callable[[int], float]]] = {
    "StepLR": (lambda o: schedules.StepLR(o, 3, 0.5), lambda e: RATE * 0.5 ** (e // 3)),
    "MultiStepLR": (lambda o: schedules.MultiStepLR(o, [2, 5], 0.1), lambda e: RATE * 0.1 ** ((e >= 2) + (e >= 5))),
    "ExponentialLR": (lambda o: schedules.ExponentialLR(o, 0.9), lambda e: RATE * 0.9 ** e),
    "ConstantLR": (lambda o: schedules.ConstantLR(o, 0.25, 4), lambda e: RATE * (0.25 if e < 4 else 1)),
    "ConstantLR, 1": (lambda o: schedules.ConstantLR(o, 1.0, 4), lambda e: RATE),
    "LinearLR": (lambda o: schedules.LinearLR(o, 0.25, 0.75, 4), lambda e: RATE * (0.25 + 0.5 * min(e, 4) / 4)),
    "PolynomialLR": (lambda o: schedules.PolynomialLR(o, 5, 2.0), lambda e: RATE * (1 - min(e, 5) / 5) ** 2),
    "LambdaLR": (lambda o: schedules.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: RATE / (1 + e)),
    "MultiplicativeLR": (lambda o: schedules.MultiplicativeLR(o, lambda e: 0.9), lambda e: RATE * 0.9 ** e),
    "CosineAnnealingLR": (lambda o: schedules.CosineAnnealingLR(o, 5, LOW),
                          lambda e: LOW + (RATE - LOW) * (1 + math.cos(math.pi * e / 5)) / 2),
    "CosineAnnealingWarmRestarts": (lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, 2, LOW),
                                    lambda e: restarts(e, 3, 2)),
    "CosineAnnealingWarmRestarts, 1": (lambda o: schedules.CosineAnnealingWarmRestarts(o, 3, 1, LOW),
                                       lambda e: restarts(e, 3, 1)),
    "CyclicLR": (lambda o: schedules.CyclicLR(o, LOW, RATE, 3, 2, cycle_momentum=False),
                 lambda e: LOW + (RATE - LOW) * cycle(e, 3, 2)[1]),
    "CyclicLR, triangular2": (
        lambda o: schedules.CyclicLR(o, LOW, RATE, 3, 2, "triangular2", cycle_momentum=False),
        lambda e: LOW + (RATE - LOW) * cycle(e, 3, 2)[1] / 2 ** (cycle(e, 3, 2)[0] - 1)),
    "CyclicLR, exp_range": (
        lambda o: schedules.CyclicLR(o, LOW, RATE, 3, 2, "exp_range", 0.9, cycle_momentum=False),
        lambda e: LOW + (RATE - LOW) * cycle(e, 3, 2)[1] * 0.9 ** e),
    "CyclicLR, exp_range of 1": (lambda o: schedules.CyclicLR(o, LOW, RATE, 4, mode="exp_range", cycle_momentum=False),
                                 lambda e: LOW + (RATE - LOW) * cycle(e, 4, 4)[1]),
    "OneCycleLR": (lambda o: schedules.OneCycleLR(o, RATE, total_steps=20, cycle_momentum=False),
                   lambda e: one_cycle(e, 20, 0.3)),
    "SequentialLR": (
        lambda o: schedules.SequentialLR(o, [schedules.ConstantLR(o, 0.1, 9), schedules.ExponentialLR(o, 0.9)], [3]),
        lambda e: RATE * (0.1 if e < 3 else 0.9 ** (e - 3))),
    "ChainedScheduler": (
        lambda o: schedules.ChainedScheduler([schedules.ConstantLR(o, 0.1, 3), schedules.ExponentialLR(o, 0.9)]),
        lambda e: RATE * 0.9 ** e * (0.1 if e < 3 else 1))}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_rate_of_each_epoch_is_that_of_the_formula(name: str) -> None:
    make, rate = SCHEDULES[name]
    stepped = optimizer()
    schedule, found = make(stepped), list[float]()
    for _ in range(EPOCHS):
        found.append(stepped.param_groups[0]["lr"])
        assert schedule.get_last_lr() == found[-1:]
        stepped.step()
        schedule.step()
    assert found == pytest.approx([rate(epoch) for epoch in range(EPOCHS)], rel=1e-9)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_its_state(name: str) -> None:
    make, rate = SCHEDULES[name]
    former, later = optimizer(), optimizer()
    schedule = make(former)
    for _ in range(6):
        former.step()
        schedule.step()
    resumed = make(later)
    later.load_state_dict(copy.deepcopy(former.state_dict()))
    resumed.load_state_dict(copy.deepcopy(schedule.state_dict()))
    for epoch in range(6, EPOCHS):
        assert later.param_groups[0]["lr"] == pytest.approx(rate(epoch), rel=1e-9)
        later.step()
        resumed.step()


@pytest.mark.parametrize("factor", [1, 2])
def test_warm_restarts_take_parts_of_epochs(factor: int) -> None:
    stepped = optimizer()
    schedule = schedules.CosineAnnealingWarmRestarts(stepped, 3, factor, LOW)
    stepped.step()
    for epoch in (0.5, 2.5, 3.0, 4.75, 9.0, 13.5, 21.25, 2.0):
        schedule.step(epoch)
        assert stepped.param_groups[0]["lr"] == pytest.approx(restarts(epoch, 3, factor), rel=1e-9)
    with pytest.raises(ValueError, match="^Expected non-negative epoch, but got -1$"):
        schedule.step(-1)


def test_momentum_moves_against_the_rate() -> None:
    stepped = optimizer(momentum=0.9)
    schedule, found = schedules.CyclicLR(stepped, LOW, RATE, 2, base_momentum=0.7, max_momentum=0.9), list[float]()
    for _ in range(6):
        found.append(stepped.param_groups[0]["momentum"])
        stepped.step()
        schedule.step()
    assert found == pytest.approx([0.9, 0.8, 0.7, 0.8, 0.9, 0.8])


def test_a_plateau_lowers_the_rate() -> None:
    stepped = optimizer()
    schedule, found = schedules.ReduceLROnPlateau(stepped, patience=1, factor=0.5, cooldown=1), list[float]()
    for loss in (1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.1):
        stepped.step()
        schedule.step(loss)
        found.append(stepped.param_groups[0]["lr"])
    assert found == [RATE, RATE, RATE, RATE / 2, RATE / 2, RATE / 2, RATE / 4, RATE / 4]


@pytest.mark.parametrize(("make", "message"), [
    (lambda o: schedules.ConstantLR(o, 1.1), "Constant multiplicative factor expected to be between 0 and 1."),
    (lambda o: schedules.ConstantLR(o, -0.1), "Constant multiplicative factor expected to be between 0 and 1."),
    (lambda o: schedules.SequentialLR(o, [o], [1]),
     "SequentialLR at index 0 should have `optimizer` as its attribute."),
    (lambda o: schedules.ChainedScheduler([schedules.StepLR(o, 1), 3]),
     "ChainedScheduler at index 1 should have `optimizer` as its attribute."),
    (lambda o: schedules.SequentialLR(o, [schedules.ReduceLROnPlateau(o)], [1]),
     "SequentialLR does not support `ReduceLROnPlateau` scheduler"),
    (lambda o: torch.optim.Adagrad([torch.ones(1)], weight_decay=-1), "Invalid weight_decay value: -1"),
    (lambda o: torch.optim.Adagrad([torch.ones(1)], lr_decay=-1), "Invalid lr_decay value: -1"),
    (lambda o: torch.optim.Adagrad([torch.ones(1)], initial_accumulator_value=-1),
     "Invalid initial_accumulator_value value: -1"),
    (lambda o: torch.optim.Adagrad([torch.ones(1)], eps=-1), "Invalid epsilon value: -1")])
def test_what_cannot_be_is_refused(make: Callable[[Any], Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as error:
        make(optimizer())
    assert str(error.value).startswith(message)
