"""Steps of schedules inside of compiled steps, in programs that see what the schedules do."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from compiled.schedules import OPTIMIZERS, SCHEDULES, Training, assert_as_eager
from compiled.sizes import EXECUTORS
from retrograd.optim import lr_scheduler

pytestmark = pytest.mark.filterwarnings("error")


def the_rate_is_returned(training: Training, scheduler: Any) -> Callable[[Any], Any]:
    plain = training.step()

    def step(x: Any) -> Any:
        loss = plain(x)
        scheduler.step()
        return loss * scheduler.get_last_lr()[0]
    return step


def the_epoch_is_returned(training: Training, scheduler: Any) -> Callable[[Any], Any]:
    plain = training.step()

    def step(x: Any) -> Any:
        loss = plain(x)
        scheduler.step()
        return loss * scheduler.last_epoch
    return step


def the_schedule_comes_first(training: Training, scheduler: Any) -> Callable[[Any], Any]:
    plain = training.step()

    def step(x: Any) -> Any:
        scheduler.step()
        return plain(x)
    return step


def the_optimizer_steps_twice(training: Training, scheduler: Any) -> Callable[[Any], Any]:
    plain = training.step()

    def step(x: Any) -> Any:
        plain(x)
        scheduler.step()
        type(training.optimizer).step(training.optimizer)
        return plain(x)
    return step


def the_step_raises_an_error(training: Training, scheduler: Any) -> Callable[[Any], Any]:
    plain = training.step()

    def step(x: Any) -> Any:
        loss = plain(x)
        scheduler.step()
        if len(training.optimizer.state) < 0:
            return None
        raise KeyError(str(loss.shape))

    def caught(x: Any) -> Any:
        with pytest.raises(KeyError):
            step(x)
        return x.sum()
    return caught


@pytest.mark.sampled(4)
@pytest.mark.parametrize("make", [the_rate_is_returned, the_epoch_is_returned, the_schedule_comes_first,
                                  the_optimizer_steps_twice, the_step_raises_an_error])
@pytest.mark.parametrize("as_tensor", [False, True], ids=["number", "tensor"])
def test_steps_of_schedules_that_something_sees(make: Callable[..., Any], as_tensor: bool) -> None:
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS["Adam"], torch.tensor(0.05) if as_tensor else 0.05, dtype)
        scheduler = SCHEDULES["one cycle"](training.optimizer)
        step = change(make(training, scheduler))
        losses = [step(training.x).item() for _ in range(6)]
        return [np.array(losses), *training.numbers(), np.array(scheduler.last_epoch),
                np.array([float(rate) for rate in scheduler.get_last_lr()])]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_as_eager(run, "numpy")


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("steps", [1, 5])
def test_an_error_of_a_schedule_comes_after_the_step(steps: int, backend: str) -> None:
    """In the traced call, and in a repetition."""
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS["SGD with momentum"], dtype=dtype)
        scheduler, plain = lr_scheduler.OneCycleLR(training.optimizer, 0.1, total_steps=steps), training.step()

        def step(x: Any) -> Any:
            loss = plain(x)
            scheduler.step()
            return loss

        step, losses = change(step), []
        for _ in range(steps):
            losses.append(step(training.x).item())
        with pytest.raises(ValueError, match="The specified number of total steps"):
            step(training.x)
        return [np.array(losses), *training.numbers()]

    assert_as_eager(run, backend)


def test_a_rate_that_the_program_holds_as_a_tensor() -> None:
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        rate = torch.tensor(0.05)
        training = Training(OPTIMIZERS["Adam"], rate, dtype)
        scheduler, plain = SCHEDULES["steps"](training.optimizer), training.step()

        def step(x: Any) -> Any:
            loss = plain(x)
            scheduler.step()
            return loss * rate

        step = change(step)
        return [np.array([step(training.x).item() for _ in range(6)]), *training.numbers()]

    with pytest.warns(UserWarning, match="StepLR writes a tensor that the program holds"):
        assert_as_eager(run, "numpy")


def test_a_function_that_counts_its_calls() -> None:
    """Its calls come at their places, since the step sees what it counts."""
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training, calls = Training(OPTIMIZERS["SGD"], dtype=dtype), [0]

        def factor(epoch: int) -> float:
            calls[0] += 1
            return 0.9 ** calls[0]

        scheduler, plain = lr_scheduler.LambdaLR(training.optimizer, factor), training.step()

        def step(x: Any) -> Any:
            loss = plain(x)
            scheduler.step()
            return loss * calls[0]

        step = change(step)
        return [np.array([step(training.x).item() for _ in range(6)]), *training.numbers()]

    with pytest.warns(UserWarning, match="attribute last_epoch of LambdaLR was changed"):
        assert_as_eager(run, "numpy")


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("plateau", [False, True])
@pytest.mark.parametrize("held", [lambda o: o.param_groups[0], lambda o: [o.param_groups[0]], lambda o: o.param_groups])
def test_options_that_the_program_holds_are_seen_after_a_step(held: Callable[[Any], Any], plateau: bool,
                                                              backend: str) -> None:
    """A program that holds a group reads its learning rate without a name of the optimizer."""
    def losses(change: Callable[..., Any]) -> list[Any]:
        p = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([p], lr=0.1)
        groups: Any = held(optimizer)
        scheduler: Any = (lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5) if plateau
                          else lr_scheduler.StepLR(optimizer, 1, 0.5))
        optimizer.step()                                   # else the schedule warns that it comes first

        @change
        def step(x: Any) -> Any:
            loss = (p * x).sum()
            scheduler.step(*[loss.item()] * plateau)
            return loss.detach(), (groups if isinstance(groups, dict) else groups[0])["lr"]

        return [step(torch.ones(2)) for _ in range(4)]

    with pytest.warns(UserWarning, match="changes options that the program holds"):
        found = losses(lambda step: torch.compile(step, backend=backend))
    assert found == losses(lambda step: step)


def test_a_rate_is_read_after_the_step_where_no_stand_in_may_be() -> None:
    """No number stands in if the program can call what takes no stand-in, such as `str.translate`."""
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training, seen = Training(OPTIMIZERS["SGD"], dtype=dtype), list[float]()
        scheduler, plain = lr_scheduler.ExponentialLR(training.optimizer, 0.5), training.step()

        def step(x: Any) -> Any:
            loss = plain(x) * len("a".translate({97: "bb"}))
            scheduler.step()
            seen.append(training.optimizer.param_groups[0]["lr"])
            return loss

        step = change(step)
        return [np.array([step(training.x).item() for _ in range(6)]), *training.numbers(), np.array(seen)]

    with pytest.warns(UserWarning, match="ExponentialLR changes a learning rate that the program may see"):
        assert_as_eager(run, "numpy")
