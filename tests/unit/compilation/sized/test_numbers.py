"""Plans for all sizes whose calls make numbers of Python's own: losses, counters, learning rates, and sizes."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS, normal, noted_traces
from programs.sized_numbers import alike, compared

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "24"))
SIZES = (3, 5, 7, 4, 9, 2, 11, 13, 15, 6, 20, 30)


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The first sizes of the calls that were traced."""
    return noted_traces(monkeypatch)


def _numbers(p: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        loss = p.train(x)
        return loss.item()

    return step


def _totals(p: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        loss = p.train(x)
        p.total += loss.item() * x.shape[0]
        p.seen += x.size(0)
        p.calls += 1
        p.losses.append(loss.item() / x.shape[0])
        return {"loss": loss.item(), "rows": x.shape[0]}

    return step


def _array(p: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        p.train(x)
        return (x * 2).numpy(), x.sum(0).tolist()

    return step


def _operand(p: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        p.calls += 1
        return (x * p.calls + 1 / (p.calls + 2)).sum(), p.calls * x.shape[0]

    return step


def _warmup(p: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        p.calls += 1
        for group in p.optimizer.param_groups:
            group["lr"] = 0.01 * min(1.0, p.calls / 10)
        return p.train(x).item(), p.optimizer.param_groups[0]["lr"]

    return step


def _branch(p: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        loss = p.train(x)
        if not torch.isfinite(loss):
            raise ValueError("the loss is not finite")
        if loss.item() > 1e6:
            p.seen += 1
        return loss.item()

    return step


def _scaled(p: Any) -> Callable[[Any], Any]:
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=4)

    def step(x: Any) -> Any:
        p.optimizer.zero_grad()
        loss = p.model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(p.optimizer)
        scaler.update()
        return loss.item()

    return step


STEPS = {"a loss": _numbers, "totals": _totals, "an array": _array, "an operand": _operand, "a warm-up": _warmup,
         "a branch": _branch, "a scaler": _scaled}


def program(make: Callable[[Any], Any]) -> tuple[Any, Callable[[Any], Any]]:
    """The state of a program, and its step."""
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def train(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    state = SimpleNamespace(model=model, optimizer=optimizer, train=train, total=0.0, seen=0, calls=0, losses=[])
    return state, make(state)


def seen(state: Any) -> Any:
    """What a program has counted, and its weights."""
    return state.total, state.seen, state.calls, state.losses, [p.tolist() for p in state.model.parameters()]


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.sampled(2)
def test_one_plan_makes_the_numbers_for_all_sizes(name: str, backend: str, traces: list[Any]) -> None:
    (plain, step), (other, compiled) = program(STEPS[name]), program(STEPS[name])
    compiled = torch.compile(compiled, backend=backend, fullgraph=True)
    for size in SIZES:
        x = normal(size, 3)
        one, two = step(x.clone()), compiled(x.clone())
        assert alike(one, two), (size, one, two)
        assert alike(seen(plain), seen(other)), size
    assert len(traces) <= (5 if name in ("a warm-up", "a scaler") else 4), traces     # which branch otherwise, once


@pytest.mark.parametrize("backend", EXECUTORS)
def test_what_a_step_returns_of_its_state_is_the_same_list(backend: str) -> None:
    log: list[int] = []
    compiled = torch.compile(lambda x: (log, x.shape[0], [x.shape[0] * 2], x * 2), backend=backend, dynamic=True)
    for size in SIZES:
        found = compiled(normal(size))
        assert found[0] is log
        assert alike(found[1:3], (size, [size * 2]))


RESULTS: list[Callable[[Any], Any]] = [
    lambda x: x.shape, lambda x: x.shape[0], lambda x: [x.shape[0], x.size()], lambda x: {"rows": x.shape[0]},
    lambda x: {x.shape[0]: 1}, lambda x: {x.shape[0], 7}, lambda x: frozenset({x.shape[0]}),
    lambda x: ([{"a": (x.shape[0], frozenset({x.shape[0]}))}], x.shape[0] / 2), lambda x: deque([x.shape[0]])]


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces) <lambda>")
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("function", RESULTS)
def test_sizes_that_are_returned_are_ints_of_pythons_own(function: Any, backend: str) -> None:
    compiled = torch.compile(function, backend=backend, dynamic=True)
    for size in (3, 4, 5, 6, 9, 0, 1, 3):
        wanted, found = function(torch.ones(size)), compiled(torch.ones(size))
        assert found == wanted
        assert repr(found) == repr(wanted)
        assert "SizeInt" not in str(pickle.dumps(found))
        if isinstance(found, frozenset):
            assert {*map(type, found)} == {int}


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("formula", [
    lambda state, x: state.seen // (x.shape[0] - 5), lambda state, x: state.total / (x.shape[0] - 5),
    lambda state, x: 7 % (x.shape[0] - 5), lambda state, x: 0 // (x.shape[0] - 5),
    lambda state, x: x.sum().item() / (x.shape[0] - 5)])
def test_a_division_by_a_size_that_is_zero_raises_the_error(formula: Any, backend: str) -> None:
    state = SimpleNamespace(seen=3, total=1.5)

    def step(x: Any) -> Any:
        state.seen += 1
        return (x * 2).sum(), formula(state, x)

    compiled = torch.compile(step, backend=backend, dynamic=True)
    for size in (4, 6, 9, 7):
        wanted = formula(SimpleNamespace(seen=state.seen + 1, total=1.5), torch.ones(size))
        assert alike(compiled(torch.ones(size))[1], wanted)
    before = state.seen
    with pytest.raises(ZeroDivisionError):
        compiled(torch.ones(5))
    assert state.seen == before + 1
    assert alike(compiled(torch.ones(8))[1], formula(SimpleNamespace(seen=before + 2, total=1.5), torch.ones(8)))


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces) <lambda>")
@pytest.mark.parametrize("use", [
    lambda x: len(x.tolist()), lambda x: sum(x.sum(1).tolist()), lambda x: len(x.sum(1).tolist()) // 2])
def test_the_length_of_a_list_of_numbers_is_no_size_that_a_plan_knows(use: Any, traces: list[Any]) -> None:
    compiled = torch.compile(lambda x: (x * use(x)).sum(), backend="numpy", dynamic=True)
    for size in SIZES[:6]:
        assert compiled(torch.ones(size, 3)).item() == (torch.ones(size, 3) * use(torch.ones(size, 3))).sum().item()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces) step")
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs(seed: int, backend: str) -> None:
    found = compared(torch, seed, backend, (True, None)[seed % 2])
    assert not found.difference, found.difference


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces) step")
def test_most_random_programs_have_one_plan_for_all_sizes() -> None:
    assert sum([compared(torch, seed, "numpy", True).sized for seed in range(30)]) >= 15
