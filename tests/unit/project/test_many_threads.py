"""Eight threads at once use what they share: nothing is lost, nothing is torn, and nothing waits for ever.

The interpreter changes from thread to thread a thousand times more often than usual, so the tests mean something
with the GIL, too. With RETROGRAD_ROUNDS=100 in the environment, each test runs with a hundred seeds.
"""

from __future__ import annotations

import faulthandler
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
from programs.shared_by_threads import THREADS, Doubled, Shared, exactly, whole_numbers
from programs.used_by_threads import KINDS

SEEDS = range(int(os.environ.get("RETROGRAD_ROUNDS", "2")))
# How many acts a thread makes, and after how many seconds it counts as hanging.
ACTS, PATIENCE = 12, 120


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Change from thread to thread as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What the functions return, each called in a thread of its own, all at the same time. Raises the first error.

    If a thread hangs, the stacks of all threads are written to standard error, and the test fails.
    """
    results: list[Any] = [None] * len(works)
    errors: list[BaseException] = []
    barrier = threading.Barrier(len(works))

    def run(place: int) -> None:
        try:
            barrier.wait(PATIENCE)
            results[place] = works[place]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(len(works))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback(sys.__stderr__, all_threads=True)
        raise AssertionError("a thread hangs; the stacks of all threads are on standard error")
    if errors:
        raise errors[0]
    return results


def acting(shared: list[Shared], seed: int) -> None:
    """Have all threads make their acts, each in an order of its own."""

    def work(me: int) -> Callable[[], None]:
        def run() -> None:
            draw = random.Random(seed * 1000 + me)
            acts = [one for one in shared for _ in range(ACTS)]
            draw.shuffle(acts)
            for one in acts:
                one.act(me, draw)
        return run

    for one in shared:
        one.start()
    at_once(*map(work, range(THREADS)))
    for one in shared:
        one.check()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_threads_share(kind: type[Shared], seed: int) -> None:
    acting([kind(random.Random(seed))], seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_threads_share_everything_at_once(seed: int) -> None:
    draw = random.Random(seed)
    acting([kind(draw) for kind in draw.sample(KINDS, 8)], seed)


# What happens only once: the first use of something that threads share

@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_hooks(seed: int) -> None:
    for number in range(30):
        w = whole_numbers(random.Random(seed + number), 3).requires_grad_()
        v = w * 2
        y = v.sum()
        calls: list[tuple[str, int]] = []

        def register(me: int, w: Any = w, v: Any = v, calls: Any = calls) -> None:
            w.register_hook(lambda g: calls.append(("leaf", me)))
            v.register_hook(lambda g: calls.append(("value", me)))
            v.grad_fn.register_hook(lambda *g: calls.append(("node", me)))
            w.register_post_accumulate_grad_hook(lambda w: calls.append(("after", me)))
            w.register_hook(lambda g: calls.append(("again", me)))
            v.retain_grad()

        at_once(*[lambda me=me, register=register: register(me) for me in range(THREADS)])
        y.backward()
        names = ("leaf", "value", "node", "after", "again")
        assert sorted(calls) == sorted((name, me) for name in names for me in range(THREADS))
        exactly(v.grad, torch.ones(3, dtype=torch.float64))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_use_of_a_leaf(seed: int) -> None:
    for number in range(30):
        w = whole_numbers(random.Random(seed + number), 3).requires_grad_()
        results = at_once(*[lambda w=w: w * 2] * THREADS)
        nodes = {id(result.grad_fn.next_functions[0][0]) for result in results}
        assert len(nodes) == 1, "one node accumulates"
        calls: list[Any] = []
        results[0].grad_fn.next_functions[0][0].register_hook(lambda *g, calls=calls: calls.append(g))
        at_once(*[result.sum().backward for result in results])
        exactly(w.grad, torch.full((3,), 2.0 * THREADS, dtype=torch.float64))
        assert len(calls) == THREADS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_first_writes_to_a_memory(seed: int) -> None:
    for number in range(30):
        base = whole_numbers(random.Random(seed + number), THREADS, 2)
        before = base.clone()
        parts = [base[i] for i in range(THREADS)]
        at_once(*[lambda part=part: [part.add_(1) for _ in range(5)] for part in parts])
        exactly(base, before + 5)
        assert base._version == 5 * THREADS
        assert all(part._version == 5 * THREADS for part in parts)


@pytest.mark.parametrize("seed", SEEDS)
def test_recorded_writes_to_parts_of_one_value(seed: int) -> None:
    for number in range(10):
        x = whole_numbers(random.Random(seed + number), THREADS, 2).requires_grad_()
        base = x * 1
        parts = [base[i] for i in range(THREADS)]

        def write(me: int, parts: Any = parts) -> None:
            for _ in range(3):
                parts[me].mul_(me + 1)

        at_once(*[lambda me=me, write=write: write(me) for me in range(THREADS)])
        assert base._version == 3 * THREADS
        factors = torch.tensor([[float(me + 1) ** 3] * 2 for me in range(THREADS)], dtype=torch.float64)
        exactly(base.detach(), x.detach() * factors)
        (found,) = torch.autograd.grad((base * base).sum(), x, create_graph=True)
        exactly(found.detach(), 2 * x.detach() * factors * factors)
        (second,) = torch.autograd.grad(found.sum(), x)
        exactly(second, 2 * factors * factors)


@pytest.mark.parametrize("seed", SEEDS)
def test_views_are_renewed_by_several_threads(seed: int) -> None:
    for number in range(10):
        x = whole_numbers(random.Random(seed + number), THREADS, 2).requires_grad_()
        base = x * 1
        part = base[2:5]
        part.retain_grad()
        base.mul_(3)
        results = at_once(*[lambda part=part: (part * 2).sum()] * THREADS)
        assert part.grad_fn.name() == "AsStridedBackward0"
        sum(results[1:], results[0]).backward()
        expected = torch.zeros(THREADS, 2, dtype=torch.float64)
        expected[2:5] = 6 * THREADS
        exactly(x.grad, expected)


def test_what_is_made_at_the_first_use_is_one_object() -> None:
    for _ in range(30):
        x = torch.ones(3, requires_grad=True)
        y = Doubled.apply(x)
        for look in (lambda x=x: x.untyped_storage(), lambda y=y: y.grad_fn, lambda y=y: y.grad_fn.metadata):
            results = at_once(*[look] * THREADS)
            assert len(set(map(id, results))) == 1


def test_numbers_of_nodes_differ_and_rise() -> None:
    from retrograd.graph.versions import next_number

    numbers = at_once(*[lambda: [next_number() for _ in range(5000)]] * THREADS)
    assert len({number for of_thread in numbers for number in of_thread}) == 5000 * THREADS
    assert all(of_thread == sorted(of_thread) for of_thread in numbers)


_FIRST_USES = """
import importlib.util, sys, threading
sys.setswitchinterval(1e-6)
import retrograd as torch

