"""The first call of a compiled function puts off elementwise calls. Nobody sees memory that waits for its numbers."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from programs.putting_off import put_off_everything
from retrograd.compilation import compiled, deferred, tracing
from retrograd.compilation.deferred import Deferred

Change = Callable[[Any, str, Any], None]


@pytest.fixture(params=["planned", "one by one"])
def counts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The calls that were put off. All that can be are."""
    return put_off_everything(monkeypatch.setattr, request.param == "planned")


def numbers(value: Any) -> Any:
    """What one sees of a result."""
    if isinstance(value, torch.Tensor):
        array = value.detach().resolve_conj().numpy()
        return array.dtype, array.shape, array.strides, array.tobytes(), value.requires_grad, value._version
    return [numbers(part) for part in value] if isinstance(value, (list, tuple)) else value


def alike(function: Callable[..., Any], *args: Any, **options: Any) -> None:
    """The first call and the second one see and leave what the function without compiling sees and leaves."""
    plain, held = copy.deepcopy(args), copy.deepcopy(args)
    ready = torch.compile(function, backend="numpy", **options)
    for _ in range(2):
        with warnings.catch_warnings(action="ignore"):
            expected, found = function(*plain), ready(*held)
        assert numbers(found) == numbers(expected)
        for one, other in zip(held, plain, strict=True):
            assert numbers(one) == numbers(other)
            if isinstance(one, torch.Tensor):
                assert numbers(one.grad) == numbers(other.grad)


def x(*shape: int, dtype: Any = torch.float32, grad: bool = False) -> Any:
    torch.manual_seed(0)
    return torch.randn(*shape or (4, 3), dtype=dtype).requires_grad_(grad)


def step(a: Any) -> Any:
    loss = (a.sin() * a + a.exp()).sum()
    loss.backward()
    return loss.detach()


def test_a_step_is_put_off_as_a_whole(counts: Counter[str]) -> None:
    alike(step, x(grad=True))
    assert counts["sin"] == counts["exp"] == counts["sum"] == 1 and counts["mul"] >= 4


LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda y: y[0, 0].item(), "list": lambda y: y.tolist(), "text": str, "numpy": lambda y: y.numpy().tolist(),
    "array": lambda y: np.asarray(y).tolist(), "bool": lambda y: bool(y[0, 0] > 0), "float": lambda y: float(y.sum()),
    "copy": lambda y: copy.deepcopy(y).tolist(), "pickle": lambda y: pickle.loads(pickle.dumps(y)).tolist(),
    "equal": lambda y: torch.equal(y, y * 1), "index": lambda y: [1, 2, 3][int(y[0, 0] > 0)],
    "dlpack": lambda y: torch.from_dlpack(y).tolist(), "storage": lambda y: y.untyped_storage().tolist(),
    "pointer": lambda y: y.data_ptr() != 0, "nonzero": lambda y: y.nonzero().tolist(), "mask": lambda y: y[y > 0],
    "iteration": lambda y: [row.tolist() for row in y], "resize": lambda y: y.clone().resize_(2, 2).tolist(),
    "shared": lambda y: y.detach().T.numpy().tolist(), "numpy function": lambda y: np.sin(y).tolist(),
    "real memory": lambda y: memoryview(y.numpy()).tolist()}


@pytest.mark.parametrize("look", LOOKS)
def test_who_looks_at_numbers_sees_them(counts: Counter[str], look: str) -> None:
    def function(a: Any) -> Any:
        y = (a * 2).exp() + 1
        seen = LOOKS[look](y)
        return y - 1, seen

    alike(function, x())
    assert counts["exp"]


@pytest.mark.parametrize("reads", [
    lambda y: y @ y.T, lambda y: y.sum(0), lambda y: y.softmax(-1), lambda y: y.sort(0)[0], lambda y: y[:, [0, 2]],
    lambda y: torch.cat([y, y]), lambda y: torch.stack([y.T, y.T]), lambda y: y.T + 1, lambda y: y[1:] * y[:-1],
    lambda y: y.to(torch.int64), lambda y: y.half() * 2, lambda y: y.data + 1, lambda y: y.data.T.cumsum(0),
    lambda y: y.as_strided((2, 2), (1, 3)).contiguous(), lambda y: y.unfold(0, 2, 1).prod(-1), lambda y: y.argmax(),
    lambda y: y.clone(memory_format=torch.preserve_format).T.clone(), lambda y: torch.view_as_real(y + 0j) * 2,
    lambda y: y.expand(2, 4, 3).sum(0), lambda y: y.detach().view(-1)[::2] * 3, lambda y: torch.nn.functional.gelu(y)])
