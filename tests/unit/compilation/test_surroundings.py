"""Compiled functions among stances, coroutines, interrupts and threads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import retrograd as torch
from needing import on_unix
from retrograd import nn
from retrograd.compilation.compiled import Tracing

set_stance = torch.compiler.set_stance


@pytest.fixture(autouse=True)
def _stance() -> Iterator[None]:
    yield
    set_stance("default")
    assert Tracing.thread is None
    assert Tracing.lock.acquire(blocking=False)
    Tracing.lock.release()


class Counting:
    """A compiled function, and how many traces of it there are."""

    def __init__(self) -> None:
        self.compiled = torch.compile(lambda x: x * 2)

    def traces(self) -> int:
        """How many traces there are."""
        run = next(cell.cell_contents for cell in self.compiled.__closure__ if hasattr(cell.cell_contents, "run")).run
        return len(getattr(run, "entries", ()))


def test_force_eager() -> None:
    it = Counting()
    with set_stance("force_eager"):
        assert it.compiled(torch.ones(2)).tolist() == [2.0, 2.0]
    assert it.traces() == 0
    it.compiled(torch.ones(2))
    assert it.traces() == 1
    forced = set_stance("force_eager")(it.compiled)
    forced(torch.ones(3))
    assert it.traces() == 1
    set_stance("force_eager")
    it.compiled(torch.ones(3))
    assert it.traces() == 1
    set_stance("default")
    it.compiled(torch.ones(3))
    assert it.traces() == 2


def test_stances_without_new_traces() -> None:
    it = Counting()
    for x in (torch.ones(2), torch.ones(2, dtype=torch.float64)):
        with set_stance("eager_on_recompile"):
            assert torch.equal(it.compiled(x), x * 2)
        with (set_stance("fail_on_recompile"),
              pytest.raises(RuntimeError, match="^Detected recompile when torch.compile stance is")):
            it.compiled(x)
        before = it.traces()
        it.compiled(x)
        assert it.traces() == before + 1
        for stance in ("eager_on_recompile", "fail_on_recompile"):
            with set_stance(stance):
                assert torch.equal(it.compiled(x), x * 2)


def test_the_first_call_as_it_is() -> None:
    it = Counting()
    set_stance("eager_then_compile")
    for traces in (0, 1, 1):
        it.compiled(torch.ones(2))
        assert it.traces() == traces


def test_stances_that_are_refused() -> None:
    with pytest.raises(RuntimeError, match="^non-default stance cannot have force_backend set"):
        set_stance("force_eager", force_backend="eager")
    with pytest.raises(AssertionError, match="^Attempt to trace forbidden callable"):
        torch.compile(lambda x: set_stance("force_eager"))(torch.ones(2))


def test_coroutines_and_generators() -> None:
    async def double(x: Any) -> Any:
        await asyncio.sleep(0)
        return (x * 2).sum()

    async def several(x: Any) -> AsyncIterator[Any]:
        for k in range(3):
            yield x * k

    def each(x: Any) -> Iterator[Any]:
        yield x + 1
        yield (x * x).sum()

    async def collected(x: Any) -> list[Any]:
        return [y async for y in compiled[1](x)]

    with warnings.catch_warnings(action="ignore"):
        compiled = [torch.compile(function) for function in (double, several, each)]
        for _ in range(3):
            x = torch.ones(3, requires_grad=True)
            asyncio.run(compiled[0](x)).backward()
            assert x.grad.tolist() == [2.0] * 3
            assert [y.tolist() for y in asyncio.run(collected(x))] == [[0.0] * 3, [1.0] * 3, [2.0] * 3]
            assert [y.tolist() for y in compiled[2](x)] == [[2.0] * 3, 3.0]


def step_of(model: Any, optimizer: Any, interrupt: Any) -> Any:
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        interrupt()
        optimizer.step()
        return loss.detach()

    return step


def test_an_interrupt_during_a_trace() -> None:
    flags = [True]

    def interrupt() -> None:
        if flags:
            flags.clear()
            raise KeyboardInterrupt

    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    before = [p.clone() for p in model.parameters()]
    compiled = torch.compile(step_of(model, optimizer, interrupt), backend="numpy")
    x = torch.ones(4, 3)
    with pytest.raises(KeyboardInterrupt):
        compiled(x)
    tensors = [*model.parameters(), *[p.grad for p in model.parameters()], x]
    assert {type(t._array).__name__ for t in tensors} == {"ndarray"}
    assert all(map(torch.equal, before, model.parameters()))
    other = nn.Linear(3, 2)
    other.load_state_dict(model.state_dict())
    plain = step_of(other, torch.optim.Adam(other.parameters()), lambda: None)
    for _ in range(3):
        assert torch.equal(compiled(x), plain(x))


def test_an_interrupt_during_a_run() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    compiled = torch.compile(step_of(model, torch.optim.SGD(model.parameters(), lr=0.1), int), backend="numpy")
    x = torch.ones(4, 3)
    losses = [compiled(x) for _ in range(3)]
    kept = [loss.item() for loss in losses]
    run = next(cell.cell_contents for cell in compiled.__closure__ if hasattr(cell.cell_contents, "run")).run
    recipe = run.entries[0][1]
    inner = recipe.ready.run

    def interrupted(*arrays: Any) -> Any:
        inner(*arrays)
        raise KeyboardInterrupt

    recipe.ready.run = interrupted
    with pytest.raises(KeyboardInterrupt):
        compiled(x)
    recipe.ready.run = inner
    assert [loss.item() for loss in losses] == kept
    other = nn.Linear(3, 2)
    other.load_state_dict(model.state_dict())
    plain = step_of(other, torch.optim.SGD(other.parameters(), lr=0.1), int)
    for _ in range(3):
        assert torch.equal(compiled(x), plain(x))
    assert run.reason is None


def test_threads_that_call_one_function() -> None:
    weight = torch.ones(3, requires_grad=True)

    def weighted(x: Any) -> Any:
        return (x * weight).sin().sum(1)

    compiled = torch.compile(weighted)
    failures: list[str] = []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for k in range(20):
            x = torch.randn(2 + (seed + k) % 3, 3, generator=generator, requires_grad=True)
            found, expected = compiled(x), weighted(x)
            gradients = [torch.autograd.grad(y.sum(), x)[0] for y in (found, expected)]
            if not (torch.allclose(found, expected, atol=1e-6) and torch.allclose(*gradients, atol=1e-6)):
                failures.append(f"{seed}, {k}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@on_unix
def test_a_process_that_is_forked_while_another_thread_traces() -> None:
    program = """
