"""Optimizers that a program writes: a formula and its options are enough, also in compiled functions."""

from __future__ import annotations

import warnings
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


FACTOR = [1.0]


class Plain(ElementsOptimizer):
    """What the formulas below share. Each is `p -= lr * factor * g`, with a factor of 1, 2, 3 in three steps."""

    _zeros = ("mean",)

    def __init__(self, params: Any) -> None:
        self.factor = 1.0
        super().__init__(params, {"lr": 0.1, "factor": 1.0})


class ByAttribute(Plain):
    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        p.add_(g, alpha=-group["lr"] * self.factor)


class ByGlobal(Plain):
    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        p.add_(g, alpha=-group["lr"] * FACTOR[0])


class ByAllOptions(Plain):
    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        options = {name: value for name, value in group.items() if name != "params"}
        p.add_(g, alpha=-options["lr"] * options["factor"])


class ByWhatIsThere(Plain):
    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        p.add_(g, alpha=-group["lr"] * (group["factor"] if "factor" in group and "none" not in group else 100))


class ByShape(Plain):
    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        if p.shape == (2,) and len(p.shape) == 1 and g.dtype == p.dtype:
            p.add_(g, alpha=-group["lr"] * group["factor"])


class ByRates(Plain):
    def _rates(self, state: dict[str, Any], group: Any) -> Any:
        return self.factor, {}

    def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
        p.add_(g, alpha=-group["lr"] * rates)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("kind", [ByAttribute, ByGlobal, ByAllOptions, ByWhatIsThere, ByShape, ByRates])
def test_a_formula_that_reads_more_than_numbers_reads_it_in_each_step(kind: Any, compiled: bool) -> None:
    p = torch.nn.Parameter(torch.zeros(2))
    optimizer = kind([p])
    p.grad = torch.ones(2)
    step = torch.compile(optimizer.step, backend="numpy") if compiled else optimizer.step
    for factor in (1.0, 2.0, 3.0):
        optimizer.factor = FACTOR[0] = optimizer.param_groups[0]["factor"] = factor
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                # a formula may be one that nothing can repeat
            step()
    assert p.tolist() == pytest.approx([-0.6, -0.6])


def test_a_formula_that_prints_prints_in_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    class Printing(Plain):
        def _formula(self, p: Any, g: Any, state: dict[str, Any], rates: Any, group: Any) -> None:
            print("a step")

    p = torch.nn.Parameter(torch.zeros(2))
    p.grad = torch.ones(2)
    optimizer = Printing([p])
    optimizer.step()
    optimizer.step()
    assert capsys.readouterr().out == "a step\n" * 2


def test_hooks_run_once_if_a_step_calls_that_of_the_base_class() -> None:
    seen: list[str] = []

    class Own(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            seen.append("step")
            return super().step(closure)

    optimizer = Own([torch.nn.Parameter(torch.zeros(2))])
    optimizer.register_step_pre_hook(lambda *_: seen.append("before"))
    optimizer.register_step_post_hook(lambda *_: seen.append("after"))
    optimizer.step()
    optimizer.step()
    assert seen == ["before", "step", "after"] * 2