def test_calls_that_are_not_put_off_read_numbers(counts: Counter[str], reads: Callable[[Any], Any]) -> None:
    alike(lambda a: (reads(a * 2 + 1), a * 3), x())
    assert counts


@pytest.mark.parametrize("draws", [
    lambda y: torch.rand_like(y), lambda y: torch.nn.functional.dropout(y), lambda y: torch.bernoulli(y.sigmoid()),
    lambda y: torch.normal(y, 1.0)])
def test_random_numbers_are_drawn_once(counts: Counter[str], draws: Callable[[Any], Any]) -> None:
    def function(a: Any) -> Any:
        y = a * 2
        drawn = draws(y)
        return drawn * y, drawn + 1

    given, state = x(), torch.get_rng_state()
    expected = [numbers(function(given)) for _ in range(2)]
    torch.set_rng_state(state)
    ready = torch.compile(function, backend="numpy")
    assert [numbers(ready(given)) for _ in range(2)] == expected and counts


@pytest.mark.parametrize("write", [
    lambda a, y: a.add_(1), lambda a, y: y.mul_(2), lambda a, y: a.zero_(), lambda a, y: a[0].fill_(7.0),
    lambda a, y: a.data.sub_(1), lambda a, y: y.T.add_(a.T), lambda a, y: torch.add(a, 1, out=a), lambda a, y: a.normal_(),
    lambda a, y: a.view(-1).sin_(), lambda a, y: y.copy_(a), lambda a, y: a.detach().exp_(), lambda a, y: a.t_()])
def test_writes_come_after_what_reads_their_memory(counts: Counter[str], write: Callable[[Any, Any], Any]) -> None:
    def function(a: Any) -> Any:
        y = a * 2 + 1
        torch.manual_seed(3)
        write(a, y)
        return y, y * 3, a + 1

    alike(function, x())
    assert counts


def test_training_steps(counts: Counter[str]) -> None:
    def trained(change: Callable[[Any], Any]) -> Any:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

        @change
        def step(a: Any) -> Any:
            optimizer.zero_grad()
            loss = (model(a).sigmoid() ** 2).mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            return loss.detach()

        losses = [step(x(5, 3)) for _ in range(4)]
        return numbers([*losses, *model.parameters(), *[p.grad for p in model.parameters()]])

    assert trained(lambda f: torch.compile(f, backend="numpy")) == trained(lambda f: f)
    assert counts


def test_an_error_in_the_function_leaves_numbers(counts: Counter[str]) -> None:
    held: list[Any] = []

    def function(a: Any) -> Any:
        y = a * 2 + 1
        held.append(y)
        held.append(y.T)
        raise ValueError("enough")

    given = x()
    with pytest.raises(ValueError, match="enough"):
        torch.compile(function, backend="numpy")(given)
    assert numbers(held) == numbers([given * 2 + 1, (given * 2 + 1).T]) and counts


