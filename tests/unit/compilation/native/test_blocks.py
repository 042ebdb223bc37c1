"""Loops in blocks: of any size they compute what the whole program computes, in little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import retrograd as torch
import retrograd.utils.checkpoint
from programs.compiled_programs import checked, shrunk
from retrograd.compilation import compiled
from retrograd.compilation.execution import blocks, numpy_code

GROUPS, SEEDS = 5, 100


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[blocks.BlockedLoop]]:
    """The loops that ran. All loops run in blocks, of at most two elements if the first dim allows it."""
    ran: list[blocks.BlockedLoop] = []
    run = blocks.BlockedLoop.__call__

    def noted(self: blocks.BlockedLoop, *arrays: Any) -> Any:
        ran.append(self)
        return run(self, *arrays)

    monkeypatch.setattr(compiled, "native", lambda backend: False)
    monkeypatch.setattr(numpy_code, "BLOCKED", 0)
    monkeypatch.setattr(blocks, "BLOCK", 2)
    monkeypatch.setattr(blocks.BlockedLoop, "__call__", noted)
    state = torch.get_rng_state()
    yield ran
    torch.set_rng_state(state)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs_in_blocks_of_two_elements(loops: list[blocks.BlockedLoop], group: int) -> None:
    for seed in range(group, SEEDS, GROUPS):
        author, outcome = checked(torch, seed, True)       # sums have another order of additions
        if outcome.difference:
            lines: list[Any] = shrunk(torch, author, seed, True)
            pytest.fail("\n".join([f"seed {seed}, arguments {author.specs}", *lines, outcome.difference]))
    assert len(loops) > 3


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4)])
def test_numbers_of_all_dims_beside_arrays(loops: list[blocks.BlockedLoop], shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, requires_grad=True)
    for dims in range(len(shape) + 1):
        p = torch.full((1,) * dims, 0.5, requires_grad=True)

        def several(x: Any, p: Any) -> Any:
            return ((x * p).sin() + p * x, torch.where(x > p, x, x * p).exp(), torch.lerp(x, x.exp(), p).tanh(),
                    (torch.maximum(x, p) - p).sum())

        def step(x: Any, p: Any) -> Any:
            results = several(x, p)
            return *results, *torch.autograd.grad(sum([(part * part).sum() for part in results]), (x, p))

        compiled = torch.compile(step, backend="numpy")
        for _ in range(3):
            for found, wanted in zip(compiled(x, p), step(x, p), strict=True):
                assert found.shape == wanted.shape
                torch.testing.assert_close(found, wanted)
    assert any([loop.flat for loop in loops])


@pytest.mark.parametrize("rows", [(numpy_code.BLOCKED + k) // 4 + 1 for k in (-4, 0, 4)] + [blocks.BLOCK // 4 + 1])
def test_a_network_with_a_slope_around_the_sizes_of_blocks(rows: int) -> None:
    torch.manual_seed(0)
    x = torch.randn(rows, 4)

    def step(model: Any, optimizer: Any) -> Any:
        optimizer.zero_grad(set_to_none=False)
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    losses = []
    for backend in ("eager", "numpy"):
        torch.manual_seed(1)
        layers = torch.nn.Linear(4, 4), torch.nn.Softmax(-1), torch.nn.PReLU(), torch.nn.RMSNorm(4)
        model = torch.nn.Sequential(*layers)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        compiled = torch.compile(step, backend=backend)
        losses.append([compiled(model, optimizer).item() for _ in range(4)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def chain(x: Any) -> Any:
    """Elementwise operations, of which no value is needed for long."""
    return ((x.sin() + 1).exp() * 2 - 3).cos()


def step(x: Any) -> Any:
    """An expression that uses three values more than once."""
    wave, growth = x.sin(), x.exp()
    return (wave * x + growth) * wave - growth * x


@pytest.mark.parametrize(("function", "arrays"), [(chain, 1), (step, 3)])
def test_a_loop_writes_over_what_it_no_longer_needs(loops: list[blocks.BlockedLoop], function: Any,
                                                    arrays: int) -> None:
    x = torch.linspace(-1, 1, 101)
    ready = torch.compile(function)
    for _ in range(2):
        assert np.array_equal(ready(x).numpy(), function(x).numpy())
    loop, = {id(loop): loop for loop in loops}.values()
    assert len(loop.scratch) == arrays


def test_a_value_stays_that_is_read_again(loops: list[blocks.BlockedLoop]) -> None:
    def function(x: Any, y: Any) -> Any:
        a = x * y
        b = a + x
        return a - b, b * a, (a * a).sum()

    torch.manual_seed(0)
    x, y = torch.randn(33, 3), torch.randn(33, 3)
    ready = torch.compile(function)
    ready(x, y)
    for found, wanted in zip(ready(x, y)[:2], function(x, y)[:2]):
        assert np.array_equal(found.numpy(), wanted.numpy())
    assert loops


# Views of a matrix that are the same elements in the same order.
SAME: dict[str, Callable[[Any], Any]] = {
    "two transposes": lambda a: a.t().t(), "a row": lambda a: a.reshape(-1).view(a.shape), "all": lambda a: a[:],
    "one dim more": lambda a: a.unsqueeze(0).squeeze(0), "a copy": lambda a: a.t().contiguous().t(),
    "in three dims": lambda a: a.unsqueeze(2).permute(1, 2, 0).permute(2, 0, 1).squeeze(2)}
USED: dict[str, Callable[[Any, Any], Any]] = {
    "read": lambda a, x: a * x, "summed": lambda a, x: (a * x).sum(0), "written": lambda a, x: a.mul_(x),
    "written and read": lambda a, x: a.mul_(2) * x}


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("used", USED)
@pytest.mark.parametrize("same", SAME)
def test_a_loop_uses_what_it_computes_by_views(same: str, used: str, kept: bool, loops: list[Any]) -> None:
    w = torch.rand(3, requires_grad=True)

    def function(x: Any) -> Any:
        a = x * w + 1
        found = USED[used](SAME[same](a), x)
        return (found, a * 1) if kept else (found,)

    step, x = torch.compile(function, fullgraph=True), torch.rand(5, 3)
    for _ in range(3):
        found, right = step(x), function(x)
        for f, r in zip(found, right, strict=True):
            torch.testing.assert_close(f, r)
        of_w = [torch.autograd.grad(sum([part.square().sum() for part in parts]), w)[0] for parts in (found, right)]
        torch.testing.assert_close(*of_w)
    assert loops
