"""Loops in blocks: of any size they compute what the whole program computes, in little memory."""

from __future__ import annotations

from collections.abc import Iterator
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs_in_blocks_of_two_elements(loops: list[blocks.BlockedLoop], group: int) -> None:
    for seed in range(group, SEEDS, GROUPS):
        author, outcome = checked(torch, seed, True)       # sums have another order of additions
        if outcome.difference:
            lines: list[Any] = shrunk(torch, author, seed, True)
            pytest.fail("\n".join([f"seed {seed}, arguments {author.specs}", *lines, outcome.difference]))
    assert len(loops) > 3


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
