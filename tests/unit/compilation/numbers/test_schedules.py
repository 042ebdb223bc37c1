"""Options of optimizers that change from step to step, in compiled training steps: one trace serves all values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import retrograd as torch
from compiled.schedules import CALLS, OPTIMIZERS, SCHEDULES, Training, assert_as_eager
from compiled.sizes import EXECUTORS, noted_traces
from compiled.steps import step_of

pytestmark = pytest.mark.filterwarnings("error")

# Optimizers without momentum, whose rates cannot cycle with it.
WITHOUT_MOMENTUM = ("Adagrad", "Adadelta", "ASGD", "Rprop", "Adafactor")
# A first step of these looks at the rate, and so at the numbers of a tensor.
STARTED_BY_RATE = ("ASGD", "Rprop")


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that were traced."""
    return noted_traces(monkeypatch)


@pytest.mark.sampled(90)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("as_tensor", [False, True], ids=["number", "tensor"])
@pytest.mark.parametrize("place", ["outside", "inside"])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_one_trace_serves_a_schedule(kind: str, schedule: str, place: str, as_tensor: bool, backend: str,
                                     traces: list[Any]) -> None:
    cycles = schedule in ("one cycle", "cycles")
    if cycles and kind in WITHOUT_MOMENTUM:
        with pytest.raises(ValueError, match="must support momentum"):
            SCHEDULES[schedule](Training(OPTIMIZERS[kind]).optimizer)
        return
    refused = ((place == "inside" and schedule == "weight decay by hand")
               or (as_tensor and kind in STARTED_BY_RATE))

    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS[kind], torch.tensor(0.05) if as_tensor else 0.05, dtype)
        scheduler, plain = SCHEDULES[schedule](training.optimizer), training.step()

        def follow(loss: Any) -> None:
            scheduler.step(loss) if schedule == "plateau" else scheduler.step()

        def both(x: Any) -> Any:
            loss = plain(x)
            follow(loss)
            return loss

        step = change(both if place == "inside" else plain)
        losses = []
        for _ in range(CALLS):
            losses.append(step(training.x).item())
            if place == "outside":
                follow(losses[-1])
        return [np.array(losses), *training.numbers()]

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert_as_eager(run, backend)
    if kind == "Rprop" and schedule == "weight decay by hand":
        return                                             # whose formula is traced with each weight decay
    assert bool(warned) is refused, [str(warning.message) for warning in warned]
    assert len(traces) <= (1 if refused else 3)            # the first has no state, and weight decay may begin at 0


@pytest.mark.sampled(90)
@pytest.mark.parametrize("values", [(0.1, 0.2), (0.0, 0.1), (0.9, 0.4, 0.9), (0.5, 0.6, 0.4), (0.1, math.nan, 0.1),
                                    (0.1, math.inf, 0.2), (0.3, -0.1, 0.3), (1e300, 1e-300), (1, 0.5, 0)])
@pytest.mark.parametrize(("kind", "name"), [
    (kind, name) for kind, make in OPTIMIZERS.items() if kind != "Nesterov"
    for name, value in make([torch.ones(1, requires_grad=True)], 0.1).defaults.items()
    if name == "betas" or type(value) in (int, float)])
def test_any_values_of_any_option(kind: str, name: str, values: tuple[float, ...]) -> None:
    """Values that decide otherwise need a trace of their own, and values that raise an error raise it."""
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS[kind], dtype=dtype)
        step, group = change(training.step()), training.optimizer.param_groups[0]
        found: list[Any] = []
        for i in range(7):
            value = values[i % len(values)]
            group[name] = (value, 0.99) if name == "betas" else value
            try:
                found.append(step(training.x).item())
            except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
                return [np.array([*found, type(error).__name__, str(error)])]
        return [np.array(found), *training.numbers()]

    with np.errstate(all="ignore"):
        assert_as_eager(run, "numpy")


def test_a_negative_rate_is_refused_where_pytorch_refuses_it() -> None:
    with pytest.raises(ValueError, match="Invalid learning rate: -0.1"):
        Training(OPTIMIZERS["Adam"], -0.1)


