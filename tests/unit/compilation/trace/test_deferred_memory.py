"""Calls that the first run of a compiled function puts off: which are never made, and which memory they hold."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from programs.putting_off import numbers, put_off_everything, x
from retrograd.compilation.trace import deferred


def test_gradients_for_a_later_backward_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    put_off_everything(monkeypatch.setattr, planned=True)
    made: list[str] = []
    former = deferred._needed

    def needed(lines: Any, wanted: Any) -> Any:
        found = former(lines, wanted)
        made.extend([line.op.name for line in found])
        return found

    monkeypatch.setattr(deferred, "_needed", needed)
    a = x(grad=True)
    y = torch.compile(lambda a: (a.sin() * 2).exp(), backend="numpy")(a)
    assert sorted(made) == ["exp", "mul", "sin"]
    made.clear()
    y.sum().backward()
    assert not made


def test_values_that_nobody_needs_are_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    put_off_everything(monkeypatch.setattr, planned=False)
    promised, refs, made = deferred._promised, list[Any](), list[str]()
    one_by_one = deferred._one_by_one

    def watched(*args: Any) -> Any:
        result = promised(*args)
        refs.extend([] if result is None else [weakref.ref(result)])
        return result

    def noted(lines: Any, *rest: Any) -> None:
        made.extend([line.op.name for line in lines])
        one_by_one(lines, *rest)

    def function(a: Any) -> Any:
        a.sin()
        y = a * 2
        return y + 1, y.cumsum(0)

    monkeypatch.setattr(deferred, "_promised", watched)
    monkeypatch.setattr(deferred, "_one_by_one", noted)
    given = x()
    found = torch.compile(function, backend="numpy", fullgraph=True)(given)
    assert numbers(found) == numbers((given * 2 + 1, (given * 2).cumsum(0)))
    assert made == ["mul", "add"]
    assert [ref() is None for ref in refs] == [True, True, False]


def test_memory_of_the_run_is_not_held_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    put_off_everything(monkeypatch.setattr, planned=False)
    monkeypatch.setattr(deferred, "HELD", 100)
    promised, refs, alive = deferred._promised, list[Any](), list[int]()

    def noted(op: Any, args: Any) -> Any:
        refs.append(weakref.ref(args[0]))
        alive.append(len({id(ref()) for ref in refs}))
        return promised(op, args)

    def function(a: Any) -> Any:
        return [(a.cumsum(0).exp()).sum() for _ in range(9)]

    monkeypatch.setattr(deferred, "_promised", noted)
    given = x()
    assert numbers(torch.compile(function, backend="numpy")(given)) == numbers(function(given))
    assert max(alive) <= 5


def test_only_large_arrays_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    promised, sizes = deferred._promised, list[int]()

    def noted(op: Any, args: Any) -> Any:
        sizes.append(max([arg.nbytes for arg in args if isinstance(arg, np.ndarray)]))
        return promised(op, args)

    monkeypatch.setattr(deferred, "_promised", noted)
    for size, waits in ((deferred.LARGE // 4 - 1, False), (deferred.LARGE // 4, True)):
        torch.compile(lambda a: a.exp() * 2, backend="numpy")(x(size))
        assert bool(sizes) == waits
    sizes.clear()
    torch.compile(lambda a, b: (a.exp(), b.exp()), backend="numpy")(x(deferred.LARGE // 4), x())
    assert sizes == [deferred.LARGE]


def test_memory_that_nobody_needs_is_free_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, made = put_off_everything(monkeypatch.setattr, planned=False), list[int]()
    one_by_one = deferred._one_by_one

    def noted(lines: Any, *rest: Any) -> None:
        made.append(len(lines))
        one_by_one(lines, *rest)

    monkeypatch.setattr(deferred, "_one_by_one", noted)

    def function(a: Any) -> Any:
        b = a * 2
        for _ in range(20):
            a.sin()                                        # another array takes its place, and has its identity
            a.cumsum(0).cumsum(0)
        return b + 1

    given = x()
    assert numbers(torch.compile(function, backend="numpy")(given)) == numbers(function(given))
    assert counts["sin"] == 20
    assert [count for count in made if count] == [2]
