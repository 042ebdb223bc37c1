"""What only leaves a call stays compiled: arrays of NumPy, elements of deques, and learning rates."""

from __future__ import annotations

import array
import dis
import sys
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.optimizers import usual_optimizers
from needing import needs
from programs.number_programs import alike, shown
from retrograd.compilation.numbers.leaving_code import only_leaves

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor."""
    return str(request.param)


class Loop:
    """A small training loop, and what its steps leave behind."""

    def __init__(self, kind: Callable[..., Any] = torch.optim.SGD, **options: Any) -> None:
        self.p = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
        self.optimizer = kind([self.p], lr=0.1, **options)
        self.losses, self.window = list[Any](), deque[Any](maxlen=3)
        self.steps, self.total = 0, 0.0

    def loss(self, x: Any) -> Any:
        """The loss, after a step."""
        loss = (self.p * x).square().sum()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss


def left(loop: Any) -> Any:
    """All that the steps have left. No code of the class reads the lists that grow."""
    return (loop.p.tolist(), loop.losses, [*loop.window], loop.steps, loop.total,
            [group["lr"] for group in loop.optimizer.param_groups])


def run(step: Callable[..., Any], backend: str | None, make: Callable[[], Any] = Loop, calls: int = 7) -> Any:
    """What some calls return and leave behind. Nothing may fall back."""
    loop = make()
    change = step if backend is None else torch.compile(step, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [change(loop, torch.tensor([0.5, 1.0, 0.25 * call])) for call in range(calls)]
    return results, left(loop)


def same(step: Callable[..., Any], backend: str, make: Callable[[], Any] = Loop) -> None:
    """Assert that a step does the same as it is and compiled, and stays compiled."""
    expected, found = run(step, None, make), run(step, backend, make)
    assert alike(shown(found, {}), shown(expected, {}), exact=backend == "numpy"), f"{found}\n{expected}"


def windows(loop: Any, x: Any) -> Any:
    loss = loop.loss(x)
    loop.window.append(loss.item())
    loop.window.append((1, loss.item()))


def as_arrays(loop: Any, x: Any) -> Any:
    loss = loop.loss(x)
    loop.losses.append(loss.detach().cpu().numpy())
    doubled = (x * 2).numpy()
    return {"loss": loss.detach().numpy(), "n": 1}, doubled, [(x + 1).numpy()]


def rates(loop: Any, x: Any) -> Any:
    for group in loop.optimizer.param_groups:
        group["lr"] = 0.1 / (1 + loop.steps)
    loss = loop.loss(x)
    loop.steps += 1
    return loss.item(), loop.optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize("step", [windows, as_arrays, rates])
def test_as_it_is(step: Callable[..., Any], backend: str) -> None:
    same(step, backend)


@pytest.mark.parametrize("kind", [torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad, torch.optim.NAdam])
def test_rates_of_optimizers(kind: Any, backend: str) -> None:
    expected, found = (run(rates, executor, lambda: Loop(kind)) for executor in (None, backend))
    assert found[1][-1] == expected[1][-1]
    np.testing.assert_allclose(found[1][0], expected[1][0], rtol=1e-5)


@pytest.mark.parametrize("rate", ["0.1 / (1 + loop.steps); print(end='')", "min(0.1, 0.01 * loss.item())"])
@pytest.mark.parametrize("kind", usual_optimizers())
def test_a_rate_that_no_plan_takes(kind: str, rate: str, backend: str) -> None:
    """The trace ends, with a stand-in in the place of the rate, and the step is that of the program."""
    source = f"""def step(loop, x):
    loss = (loop.p * x).square().sum()
    loss.backward()
    loop.optimizer.param_groups[0]["lr"] = {rate}
    loop.optimizer.step()
    loop.optimizer.zero_grad()
    loop.steps += 1
