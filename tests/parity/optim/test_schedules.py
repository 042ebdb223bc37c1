"""Schedules of learning rates against PyTorch: rates and momenta epoch for epoch, closed forms, states, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.same_expression import said

LIBRARIES = (torch, retrograd)
Make = Callable[[Any, Any], Any]
SCHEDULES: dict[str, Make] = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.3), "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5], 0.3),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda e: 1 / (e + 1)),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.9),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.5, 4), "LinearLR": lambda s, o: s.LinearLR(o, 0.3, 0.9, 6),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 6, 2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "warm restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "longer and longer": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "triangular": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, 5, cycle_momentum=False),
    "triangular2": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, mode="triangular2", base_momentum=0.7),
    "exp_range": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, mode="exp_range", gamma=0.9),
    "scale_fn": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, scale_fn=lambda x: 1 / x),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, 12),
    "three phases": lambda s, o: s.OneCycleLR(o, 0.5, epochs=3, steps_per_epoch=5, three_phase=True,
                                              anneal_strategy="linear"),
    "one step too many": lambda s, o: s.OneCycleLR(o, 0.5, 7)}
COMBINED: dict[str, Make] = {
    "one after the other": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9), s.CosineAnnealingLR(o, 3)], [3, 6]),
    "from the first epoch": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 3), s.StepLR(o, 2, 0.5)], [0]),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)]),
    "chains in sequence": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.LinearLR(o, 0.2, 1.0, 3), s.StepLR(o, 2, 0.5)]), s.ExponentialLR(o, 0.8)], [4])}
OPTIMIZERS: dict[str, dict[str, Any]] = {"SGD": {"momentum": 0.9}, "Adam": {}}


def optimizer_of(library: Any, kind: str = "SGD", rates: Any = (0.1,), **options: Any) -> Any:
    groups = [{"params": [library.nn.Parameter(library.ones(1))], "lr": rate} for rate in rates]
    return getattr(library.optim, kind)(groups, **options)


def rates_in(optimizer: Any) -> list[float]:
    return [float(x) for group in optimizer.param_groups
            for x in (group["lr"], group.get("momentum", 0), *group.get("betas", ()))]


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the type and the message of its error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__, said(error)


def course(library: Any, make: Make, optimizer: Any) -> list[Any]:
    """The rates of twelve epochs, what the state holds, and the rates after the state was loaded."""
    schedule = make(library.optim.lr_scheduler, optimizer)
    found: list[Any] = []
    for _ in range(12):
        found += [rates_in(optimizer), [float(lr) for lr in schedule.get_last_lr()]]
        optimizer.step()
        failed = outcome(schedule.step)
        if failed is not None:
            return [*found, failed]
    found.append(sorted(schedule.state_dict()))
    again = make(library.optim.lr_scheduler, optimizer)
    again.load_state_dict(schedule.state_dict())
    failed = outcome(again.step)
    return [*found, failed, rates_in(optimizer), getattr(again, "last_epoch", None)]


def assert_alike(ours: list[Any], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(b, list) and b and isinstance(b[0], float):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        else:
            assert a == b


@pytest.mark.filterwarnings("ignore:Detected call")          # a chain in a sequence makes two first steps
@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", [*SCHEDULES, *COMBINED])
def test_rates_epoch_for_epoch(name: str, kind: str) -> None:
    for rates in ((0.1,), (0.1, 0.3)):
        theirs, ours = (course(library, (SCHEDULES | COMBINED)[name],
                               optimizer_of(library, kind, rates, **OPTIMIZERS[kind])) for library in LIBRARIES)
        assert_alike(ours, theirs)


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("name", [*SCHEDULES, *COMBINED])
def test_a_rate_that_is_a_tensor_keeps_its_identity(name: str) -> None:
    courses = []
    for library in LIBRARIES:
        rate = library.tensor(0.1, dtype=library.float64)
        optimizer = optimizer_of(library, "Adam", (rate,))
        courses.append(course(library, (SCHEDULES | COMBINED)[name], optimizer))
        assert optimizer.param_groups[0]["lr"] is rate
    assert_alike(courses[1], courses[0])


@pytest.mark.filterwarnings("ignore:The epoch parameter")
@pytest.mark.parametrize("name", SCHEDULES)
def test_closed_forms(name: str) -> None:
    theirs, ours = ([], [])
    for library, found in zip(LIBRARIES, (theirs, ours), strict=True):
        optimizer = optimizer_of(library, momentum=0.9)
        schedule = SCHEDULES[name](library.optim.lr_scheduler, optimizer)
        for epoch in (3, 7, 1, 5, 0):
            optimizer.step()
            schedule.step(epoch)
            found.append(rates_in(optimizer))
    assert_alike(ours, theirs)


PLATEAUS: list[dict[str, Any]] = [
    {}, {"mode": "max"}, {"threshold_mode": "abs", "threshold": 0.2}, {"cooldown": 2, "patience": 1},
    {"min_lr": [0.05], "patience": 0}, {"mode": "max", "threshold_mode": "abs", "patience": 0, "factor": 0.5}]


@pytest.mark.parametrize("options", PLATEAUS)
def test_waiting_for_a_plateau(options: dict[str, Any]) -> None:
    courses = []
    for library in LIBRARIES:
        optimizer = optimizer_of(library)
        schedule = library.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **{"patience": 2, **options})
        found: list[Any] = []
        for measure in [1, .9, .9, .95, .9, .91, .92, .5, .6, .7, .8, .9, 1., 1.1, library.tensor(2.)]:
            schedule.step(measure)
            found += [schedule.get_last_lr(), [float(schedule.best)], schedule.num_bad_epochs, schedule.in_cooldown]
        courses.append([*found, sorted(schedule.state_dict())])
    assert_alike(courses[1], courses[0])


WRONG: list[Make] = [
    lambda s, o: s.StepLR(3, 1), lambda s, o: s.ConstantLR(o, 2.), lambda s, o: s.LinearLR(o, 2.),
    lambda s, o: s.LinearLR(o, .5, 2.), lambda s, o: s.LambdaLR(o, [abs, abs]), lambda s, o: s.MultiplicativeLR(o, 3),
    lambda s, o: s.SequentialLR(o, [], []), lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [1]),
    lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []), lambda s, o: s.SequentialLR(o, [3], []),
    lambda s, o: s.ChainedScheduler([]), lambda s, o: s.ReduceLROnPlateau(o, "x"),
    lambda s, o: s.ReduceLROnPlateau(o, factor=1.), lambda s, o: s.ReduceLROnPlateau(3),
    lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="x"), lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1, 2]),
    lambda s, o: s.CyclicLR(o, [.1, .2], .2), lambda s, o: s.CyclicLR(o, .1, .2, mode="x"),
    lambda s, o: s.CyclicLR(3, 1, 2), lambda s, o: s.OneCycleLR(o, .1), lambda s, o: s.OneCycleLR(o, .1, -1),
    lambda s, o: s.OneCycleLR(o, .1, epochs=0, steps_per_epoch=1),
    lambda s, o: s.OneCycleLR(o, .1, epochs=1, steps_per_epoch=1.5),
    lambda s, o: s.OneCycleLR(o, .1, 5, pct_start=2.), lambda s, o: s.OneCycleLR(o, .1, 5, anneal_strategy="x"),
    lambda s, o: s.OneCycleLR(o, [.1, .2], 5), lambda s, o: s.CosineAnnealingWarmRestarts(o, 0),
    lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 0), lambda s, o: s.CosineAnnealingWarmRestarts(o, 1, 1, "x")]


@pytest.mark.parametrize("kind", ["SGD", "Adagrad"])
def test_what_is_refused(kind: str) -> None:
    for make in WRONG:
        theirs, ours = (outcome(partial(make, library.optim.lr_scheduler, optimizer_of(library, kind)))
                        for library in LIBRARIES)
        assert isinstance(theirs, tuple)
        assert ours == theirs


def test_warnings() -> None:
    said = []
    for library in LIBRARIES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schedule = library.optim.lr_scheduler.StepLR(optimizer_of(library), 2)
            schedule.get_lr()
            schedule.step()
            schedule.step(4)
        said.append([(w.category, str(w.message).partition(".")[0]) for w in caught])
    assert said[0] == said[1]
    assert len(said[0]) == 3


def test_a_schedule_of_ones_own() -> None:
    for library in LIBRARIES:
        class Half(library.optim.lr_scheduler._LRScheduler):  # type: ignore[misc, name-defined]
            def get_lr(self) -> list[float]:
                return [base / 2 for base in self.base_lrs]

        assert Half(optimizer_of(library)).get_last_lr() == [0.05]