import os, threading, time
import retrograd as torch
x, inside, go = torch.ones(3), threading.Event(), threading.Event()
def slow(x):
    y = x * 2
    inside.set()
    go.wait()
    return y + 1
def quick(x):
    return x + 1
slow, quick = torch.compile(slow), torch.compile(quick)
quick(x)
thread = threading.Thread(target=slow, args=(x,))
thread.start()
inside.wait()
child = os.fork()
if not child:
    begin = time.monotonic()
    found = [x.tolist(), quick(x).tolist(), quick(torch.ones(2, 2)).tolist()]
    print(found, time.monotonic() - begin < 5, flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
go.set()
thread.join()
print(slow(x).tolist())
"""
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True,
                           check=True, timeout=60)
    assert found.stdout == (
        "[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [[2.0, 2.0], [2.0, 2.0]]] True\n0\n[3.0, 3.0, 3.0]\n")


def test_a_first_call_loads_few_modules() -> None:
    program = ("import sys, retrograd as torch; before = {*sys.modules}\n"
               "x = torch.ones(3, requires_grad=True)\n"
               "def f():\n y = (x * x).erf().sum(); y.backward(); return y.detach()\n"
               "g = torch.compile(f); [g() for _ in range(3)]; print(*{*sys.modules} - before)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {*done.stdout.split()}
    assert "retrograd.compilation.compiled" in loaded
    slow = {"argparse", "logging", "numpy.polynomial", "numpy.random", "retrograd.nn.modules.batchnorm",
            "retrograd.utils._pytree", "secrets", "uuid"}
    assert not loaded & slow
