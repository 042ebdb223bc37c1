"""Optimizers that a program writes: a formula and its options are enough, also in compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS
from retrograd.optim.elementwise import ElementsOptimizer


class Lion(ElementsOptimizer):
    """A formula that can be written down as code."""

    _zeros = ("mean",)

    def __init__(self, params: Any, lr: Any = 0.1, betas: Any = (0.9, 0.99), **options: Any) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, **options})

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        (first, second), mean = group["betas"], state["mean"]
        p.add_(mean.mul(first).add(g, alpha=1 - first).sign(), alpha=-group["lr"])
        mean.lerp_(g, 1 - second)


class Bounded(Lion):
    """A formula with a function that cannot be written down as code."""

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        mean = state["mean"].mul_(0.9).add_(g)
        p.add_(mean.tanh(), alpha=-group["lr"])


class Halving(Lion):
    """A formula that decides by an option, in several ways."""

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        lr = group["lr"] if group["lr"] < 0.1 else group["lr"] / 2
        if group.get("skip") is None and group["betas"][0] > 0.5:
            p.sub(g)
        p.add_(g, alpha=-lr)


def trained(kind: Any, change: Callable[[Any], Any] = lambda step: step, **options: Any) -> list[Any]:
    """The parameters and the state after some steps."""
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in ((3, 4), (5,), ())]
    optimizer = kind(parameters, **options)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (parameters[0].sum() * x + parameters[1].square().sum() + parameters[2] * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    step = change(step)
    for i in range(6):
        step(torch.randn(2))
        optimizer.param_groups[0]["lr"] = 0.05 * (i % 3 + 1)
    return [x.detach().numpy().copy() for p in parameters for x in (p, *optimizer.state[p].values())]


@pytest.mark.parametrize("options", [{}, {"maximize": True}, {"weight_decay": 0.1},
                                     {"weight_decay": 0.1, "decoupled_weight_decay": True}])
@pytest.mark.parametrize("kind", [Lion, Bounded, Halving])
def test_each_way_gives_the_same_numbers(kind: Any, options: dict[str, Any]) -> None:
    class Unchanged(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    def watched(step: Any) -> Any:
        def inside(x: Any) -> Any:
            with Unchanged():
                return step(x)
        return inside

    for one, other in zip(trained(kind, **options), trained(kind, watched, **options), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("kind", [Lion, Bounded, Halving])
@pytest.mark.filterwarnings("error")
def test_compiled_steps_are_those_of_the_program(kind: Any, backend: str) -> None:
    plain, found = trained(kind), trained(kind, lambda step: torch.compile(step, backend=backend))
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=0 if backend == "numpy" else 1e-5, strict=True)


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.filterwarnings("error")
def test_a_rate_in_a_tensor_and_a_parameter_without_dimensions(backend: str) -> None:
    found = []
    for change in (lambda step: step, lambda step: torch.compile(step, backend=backend)):
        p = torch.nn.Parameter(torch.tensor(2.0, dtype=torch.float64))
        optimizer = torch.optim.SGD([p], lr=torch.tensor(0.1))

        def step(p: Any = p, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            (p * p).backward()
            optimizer.step()

        changed = change(step)  # type: ignore[no-untyped-call]
        for _ in range(4):
            changed()
        found.append(p.item())
    assert found[0] == found[1]
