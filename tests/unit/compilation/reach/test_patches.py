"""Functions and methods of libraries that a program replaces between compiled calls, and puts back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn

F = nn.functional
SCALE = [2.0]


class Uses:
    """A network with an optimizer, the same for all runs."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def forward(self, x: Any) -> Any:
        return self.model(x)

    def step(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = self.model(x).sum()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def more(old: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: old(*args, **options) + SCALE[0]


CASES: dict[str, tuple[Any, Any, str, Callable[[Any], Any]]] = {
    "a method": (lambda x: x.sin(), torch.Tensor, "sin", more),
    "an operator": (lambda x: x * 3, torch.Tensor, "__mul__", more),
    "an operator of two": (lambda x: 3 - x, torch.Tensor, "__rsub__", more),
    "an item": (lambda x: x[0], torch.Tensor, "__getitem__", more),
    "a write": (lambda x: x.clone().add_(1), torch.Tensor, "add_", more),
    "a property": (lambda x: x.T, torch.Tensor, "T", lambda old: property(lambda self: old.__get__(self) + SCALE[0])),
    "a function": (lambda x: torch.sin(x), torch, "sin", more),
    "a function of nn": (lambda x: F.relu(x), F, "relu", more),
    "a function by its whole name": (lambda x: torch.nn.functional.relu(x), F, "relu", more),
    "a function of Python's library": (lambda x: x * math.floor(2.5), math, "floor", more),
    "a layer": (Uses.forward, nn.Linear, "forward", more),
    "a container": (Uses.forward, nn.Sequential, "forward", more),
    "all modules": (Uses.forward, nn.Module, "__call__", more),
    "one class of modules": (Uses.forward, nn.Linear, "__call__", more),
    "a result": (Uses.step, torch.Tensor, "detach", more),
    "a backward pass": (Uses.step, torch.Tensor, "backward", lambda old: lambda self: old(self * SCALE[0])),
    "an optimizer": (Uses.step, torch.optim.SGD, "step", lambda old: lambda self: old(self) and None),
}


def outcomes(name: str, backend: str) -> tuple[list[Any], list[Any]]:
    """What calls return before, between and after two changes, and the parameters then."""
    function, holder, attribute, change = CASES[name]
    uses, x, found = Uses(), torch.linspace(-1.0, 2.0, 6).reshape(2, 3), list[Any]()
    own = attribute in vars(holder)
    former = getattr(holder, attribute)
    call = getattr(uses, function.__name__) if hasattr(Uses, function.__name__) else function
    compiled = torch.compile(call, backend=backend)
    try:
        for scale in (None, 2.0, 3.0, None, 4.0):
            setattr(holder, attribute, former if scale is None else change(former))
            SCALE[0] = scale or 0.0
            found += [compiled(x).tolist() for _ in range(3)]
    finally:
        setattr(holder, attribute, former)
        if not own:
            delattr(holder, attribute)
    found.append(compiled(x).tolist())
    return found, [parameter.tolist() for parameter in uses.model.parameters()]


@pytest.mark.parametrize("name", CASES)
def test_a_patch_is_seen(name: str) -> None:
    found, wanted = outcomes(name, "numpy"), outcomes(name, "eager")
    assert found == wanted


def test_a_patch_reaches_what_it_should() -> None:
    for name in CASES:
        results = outcomes(name, "eager")[0]
        assert results[0] != results[3] or name == "an optimizer", name


def test_what_a_patch_uses_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    sine, x = torch.Tensor.sin, torch.ones(2)
    monkeypatch.setattr(torch.Tensor, "sin", lambda self: sine(self) * SCALE[0])
    compiled = torch.compile(lambda x: x.sin(), backend="numpy")
    for scale in (1.0, 2.0, 5.0):
        SCALE[0] = scale
        assert [compiled(x).tolist() for _ in range(2)] == [(sine(x) * scale).tolist()] * 2
