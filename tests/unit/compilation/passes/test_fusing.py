"""Loops that become one: random programs of elementwise lines, writes, sums and calls that end loops."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation.passes import fusing

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]
pytestmark = pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")

# Each makes a new value, or writes over one, from values of the same shape.
MADE = ("{x} + {y}", "{x} * {y}", "{x} - 0.5", "{x}.sin()", "{x}.tanh()", "{y} / (1 + {x} * {x})", "{x}.abs()",
        "torch.where({x} > {y}, {x}, {y})", "{x}.cumsum(0)", "{x}.flip(0)", "{x} - {x}.sum() / 8", "{x}.clone()",
        "{x} * {y}.amax()", "torch.maximum({x}, {y})", "{x}.view(2, 3).t().reshape(6)")
WRITTEN = ("{x}.mul_({y})", "{x}.add_(1)", "{x}[1:].sub_({y}[:-1])", "{x}.copy_({y}.flip(0))", "{x}[::2].neg_()",
           "{x}.sin_()", "{x}[:3].copy_({y}[3:])")


@pytest.fixture(autouse=True)
def merged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All loops are as large ones. The list has an element for each loop that became part of another one."""
    made, merge = list[int](), fusing._Groups.merge

    def noted(groups: Any, earlier: int, later: int) -> None:
        made.append(later)
        merge(groups, earlier, later)

    monkeypatch.setattr(fusing, "SMALL", 0)
    monkeypatch.setattr(fusing._Groups, "merge", noted)
    return made


def written(seed: int) -> str:
    """The source of a function of four arrays."""
    draw, names = random.Random(seed), ["a", "b", "c", "d"]
    lines = ["def function(a, b, c, d):", "    c = c * 1", "    d = d * 1"]
    for number in range(draw.randint(6, 24)):
        x, y = draw.choice(names), draw.choice(names)
        if draw.random() < 0.25 and x not in "ab":
            lines.append(f"    {draw.choice(WRITTEN).format(x=x, y=y)}")
        else:
            names.append(f"v{number}")
            lines.append(f"    v{number} = {draw.choice(MADE).format(x=x, y=y)}")
    kept = draw.sample(names, min(len(names), 5))
    return "\n".join([*lines, f"    return {', '.join(kept)}, {kept[0]}.sum()"])


def outcome(source: str, backend: str | None, differentiated: bool) -> list[Any]:
    scope: dict[str, Any] = {"torch": torch}
    exec(compile(source, "a program", "exec"), scope)
    function = scope["function"] if backend is None else torch.compile(scope["function"], backend=backend)
    found: list[Any] = []
    for call in range(4):
        generator = np.random.default_rng(call)
        given = [torch.tensor(generator.uniform(-1, 1, 6), requires_grad=differentiated) for _ in range(4)]
        with suppress(RuntimeError):                       # of a write that autograd or an overlap forbids
            results = function(*given)
            found += [result.detach().numpy().copy() for result in results]
            if differentiated:
                total = sum([(result * result).sum() for result in results])
                grads = torch.autograd.grad(total, given, allow_unused=True)
                found += [0.0 if grad is None else grad.numpy().copy() for grad in grads]
    return found


@pytest.mark.sampled(32)
@pytest.mark.parametrize("differentiated", [False, True], ids=["plain", "with gradients"])
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("group", range(20))
def test_random_programs(group: int, backend: str, differentiated: bool, merged: list[int]) -> None:
    ran = 0
    for seed in range(group, 200, 20):
        source = written(seed)
        expected, found = [outcome(source, each, differentiated) for each in (None, backend)]
        ran += len(expected) > (8 if differentiated else 4)
        for one, other in zip(expected, found, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12, err_msg=f"seed {seed}\n{source}")
    assert ran >= 2
    assert merged


def test_what_two_loops_compute_for_a_third_needs_no_memory(merged: list[int]) -> None:
    def function(x: Any, y: Any) -> Any:
        return x.exp().sin() * y.cos().tanh()

    found = str(torch.compile.explain(function, torch.ones(5), torch.ones(5)))
    assert "1 unit after loops" in found
    assert len(merged) == 1


def test_loops_with_a_call_between_them_stay_apart(merged: list[int]) -> None:
    def function(x: Any, y: Any) -> Any:
        z = x.exp()
        return z.cumsum(0) * y.cos() + z

    assert "units after loops" in str(torch.compile.explain(function, torch.ones(5), torch.ones(5)))
    assert not [loop for loop in merged if loop == 0]
