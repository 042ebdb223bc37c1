"""Lists to which a compiled function appends: as without `torch.compile`, also if something reads them."""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from programs.number_programs import shown

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor."""
    return str(request.param)


def state() -> Any:
    """A state that functions of these tests change."""
    return types.SimpleNamespace(n=0, stats={"loss": 0.0, "steps": 0}, history=[])


READERS: dict[str, Callable[[Any], Any]] = {
    "length": lambda s: len(s.history), "last": lambda s: s.history[-1], "sum": lambda s: sum(s.history),
    "truth": lambda s: bool(s.history), "clear": lambda s: s.history.clear(), "in": lambda s: 1.0 in s.history,
    "alias": lambda s: s.alias.append(3.0), "getattr": lambda s: getattr(s, "hist" + "ory")[0],
    "vars": lambda s: vars(s)["history"][-1], "pop": lambda s: s.history.pop(), "mean": lambda s: np.mean(s.history),
    "again": lambda s: setattr(s, "history", [*s.history, 1]), "iterator": lambda s: [*s.history],
    "sort": lambda s: s.history.sort(), "eval": lambda s: eval("s.history[-1]", {"s": s}),
    "other name": lambda s: Reader(s).seen, "copy": lambda s: s.history.copy()}


class Reader:
    """Reads a list in a method that the compiler does not walk."""

    def __init__(self, s: Any) -> None:
        self.seen = len(s.history)


@pytest.mark.parametrize("name", READERS)
def test_lists_that_are_read(name: str, backend: str) -> None:
    def results(change: Callable[..., Any]) -> list[Any]:
        own, read, found = state(), READERS[name], []
        own.history = own.alias = [1.0]

        @change
        def step(x: Any) -> Any:
            own.history.append(2.0)
            seen = read(own)
            return x * 2, seen

        for i in range(5):
            if i == 3:
                own.history.append(7.0)
            found.append(shown([step(torch.ones(2)), own.history, own.alias, own.history is own.alias], {}))
        return found

    with warnings.catch_warnings(action="ignore"):
        assert results(lambda f: torch.compile(f, backend=backend)) == results(lambda f: f)


def test_things_that_become_the_same(backend: str) -> None:
    """Then a change of one is a change of the other."""
    def results(change: Callable[..., Any]) -> list[Any]:
        own, found = state(), []
        own.second, own.other = {"loss": 0.0, "steps": 0}, []

        @change
        def step(x: Any) -> Any:
            own.history.append(own.stats["steps"])
            own.stats["steps"] += 1
            own.other.append(own.second["steps"])
            own.second["steps"] += 1
            own.history.append(5)
            return x

        for i in range(6):
            if i == 3:
                own.stats = own.second
            if i == 5:
                own.history = own.other
            step(torch.ones(1))
            found.append(shown([own.stats, own.second, own.history, own.other], {}))
        return found

    assert results(lambda f: torch.compile(f, backend=backend)) == results(lambda f: f)


@pytest.mark.parametrize("raises", [False, True])
def test_a_call_of_another_size_that_is_traced_again_counts_once(backend: str, raises: bool) -> None:
    own, sizes = state(), (2, 3, 4, 5, 6, 7)

    def step(x: Any) -> Any:
        own.n += 1
        own.history.append(x.sum().item())
        if x.shape[0] > 4 and raises:
            raise TypeError("too large")
        return x * int.bit_length(x.shape[0])                # which takes an int of Python's own alone

    compiled = torch.compile(step, backend=backend)
    for size in sizes:
        with contextlib.suppress(TypeError) if raises else contextlib.nullcontext():
            compiled(torch.ones(size))
    assert (own.n, own.history) == (len(sizes), [*map(float, sizes)])
    assert {type(number) for number in own.history} == {float}