"""
    scope: dict[str, Any] = {}
    exec(compile(source, "<rate>", "exec"), scope)
    found = []
    for step in (scope["step"], torch.compile(scope["step"], backend=backend)):
        loop = Loop(getattr(torch.optim, kind))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                step(loop, torch.tensor([0.5, 1.0, 0.25]))
        found.append((left(loop), type(loop.optimizer.param_groups[0]["lr"])))
    assert found[0] == found[1]


@pytest.mark.parametrize("schedule", [
    lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5),
    lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5),
    lambda optimizer: torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)],
    ids=["steps", "cosine", "plateau"])
@pytest.mark.parametrize("reads", [False, True])
def test_schedules_and_rates(schedule: Any, reads: bool, backend: str) -> None:
    def make() -> Any:
        loop = Loop()
        loop.schedule = schedule(loop.optimizer)
        loop.is_plateau = isinstance(loop.schedule, torch.optim.lr_scheduler.ReduceLROnPlateau)
        loop.best = 0                                        # which a schedule has, too
        return loop

    def plain(loop: Any, x: Any) -> Any:
        loss = loop.loss(x)
        loop.best += 1
        loop.schedule.step(loss.item()) if loop.is_plateau else loop.schedule.step()
        return loss.item()

    def reading(loop: Any, x: Any) -> Any:
        loss = plain(loop, x)
        return loss, loop.optimizer.param_groups[0]["lr"]

    same(reading if reads else plain, backend, make)


def test_a_rate_is_looked_at_after_its_schedule(backend: str) -> None:
    loop = Loop()
    schedule = torch.optim.lr_scheduler.ExponentialLR(loop.optimizer, 0.5)

    def step(x: Any) -> Any:
        loop.loss(x)
        schedule.step()
        return loop.optimizer.param_groups[0]["lr"] * 2

    compiled = torch.compile(step, backend=backend)
    with pytest.warns(UserWarning, match="looks at a learning rate after the step of its schedule"):
        found = [compiled(torch.ones(3)) for _ in range(4)]
    assert found == [0.1 * 0.5 ** call for call in range(4)]


def test_arrays_share_the_memory(backend: str) -> None:
    p = torch.ones(3)

    def step(x: Any) -> Any:
        doubled = x * 2
        return doubled, doubled.numpy(), p.numpy(), x.numpy()

    compiled = torch.compile(step, backend=backend)
    kept = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in range(4):
            x = torch.full((3,), float(call))
            doubled, array, own, given = compiled(x)
            assert type(array) is np.ndarray
            assert np.shares_memory(own, p.numpy())
            assert np.shares_memory(given, x.numpy())
            doubled[0] = -1.0
            kept.append(array)
    assert [array.tolist() for array in kept] == [[-1.0, 2.0 * call, 2.0 * call] for call in range(4)]


@pytest.mark.parametrize("look", ["a.sum()", "a + 1", "(a, a)", "[a[0]]", "len(a)", "[*a]", "f(a)"])
def test_arrays_that_are_looked_at(look: str, backend: str) -> None:
    scope = {"f": lambda a: a * 1}
    exec(compile(f"def step(x):\n a = (x * 2).numpy()\n return {look}\n", "<look>", "exec"), scope)
    step: Any = scope["step"]
    compiled = torch.compile(step, backend=backend)
    with pytest.warns(UserWarning, match="runs step as it is"):
        compiled(torch.ones(3))
    for call in range(4):
        x = torch.full((3,), float(call))
        assert np.array_equal(np.asarray(compiled(x)), np.asarray(step(x)))


def test_another_thing_of_the_same_name(backend: str) -> None:
    """Two things under one name: a list that grows, and an array of Python's library, whose change nobody repeats."""
    class Holder:
        def __init__(self, kept: Any) -> None:
            self.kept = kept

    def add(holder: Any, number: Any) -> None:
        holder.kept.append(number)

    first, second = Holder([]), Holder(array.array("d"))

    def step(x: Any) -> Any:
        add(first, 1.0)
        add(made[0], 2.0)
        return x + 1

    made = [second]
    compiled = torch.compile(step, backend=backend)
    with pytest.warns(UserWarning, match="runs step as it is"):
        compiled(torch.ones(2))
    compiled(torch.ones(2))
    assert first.kept == [1.0, 1.0]
    assert [*second.kept] == [2.0, 2.0]


