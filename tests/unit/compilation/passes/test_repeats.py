"""Calls of the same operator with the same arguments are one line, also between writes to the memory that they read."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS
from retrograd.compilation.program import stand_ins

W = torch.arange(6.).reshape(2, 3)


def lines(function: Callable[..., Any], *args: Any) -> str:
    """The lines of the plan."""
    return str(torch.compile.explain(function, *args))


def test_what_reads_a_weight_that_the_step_writes_later_is_one_line() -> None:
    w = torch.ones(3, 3, requires_grad=True)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = ((x @ w.t()).tanh() + (x @ w.t()).tanh()).sum()
        grad, = torch.autograd.grad(loss, w)
        with torch.no_grad():
            w.sub_(grad)
        return loss.detach()

    assert lines(step, torch.ones(2, 3)).count("= tanh(") == 1


def test_a_write_stands_between() -> None:
    w = W.clone()

    def step(x: torch.Tensor) -> Any:
        before = (w.t() * x).exp(), (w.t() * x).exp()
        w.add_(1)
        return *before, (w.t() * x).exp(), (w.t() * x).exp()

    text = lines(step, torch.ones(2))
    assert text.count("= exp(") == 4                       # outputs are never shared
    w.copy_(W)
    found = torch.compile(step)(torch.ones(2))
    assert all(torch.equal(a, b) for a, b in zip(found, [W.t().exp()] * 2 + [(W + 1).t().exp()] * 2))


def test_two_outputs_stay_two() -> None:
    step = torch.compile(lambda x: (x.t(), x.t(), x.exp(), x.exp()))
    for _ in range(3):
        a, b, c, d = step(W.clone())
        c.zero_()
        assert a is not b
        assert a._is_view()
        assert b._is_view()
        assert torch.allclose(d, W.exp())


def test_equal_constants_are_one_unless_something_writes_to_them() -> None:
    def ones(x: torch.Tensor) -> torch.Tensor:
        return (x * torch.ones(3)).exp() + (x * torch.ones_like(x)).exp()

    def written(x: torch.Tensor) -> Any:
        a, b = torch.zeros(3), torch.zeros_like(x)
        a.add_(x)
        return a.exp(), b.exp()

    x = torch.arange(3.)
    assert lines(ones, x).count("= exp(") == 1
    assert all(map(torch.equal, torch.compile(written)(x), (x.exp(), torch.ones(3))))


def program(seed: int) -> str:
    """A function of a matrix that takes views, computes, and writes, many a time the same."""
    source, names = random.Random(seed), ["x", "w", "v"]
    text = ["def step(x):"]
    for i in range(14):
        a, b = source.choice(names), source.choice(names)
        line = source.choice([f"n{i} = {a}.t()", f"n{i} = {a}[1:]", f"n{i} = {a}.exp()", f"n{i} = {a}.sum()",
                              f"n{i} = {a}.sum() * {b}", f"n{i} = torch.ones(2, 2) * {a}.mean()",
                              f"n{i} = torch.zeros(2, 2)", f"{a}.mul_(0.5)", f"{a}.add_({b}.mean())",
                              f"n{i} = {a}.t()", f"n{i} = {a}.mul(2)"])
        if line.endswith("_(0.5)") or "add_" in line:
            text.append(f"    {line}")
        else:
            text += [f"    {line}", f"    if n{i}.dim() < 2: n{i} = n{i}.expand(2, 2).clone()"]
            names.append(f"n{i}")
    return "\n".join([*text, f"    return {', '.join(source.sample(names[3:], min(4, len(names) - 3)))},"])


def outcome(text: str, compiling: Callable[..., Any]) -> list[Any]:
    """What three calls of the function return and leave."""
    scope: dict[str, Any] = {"torch": torch, "w": torch.tensor([[1., 2.], [3., 4.]]), "v": torch.full((2, 2), 0.5)}
    exec(text, scope)
    step, seen = compiling(scope["step"]), list[Any]()
    for call in range(3):
        x = torch.tensor([[0.5, -1.0], [0.25, call]])
        try:
            found = step(x)
        except RuntimeError as error:
            seen.append(str(error))
            continue
        seen += [each.tolist() for each in (*found, x, scope["w"], scope["v"])]
    return seen


@pytest.mark.sampled(40)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("group", range(20))
def test_random_programs(group: int, backend: str) -> None:
    for seed in range(group, 200, 20):
        text = program(seed)
        right = outcome(text, lambda function: function)
        found = outcome(text, lambda function: torch.compile(function, backend=backend))
        assert str(found) == str(right) or all(map(_near, found, right)), text


def _near(found: Any, right: Any) -> bool:
    """Whether two results are equal but for roundings of other orders of sums."""
    if isinstance(right, str):
        return bool(found == right)
    return torch.allclose(torch.tensor(found), torch.tensor(right), 1e-5, 1e-6, equal_nan=True)


def test_views_of_equal_constants_lie_in_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    take = stand_ins.reserve
    monkeypatch.setattr(stand_ins, "reserve", lambda size: sizes.append(size) or take(size))

    def step(x: torch.Tensor) -> torch.Tensor:
        large = torch.ones(2 ** 20)                         # which lies between the two constants
        return (torch.ones(3).view(3, 1) * x).sum() + (torch.ones(3).view(1, 3) * x).sum() + large.sum()

    x = torch.arange(9.).view(3, 3)
    compiled = torch.compile(step, backend="numpy")
    assert compiled(x) == compiled(x) == step(x)
    assert sum(sizes) < 2 ** 24
