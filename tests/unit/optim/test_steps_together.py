"""Small parameters are stepped together, with the numbers, versions and states of steps one by one."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.optim.together import MANY

SHAPES = [(3,), (4, 5), (), (0,), (2, 3, 4), (1024,), (1025,), (64, 64), (700,)]
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("Adam", {}), ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("Adam", {"maximize": True}),
    ("AdamW", {"betas": (0.3, 0.8)}), ("SGD", {"momentum": 0.9, "nesterov": True}), ("RMSprop", {"momentum": 0.9}),
    ("RMSprop", {"centered": True, "weight_decay": 0.1}), ("Adagrad", {"lr_decay": 0.1}), ("NAdam", {}), ("RAdam", {}),
    ("Adadelta", {"maximize": True}), ("Adamax", {}), ("ASGD", {}), ("Rprop", {})]
assert len(SHAPES) >= MANY


def _parameters(make: Any) -> list[Any]:
    torch.manual_seed(3)
    return [torch.nn.Parameter(make(torch.randn(shape, dtype=torch.float64))) for shape in SHAPES]


def _facts(parameters: list[Any], states: list[Any]) -> list[Any]:
    return [(repr(p.tolist()), p.dtype, p.stride(), p._version,
             [(name, repr(x.tolist()) if isinstance(x, torch.Tensor) else x) for name, x in state.items()])
            for p, state in zip(parameters, states, strict=True)]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.complex64])
@pytest.mark.sampled(2)
def test_steps_together_are_those_one_by_one(name: str, options: dict[str, Any], dtype: Any) -> None:
    def make(x: Any) -> Any:
        return x.to(dtype)

    found = []
    for apart in (False, True):
        parameters = _parameters(make)
        groups = [{"params": [p]} for p in parameters] if apart else parameters
        optimizer = getattr(torch.optim, name)(groups, lr=0.01, **options)
        for step in range(4):
            torch.manual_seed(step)
            for i, p in enumerate(parameters):
                # One parameter lacks a gradient at first, so it counts its steps from another start.
                p.grad = None if i == 1 and step < 2 else make(torch.randn(p.shape, dtype=torch.float64))
            optimizer.step()
        found.append(_facts(parameters, [optimizer.state[p] for p in parameters]))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["Adam", "Adagrad"])
def test_parameters_over_the_same_memory_are_stepped_in_turn(name: str) -> None:
    memory = torch.zeros(4)
    first, second = torch.nn.Parameter(memory[:3]), torch.nn.Parameter(memory[1:])
    others = [torch.nn.Parameter(torch.zeros(3)) for _ in range(MANY)]
    for p in (first, second, *others):
        p.grad = torch.ones(3)
    getattr(torch.optim, name)([first, second, *others], lr=0.5).step()
    once = others[0].tolist()[0]
    assert memory.tolist() == [once, 2 * once, 2 * once, once] != [0, 0, 0, 0]


def test_a_step_that_fails_has_stepped_the_parameters_before() -> None:
    class Failing(torch.optim.Adagrad):
        def _update(self, p: Any, *rest: Any) -> None:
            if p is parameters[2]:
                raise ValueError("no step")
            super()._update(p, *rest)

    parameters = [torch.nn.Parameter(torch.zeros(2)) for _ in range(MANY)]
    for p in parameters:
        p.grad = torch.ones(2)
    optimizer = Failing(parameters, lr=0.5)
    with pytest.raises(ValueError, match="no step"):
        optimizer.step()
    assert [bool((p != 0).all()) for p in parameters] == [True, True] + [False] * (MANY - 2)


def test_gradients_of_another_layout_or_type() -> None:
    parameters = [torch.nn.Parameter(torch.zeros(2, 3)) for _ in range(MANY)]
    for p in parameters[3:]:
        p.grad = torch.ones(2, 3)
    parameters[1].grad = torch.arange(6.).view(3, 2).t()
    parameters[0].grad = torch.arange(6.).view(3, 2).t().contiguous()
    optimizer = torch.optim.Adam(parameters, lr=0.5)
    optimizer.step()
    assert torch.equal(parameters[0], parameters[1])
    assert parameters[2].tolist() == [[0, 0, 0], [0, 0, 0]]


def test_many_small_parameters_take_few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    for name in ("Adam", "RMSprop"):
        parameters = [torch.nn.Parameter(torch.zeros(3)) for _ in range(100)]
        for p in parameters:
            p.grad = torch.ones(3)
        optimizer = getattr(torch.optim, name)(parameters)
        with monkeypatch.context() as patch:
            patch.setattr("retrograd.optim.elementwise.in_one", lambda rows, step: calls.append(len(rows)))
            optimizer.step()
    assert calls == [100, 100]
