"""Of a checkpointed function its arguments are kept and nothing else, and what is kept goes by reference counts."""

import itertools
import sys
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential

KINDS = pytest.mark.parametrize("reentrant", [False, True])


@KINDS
@pytest.mark.usefixtures("no_collector")
def test_what_is_inside_is_not_kept(reentrant: bool) -> None:
    inside: list[Any] = []

    def function(x: Any) -> Any:
        for _ in range(5):
            x = x.sin() * x
            inside.append(weakref.ref(x._array))
        return x.sum()

    x = torch.ones(1000, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=reentrant)
    assert [array() for array in inside] == [None] * 5
    y.backward()
    assert len(inside) >= 9
    assert [array() for array in inside] == [None] * len(inside)


def held(function: Callable[[], Any]) -> int:
    """The bytes that are held after it has run, as long as its result is."""
    torch.backends.native.wait()                            # no other thread makes machine code meanwhile
    tracemalloc.start()
    try:
        result = function()
        bytes_held = tracemalloc.get_traced_memory()[0]
        del result
        return bytes_held
    finally:
        tracemalloc.stop()


def test_the_bytes_between_forward_and_backward() -> None:
    size, depth = 100_000, 20
    x = torch.ones(size, requires_grad=True)

    def deep(x: Any) -> Any:
        for _ in range(depth):
            x = x.sin()
        return x

    assert held(lambda: deep(x)) > depth * 4 * size * 0.9
    for reentrant in (False, True):
        assert held(lambda kind=reentrant: checkpoint(deep, x, use_reentrant=kind)) < 1.3 * 4 * size
    peak = 4 * size * depth / 4
    model = [torch.sin] * depth
    assert held(lambda: checkpoint_sequential(model, 5, x, use_reentrant=False)) < 2.4 * peak


@pytest.mark.usefixtures("no_collector")
def test_recomputed_values_go_as_they_are_used_and_the_rest_with_the_pass() -> None:
    runs: list[list[Any]] = []

    def function(x: Any) -> Any:
        a, b = x.sin(), x.exp()
        runs.append([weakref.ref(a._array), weakref.ref(b._array)])
        return a.sin() * 1, b.sin() * 1

    x = torch.ones(2, requires_grad=True)
    a, b = checkpoint(function, x, use_reentrant=False)
    alive: list[bool] = []
    x.register_hook(lambda g: alive.extend(array() is not None for array in runs[-1]))
    a.sum().backward(retain_graph=True)
    assert alive == [False, True]                   # what b saved was made again too, and nobody has asked for it
    assert [array() for array in runs[-1]] == [None, None]
    b.sum().backward()
    assert len(runs) == 3


@KINDS
@pytest.mark.usefixtures("no_collector")
def test_a_graph_goes_by_reference_counts(reentrant: bool) -> None:
    class Token:
        pass

    def step(fail: bool) -> Any:
        token = Token()
        x = torch.ones(2, requires_grad=True)
        last = itertools.chain([lambda y: y.exp().exp()], itertools.repeat(torch.exp))

        def holding(x: Any, token: Any = token) -> Any:
            y = checkpoint(torch.exp, x.sin() * x, use_reentrant=False)
            return next(last)(y) if fail else y.exp()

        y = checkpoint(holding, x, use_reentrant=reentrant)
        refused = False
        try:
            y.sum().backward()
        except CheckpointError:
            refused = True
        assert refused == (fail and not reentrant)
        return weakref.ref(token), weakref.ref(y), weakref.ref(x)

    for fail in (False, True):
        assert [reference() for reference in step(fail)] == [None] * 3


@KINDS
@pytest.mark.usefixtures("no_collector")
def test_a_thousand_steps_hold_no_more_than_one(reentrant: bool) -> None:
    x = torch.ones(2, requires_grad=True)

    def inner(x: Any) -> Any:
        return checkpoint(lambda x: x.sin() * x, x, use_reentrant=False, preserve_rng_state=False).exp()

    def steps(count: int) -> int:
        for _ in range(count):
            checkpoint(inner, x, use_reentrant=reentrant, preserve_rng_state=False).sum().backward()
        return sys.getallocatedblocks()

    before = steps(100)
    counted = getattr(sys, "_is_gil_enabled", lambda: True)()      # else Python frees some objects later
    assert steps(1000) - before < (100 if counted else 500)