@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_state_is_saved_and_loaded_between_steps(backend: str) -> None:
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS["RMSprop"], dtype=dtype)
        scheduler, step = SCHEDULES["one cycle"](training.optimizer), change(training.step())
        losses, saved = [], ()
        for i in range(CALLS):
            losses.append(step(training.x).item())
            scheduler.step()
            if i == 4:
                saved = deepcopy((training.optimizer.state_dict(), scheduler.state_dict()))
            if i == 8:
                training.optimizer.load_state_dict(saved[0])
                scheduler.load_state_dict(saved[1])
        return [np.array(losses), *training.numbers()]

    assert_as_eager(run, backend)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("kind", ["SGD with momentum", "Adam", "NAdam", "RMSprop", "ASGD", "Rprop"])
def test_a_group_is_added_between_steps(kind: str, backend: str) -> None:
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS[kind], dtype=dtype)
        extra = torch.ones(3, requires_grad=True)
        step = change(step_of(lambda x: training.model(x) * extra, training.optimizer))
        losses = []
        for i in range(8):
            losses.append(step(training.x).item())
            if i == 3:
                training.optimizer.add_param_group({"params": [extra], "lr": 0.2})
            for place, group in enumerate(training.optimizer.param_groups):
                group["lr"] = 0.1 / (1 + i + place)
        return [np.array(losses), *training.numbers(), extra.detach().numpy()]

    assert_as_eager(run, backend)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("kind", ["SGD with momentum", "AdamW", "RMSprop", "Adagrad"])
def test_one_plan_serves_schedules_and_sizes(kind: str, backend: str, traces: list[Any]) -> None:
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        training = Training(OPTIMIZERS[kind], dtype=dtype)
        plain = training.step()
        scheduler = SCHEDULES["steps" if kind == "Adagrad" else "one cycle"](training.optimizer)

        def step(x: Any) -> Any:
            loss = plain(x)
            scheduler.step()
            return loss

        step = change(step)
        return [np.array([step(training.x[:3 + i % 5]).item() for i in range(CALLS)]), *training.numbers()]

    assert_as_eager(run, backend)
    assert len(traces) <= 4


_ANOTHER_KIND = "eps", torch.optim.Adafactor            # two numbers
NUMBERS = st.sampled_from([0.0, 0.01, 0.1, 0.3, 0.9, 0.95])


@settings(max_examples=settings.default.max_examples // 3)
@given(kinds=st.lists(st.sampled_from([*OPTIMIZERS]), min_size=1, max_size=2),
       program=st.lists(st.tuples(st.booleans(), st.integers(0, 1), st.sampled_from(
           ["lr", "momentum", "weight_decay", "betas", "eps", "alpha", "rho"]), NUMBERS), min_size=4, max_size=9))
def test_random_programs(kinds: list[str], program: list[tuple[bool, int, str, float]]) -> None:
    """Several optimizers, groups with options of their own, options that change, parameters without a gradient."""
    def run(change: Callable[..., Any], dtype: Any) -> list[Any]:
        torch.manual_seed(0)
        weights = [[torch.randn(3, 4, dtype=dtype).requires_grad_() for _ in range(4)] for _ in kinds]
        optimizers = [OPTIMIZERS[kind]([{"params": [a, b]}, {"params": [c, d], "lr": 0.02}], 0.05)
                      for kind, (a, b, c, d) in zip(kinds, weights, strict=True)]

        @change
        def step(x: Any, fewer: bool) -> Any:
            total = 0
            for optimizer, (a, b, c, d) in zip(optimizers, weights, strict=True):
                optimizer.zero_grad()
                total = total + ((a + c * x).tanh() + (0 if fewer else b * d)).square().mean()
            total.backward()
            for optimizer in optimizers:
                optimizer.step()
            return total.detach()

        x, losses = torch.randn(3, 4, dtype=dtype), []
        for fewer, place, name, value in program:
            losses.append(step(x, fewer).item())
            for optimizer in optimizers:
                group = optimizer.param_groups[place]
                if type(group.get(name)) in (int, float, tuple) and (name, type(optimizer)) != _ANOTHER_KIND:
                    group[name] = (value, *group[name][1:]) if name == "betas" else value or 0.5 * (name == "momentum")
        return [np.array(losses), *[w.detach().numpy() for ws in weights for w in ws]]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                    # of functions with more than eight traces
        assert_as_eager(run, "numpy")