def test_a_deque_whose_elements_are_alike(backend: str) -> None:
    """The elements do not show how often the function has appended to the deque."""
    window = deque([None] * 3, maxlen=3)

    def step(x: Any) -> Any:
        window.append(None)
        return x + 1

    compiled = torch.compile(step, backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(torch.ones(1))
        window.extend([1, 2, 3])
        compiled(torch.ones(1))
    assert [*window] == [2, 3, None]


@pytest.mark.parametrize("append", ["[*map(window.append, (None,))]", "a = window.append; a(None)",
                                    "window.extend([None])", "window += [None]", "d.append(window, None)"])
def test_appends_that_nobody_counts(append: str, backend: str) -> None:
    window: Any = deque([None] * 3, maxlen=3)
    scope = {"window": window, "d": deque}
    exec(compile(f"def step(x):\n global window\n {append}\n return x + 1\n", "<append>", "exec"), scope)
    compiled = torch.compile(scope["step"], backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            compiled(torch.ones(1))
            assert window[-1] is None
            window.extend([1, 2, 3])
    assert [*window] == [1, 2, 3]


def test_sizes_in_a_full_deque(backend: str) -> None:
    window = deque([0, 0], maxlen=2)

    def step(x: Any) -> Any:
        window.append(x.shape[0])
        window.append(x.shape[0] * 2)
        return x * 2

    compiled = torch.compile(step, backend=backend, dynamic=True)
    for size in (2, 3, 4, 5):
        compiled(torch.ones(size))
        assert [(type(each), each) for each in window] == [(int, size), (int, 2 * size)]


# From 3.12 on, Python builds the list in each branch. So the value only leaves there, and the reader may say so.
IN_BRANCHES = ["return [x.n() if s else 1]"] if sys.version_info < (3, 12) else []


def test_values_that_only_leave() -> None:
    def code(body: str) -> Any:
        scope: dict[str, Any] = {}
        exec(f"def f(x, s, g):\n {body}\n", scope)
        return scope["f"].__code__

    def leaves(body: str) -> bool:
        """For the call of `n` in the code."""
        lines = [*dis.get_instructions(code(body))]
        calls = [line.offset for at, line in enumerate(lines) if line.opname == "CALL" and [
            each for each in lines[:at] if each.opname in ("LOAD_METHOD", "LOAD_ATTR")][-1].argval == "n"]
        return only_leaves(code(body), calls[0], frozenset({"grown"}), True)

    for body in ("return x.n()", "return x.n(), 1", "return [1, x.n(), s.a + 2]", "return {'a': x.n(), 'b': s.a}",
                 "a = x.n(); return a", "s.grown.append(x.n())", "a = x.n()\n s.grown.append(a)\n return a, 1"):
        assert leaves(body), body
    for body in ("return x.n() + s", "return x.n().b", "return s(x.n())", "return {x.n(): 1}", "s.a = x.n()",
                 "a = x.n(); s(a)",
                 "s.other.append(x.n())", "return [s(x.n()) if s else 1]", *IN_BRANCHES,
                 "a = x.n()\n a += 1\n return a",
                 "a = x.n()\n def h(): return a\n return h", "s.grown.append(-x.n())", "return [*x.n()]", "yield x.n()",
                 "return x.n()[0]", "return s[x.n()]", "s.grown.append(s.f(x.n()))", "return not x.n()"):
        assert not leaves(body), body


def recursive(x: Any, outer: bool = True) -> Any:
    if outer:
        array = recursive(x, False)
        array += 1                                         # what the inner call returns is looked at here
        return float(array.sum()), array.tolist(), bool((array > 2).any()), array
    return x.mul(3).numpy()


class Nested:
    """A method that calls itself on another object."""

    def __init__(self, inner: Any = None) -> None:
        self.inner = inner

    def run(self, x: Any) -> Any:
        if self.inner is None:
            return x.mul(3).numpy()
        return [self.inner.run(x).tolist()]


def by_numpy(x: Any) -> Any:
    return np.asarray(x.mul(2))


def by_numpy_with_a_dtype(x: Any) -> Any:
    return np.array(x, dtype=np.float64), np.stack([x.mul(3), x.mul(4)]).sum()


@pytest.mark.parametrize("function", [recursive, Nested(Nested()).run, by_numpy, by_numpy_with_a_dtype])
def test_an_array_that_other_code_looks_at_is_no_stand_in(function: Callable[..., Any], backend: str) -> None:
    """The same code may run twice in a call, and NumPy itself asks for arrays."""
    compiled, given = torch.compile(function, backend=backend), [torch.arange(3.) * i for i in range(5)]
    with pytest.warns(UserWarning, match="looks at the numbers"):
        found = [compiled(x) for x in given]
    assert alike(shown(found, {}), shown([function(x) for x in given], {}), exact=True)