x = torch.arange(6.).reshape(2, 3)
WORKS = [
    lambda: torch.distributions.Normal(0., 1.).log_prob(torch.tensor(0.)).item(),
    lambda: torch.fft.fft(x).real.sum().item(),
    lambda: torch.linalg.svd(x).S.sum().item() > 0,
    lambda: torch.compile(lambda y: (y * y).sum(), backend="numpy")(x).item(),
    lambda: torch.func.vmap(torch.func.grad(lambda row: (row ** 2).sum()))(x).sum().item(),
    lambda: torch.nn.functional.softmax(x, 1).sum().item() > 1.9,
    lambda: x.to_sparse().to_dense().sum().item(),
    lambda: torch.special.erf(x).sum().item() > 0,
    lambda: torch.optim.Adam([torch.zeros(2, requires_grad=True)]).step(),
    lambda: torch.signal.windows.hann(5).sum().item(),
    lambda: torch.nn.LSTM(3, 2)(x)[0].shape,
    lambda: len(torch.autograd.profiler.profile.__name__),
    lambda: torch.empty(2, device="meta").add(1).shape,
    *([lambda: x.to(torch.bfloat16).float().sum().item()] if importlib.util.find_spec("ml_dtypes") else []),
    lambda: len(dir(torch)) > 1000,
]
barrier, results, errors = threading.Barrier(8), {}, []

def run(me):
    barrier.wait()
    try:
        for place in [*range(me, len(WORKS)), *range(me)]:
            results[me, place] = WORKS[place]()
    except BaseException as error:
        errors.append(error)

threads = [threading.Thread(target=run, args=(me,)) for me in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if errors:
    raise errors[0]
for place in range(len(WORKS)):
    assert len({repr(results[me, place]) for me in range(8)}) == 1, place
print("done")
"""


@pytest.mark.sampled(10)
@pytest.mark.parametrize("attempt", range(40))
def test_the_first_use_of_what_is_made_lazily(attempt: int) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-X", "faulthandler", "-c", _FIRST_USES], capture_output=True,
                          text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
