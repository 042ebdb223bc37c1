"""Branches on numbers of tensors: a trace for each way, and nothing of a wrong way is left."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from needing import needs
from programs.number_programs import Checked, alike, shown
from programs.training_steps import Trained
from retrograd import nn
from retrograd.compilation import compiled as module

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor."""
    return str(request.param)


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The traced runs."""
    made, first = list[Any](), module.FirstRun

    def counted(*args: Any) -> Any:
        made.append(first(*args))
        return made[-1]

    monkeypatch.setattr(module, "FirstRun", counted)
    return made


def state() -> Any:
    """A state that functions of these tests change."""
    return types.SimpleNamespace(w=torch.ones(3), v=torch.zeros(3), p=torch.ones(3, requires_grad=True), best=1e9,
                                 n=0, history=[])


def finite(s: Any, x: Any) -> Any:
    s.w.add_(x)                                            # before the look
    if not torch.isfinite(x).all():
        return None
    s.v.copy_(s.w)
    s.n += 1
    return s.w.sum().item()


def best(s: Any, x: Any) -> Any:
    loss = (s.w * x).sum()
    s.w.mul_(0.5)
    if loss.item() < s.best:
        s.best, s.n = loss.item(), 0
    else:
        s.n += 1
    s.history.append(min(loss.item(), 1.0))
    return loss


def until(s: Any, x: Any) -> Any:
    steps = 0
    while x.norm() > 1:
        x = x / 2
        s.w.add_(1)
        steps += 1
    return x, steps


def written(s: Any, x: Any) -> Any:
    x.add_(1)                                              # an argument
    s.w.data.mul_(2)
    if (x > 1).any():
        x.mul_(2)
    return x * 1


def gradient(s: Any, x: Any) -> Any:
    s.p.grad = None
    (s.p * x).sum().backward()
    if s.p.grad.sum() > 0:
        with torch.no_grad():
            s.p.sub_(s.p.grad)
        return s.p.detach().clone()
    return None


def kept_gradient(s: Any, x: Any) -> Any:
    if x.sum() > 0:                                        # otherwise the gradient of the call before is seen
        s.p.grad = None
        (s.p * x).sum().backward()
    return s.p.grad if s.p.grad is None else s.p.grad.clone()


def drawn(s: Any, x: Any) -> Any:
    noise = torch.rand(3)
    if x.sum() + noise[0] > 0.7:
        noise = noise + torch.rand(3)
    return noise


def indexed(s: Any, x: Any) -> Any:
    """An error of the wrong way is none of the program."""
    place = (x * 4).long()
    if (place.max() >= 3) | (place.min() < -3):
        return None
    s.w.add_(1)
    return x[place]


def asserted(s: Any, x: Any) -> Any:
    s.w.add_(1)
    if (x < -2).any():
        raise AssertionError
    return x * 2


FUNCTIONS = (finite, best, until, written, gradient, kept_gradient, drawn, indexed, asserted)
GIVEN = (0.5, 0.5, -1.0, 4.0, 0.25, float("nan"), 2.0, -3.0, 0.5, -0.5, float("inf"), 1.0, 0.25, 8.0, 0.5, -1.0)


def run(function: Callable[..., Any], change: Callable[..., Any]) -> list[Any]:
    """What calls return, raise and leave."""
    own, found = state(), []
    step = change(lambda x: function(own, x))
    for i, number in enumerate(GIVEN if function is not until else [each for each in GIVEN if abs(each) < 9]):
        torch.manual_seed(i)
        x = torch.tensor([number, 0.25, 0.125])
        try:
            result = shown(step(x), {})
        except AssertionError:
            result = "an error"
        held = [shown(each, {}) for each in (x, own.w, own.v, own.p, own.best, own.n, own.history)]
        found.append([result, held, torch.rand(1).item()])
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.sampled(2)
def test_branches(function: Callable[..., Any], backend: str, traces: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run(function, lambda f: torch.compile(f, backend=backend))
    assert alike(found, run(function, lambda f: f), exact=backend == "numpy")
    assert len(traces) <= 8


def test_a_branch_that_changes_all_the_time() -> None:
    """The function runs as it is after eight ways."""
    def step(x: Any) -> Any:
        total = x.sum() * 0
        for part in x:
            total = total + (part if part > 0 else -part * 2)
        return total

    step, given = torch.compile(step, backend="numpy"), [torch.randn(6) for _ in range(60)]
    with pytest.warns(UserWarning, match="branches on numbers turn out otherwise"):
        found = [step(x).item() for x in given]
    expected = [torch.where(x > 0, x, -x * 2).sum().item() for x in given]
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_scaler_of_gradients(backend: str, traces: list[Any]) -> None:
    def train(change: Callable[..., Any]) -> list[Any]:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=3)

        @change
        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            return loss.item()

        found = []
        for i in range(14):
            x = torch.randn(4, 3)
            x[0, 0] = float("inf") if i in (4, 9) else 1.0
            found.append(shown([step(x), scaler.get_scale(), model.weight.detach()], {}))
        return found

    found = train(lambda f: torch.compile(f, backend=backend, fullgraph=True))
    assert alike(found, train(lambda f: f), exact=False)
    assert len(traces) <= 5


@pytest.mark.sampled(16)
@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int, backend: str) -> None:
    checked = Checked(torch, seed, backend)
    assert not checked.difference, f"{checked.source}\n{checked.difference}"


# The programs whose steps look at a number: by `float(loss)`, `math.exp(loss.item())`, or in a text.
LOOKING = {3, 5, 11, 25, 33, 34, 37}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("group", range(16))
def test_random_training_steps(group: int, backend: str) -> None:
    """As without `torch.compile`; and only those that look at a number run as they are."""
    seeds = range(group, 40, 16)
    found = {seed: Trained(torch, seed, backend) for seed in seeds}
    assert not [each.source + each.difference for each in found.values() if each.difference]
    assert {seed for seed, each in found.items() if each.reason} == LOOKING.intersection(seeds)
    assert all(["looks at the numbers of a tensor" in each.reason for each in found.values() if each.reason])