@pytest.mark.parametrize("when", ["_planned", "make", "_one_by_one"])
def test_an_interrupt_leaves_numbers(monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    put_off_everything(monkeypatch.setattr, when == "_planned")
    given, expected = x(grad=True), x(grad=True)
    step(expected)
    holder: Any = Deferred if when != "_one_by_one" else deferred
    former = getattr(holder, when)

    def interrupted(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(holder, when, former)
        if when == "make":                                 # as soon as all is made
            former(*args, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(holder, when, interrupted)
    with pytest.raises(KeyboardInterrupt):
        torch.compile(step, backend="numpy")(given)
    assert numbers(given.grad) == numbers(expected.grad)


@pytest.mark.parametrize("stop", [lambda y: print(end=""), lambda y: y.tolist(), lambda y: torch.manual_seed(0),
                                  lambda y: y.register_hook(print)])
def test_a_run_that_is_given_up_has_its_numbers(counts: Counter[str], stop: Callable[[Any], Any]) -> None:
    def function(a: Any) -> Any:
        y = a * 2 + 1
        stop(y)
        return y * 2, y + 1

    alike(function, x(grad=True))
    assert counts


def test_the_whole_graph_is_asked_for(counts: Counter[str]) -> None:
    held: list[Any] = []

    def function(a: Any) -> Any:
        held.append(a * 2)
        a.add_(1)
        return (a * 3).tolist()

    given, before = x(), x()
    with pytest.raises(RuntimeError, match="looks at the numbers"):
        torch.compile(function, backend="numpy", fullgraph=True)(given)
    assert numbers(held[0]) == numbers(before * 2) and given.tolist() == before.tolist() and counts
    alike(lambda a: (a * 2).exp(), x(), fullgraph=True)


def test_hooks_see_numbers(counts: Counter[str]) -> None:
    def function(a: Any) -> Any:
        seen = []
        y = a.exp() * 2
        y.register_hook(lambda g: seen.append(g.tolist()))
        y.sin().sum().backward()
        return seen, a.grad * 2

    alike(function, x(grad=True))
    assert counts


def test_saved_values_of_a_later_backward(counts: Counter[str]) -> None:
    for again in range(2):
        results = []
        for change in (lambda f: f, lambda f: torch.compile(f, backend="numpy")):
            a, b = x(grad=True), x(3, 3, grad=True)
            y, z = change(lambda a, b: ((a.exp() @ b).tanh() * 2, a.sin() * a.cos()))(a, b)
            (y.sum() + z.prod()).backward()
            results.append(numbers([y, z, a.grad, b.grad]))
        assert results[0] == results[1], again
    assert counts


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
    promised, seen = deferred._promised, list[Any]()

    def watched(*args: Any) -> Any:
        result = promised(*args)
        seen.append(weakref.ref(result))
        return result

    def function(a: Any) -> Any:
        a.sin()
        y = a * 2
        assert [ref() is None for ref in seen] == [True, False]        # nothing holds the memory of the sine
        return y + 1

    monkeypatch.setattr(deferred, "_promised", watched)
    ready, given = torch.compile(function, backend="numpy", fullgraph=True), x()
    assert numbers(ready(given)) == numbers(given * 2 + 1)


def test_what_may_raise_an_error_is_not_put_off(counts: Counter[str]) -> None:
    for function in (lambda n: (n * 1) ** -(n * 1), lambda n: (n * 1) // (n - n), lambda n: (n * 1) << 70):
        for ready in (function, torch.compile(function, backend="numpy")):
            with pytest.raises((RuntimeError, ZeroDivisionError)) as error:
                assert ready(torch.arange(3)) is None, "no error"
            text = str(error.value)
        assert text == str(error.value)


def test_threads_see_numbers(counts: Counter[str]) -> None:
    seen: list[Any] = []

    def function(a: Any) -> Any:
        y = a.exp() * 2
        thread = threading.Thread(target=lambda: seen.append(y.tolist()))
        thread.start()
        thread.join()
        return y + 1

    given = x()
    found = torch.compile(function, backend="numpy")(given)
    assert seen == [(given.exp() * 2).tolist()] and numbers(found) == numbers(given.exp() * 2 + 1) and counts


@pytest.mark.parametrize("after", [lambda y: y.cumsum(0), lambda y: y.tolist(), lambda y: y * 2, lambda y: y])
def test_a_thread_gives_the_tape_up_while_a_call_is_noted(
        monkeypatch: pytest.MonkeyPatch, counts: Counter[str], after: Callable[[Any], Any]) -> None:
    given, note = x(), Deferred.note

    def late(self: Deferred, *args: Any) -> None:
        monkeypatch.setattr(Deferred, "note", note)
        thread = threading.Thread(target=given.tolist)
        thread.start()
        thread.join()
        note(self, *args)

    monkeypatch.setattr(Deferred, "note", late)
    with warnings.catch_warnings(action="ignore"):
        found = torch.compile(lambda a: after(a.exp()), backend="numpy")(given)
    assert numbers(found) == numbers(after(given.exp())) and counts["exp"] == 1


def test_a_thread_waits_for_numbers_that_another_makes(monkeypatch: pytest.MonkeyPatch, counts: Counter[str]) -> None:
    given, seen = x(), list[Any]()
    begun, former = threading.Event(), deferred._one_by_one

    def slowly(*args: Any) -> None:
        begun.set()
        threading.Event().wait(0.2)
        former(*args)

    monkeypatch.setattr(deferred, "_one_by_one", slowly)

    def function(a: Any) -> Any:
        y = a.exp() * 2
        thread = threading.Thread(target=lambda: seen.append(y.tolist()))
        thread.start()
        begun.wait(10)
        z = y.cumsum(0)
        thread.join()
        return z

    with warnings.catch_warnings(action="ignore"):
        found = torch.compile(function, backend="numpy")(given)
    assert numbers(found) == numbers((given.exp() * 2).cumsum(0)) and seen == [(given.exp() * 2).tolist()] and counts
