"""Numbers that a compiled function hands on, and in which its state counts: their values and exact types."""

from __future__ import annotations

import gc
import math
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from programs.number_programs import alike, shown
from retrograd import nn
from retrograd.compilation.program.stand_in_numbers import Number

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]


@pytest.fixture(params=EXECUTORS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each executor."""
    return str(request.param)


def state() -> Any:
    """A state that functions of these tests change."""
    return types.SimpleNamespace(total=0.0, n=0, last=None, w=torch.tensor([1.0, 2.0]), t=torch.tensor(2**53 + 1),
                                 stats={"loss": 0.0, "steps": 0}, history=[], curves={"loss": [], "x": []},
                                 nested={"inner": {"n": 1}, "list": [1, 2.5]})


class Meter:
    """An average, as training programs have it."""

    def __init__(self) -> None:
        self.val, self.sum, self.count, self.avg = 0.0, 0.0, 0, 0.0

    def update(self, val: float, n: int = 1) -> None:
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def returned(s: Any, x: Any) -> Any:
    return x.sum().item(), {"max": x.max().item(), "list": x.tolist()}, (x > 0).sum().item() + 1


def stored(s: Any, x: Any) -> Any:
    s.last = x.sum().item()
    s.stats["loss"] = s.last * 2
    s.nested["list"][1] = (x > 0).sum().item()
    return x * 2


def added(s: Any, x: Any) -> Any:
    s.total += x.sum().item()
    s.n += 1
    s.stats["steps"] = s.stats["steps"] + 1
    s.nested["inner"]["n"] -= 2
    return s.total / s.n


def averaged(s: Any, x: Any) -> Any:
    s.total = 0.9 * s.total + 0.1 * x.mean().item()
    return round(s.total, 4), abs(-s.total), s.total


def before_a_write(s: Any, x: Any) -> Any:
    first, view = s.w[0].item(), s.w[1]
    second = view.item()
    s.w.add_(x)
    return first, second, view.item(), s.w[0].item()


def large(s: Any, x: Any) -> Any:
    s.t.add_(1)
    return s.t.item(), s.t.item() * 3 - 1, s.t.tolist()


def exchanged(s: Any, x: Any) -> Any:
    s.total, s.n = s.n + 0.5, s.n + 1
    s.last = s.total
    return s.last


def reset(s: Any, x: Any) -> Any:
    s.n = 0
    s.total = -0.0
    return x + 1


def replaced(s: Any, x: Any) -> Any:
    s.stats = {"loss": x.sum().item(), "steps": s.n}
    s.n += 1
    return x


def metered(s: Any, x: Any) -> Any:
    s.meter.update(x.sum().item(), x.shape[0])
    return s.meter.avg


def handed(s: Any, x: Any) -> Any:
    def inner(value: Any, *more: Any, **named: Any) -> Any:
        return [value, more, named]

    return inner(x[0].item(), x[1].item(), last=x.sum().item())


def remembered(s: Any, x: Any) -> Any:
    s.new = x.sum().item()
    return x


def appended(s: Any, x: Any) -> Any:
    y = x.sum()
    s.history.append(y.item())
    s.history.append((s.n, {"loss": y.item() * 2, "tensor": y.detach()}))
    s.curves["loss"].append(y.detach())
    s.curves["x"].append([x, 1.5, None])
    s.n += 1
    return y


FOLLOWED = (appended, returned, stored, added, averaged, before_a_write, large, exchanged, reset, replaced, metered,
            handed, remembered)


def run(function: Callable[..., Any], change: Callable[..., Any], calls: int = 6) -> list[Any]:
    """What calls return and leave."""
    own, found = state(), []
    own.meter = Meter()
    step = change(lambda x: function(own, x))
    for i in range(calls):
        x = torch.tensor([i - 1.5, 0.25 * i])
        if i == 3:
            own.n, own.total = 7, -1.5
        found.append([shown(step(x), {}), shown(vars(own), {})])
    return found


@pytest.mark.parametrize("function", FOLLOWED)
def test_numbers_that_are_handed_on(function: Callable[..., Any], backend: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run(function, lambda f: torch.compile(f, backend=backend, fullgraph=True))
    assert alike(found, run(function, lambda f: f), exact=backend == "numpy")
    gc.collect()
    assert not [thing for thing in gc.get_objects() if issubclass(type(thing), Number)]


@pytest.mark.parametrize("function", FOLLOWED)
def test_few_traces_serve_all_calls(function: Callable[..., Any], traces: list[Any]) -> None:
    run(function, lambda f: torch.compile(f, backend="numpy"), 12)
    assert len(traces) <= 3                                # the first call may add an attribute, or change None


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The traced runs."""
    from retrograd.compilation import compiled
    made, first = list[Any](), compiled.FirstRun

    def counted(*args: Any) -> Any:
        made.append(first(*args))
        return made[-1]

    monkeypatch.setattr(compiled, "FirstRun", counted)
    return made


def test_a_branch_on_a_counter(backend: str, traces: list[Any]) -> None:
    """A trace for each outcome."""
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls, self.layer = 0, nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            self.calls += 1
            y = self.layer(x)
            return y * 2 if self.calls % 3 == 0 or self.calls > 15 else y

    torch.manual_seed(0)
    net = Net()
    compiled, x = torch.compile(net, backend=backend), torch.ones(2)
    for call in range(1, 19):
        expected = net.layer(x) * (2 if call % 3 == 0 or call > 15 else 1)
        assert torch.allclose(compiled(x), expected)
        assert (type(net.calls), net.calls) == (int, call)
    assert len(traces) == 3


def test_a_counter_that_decides_a_shape(backend: str) -> None:
    """It will not come again, so that no trace could serve another call."""
    own = state()

    def step(x: Any) -> Any:
        own.n += 1
        return x.expand(own.n)

    compiled = torch.compile(step, backend=backend)
    with pytest.warns(UserWarning, match="attribute n of SimpleNamespace was changed from 0 to 1"):
        found = [len(compiled(torch.ones(1))) for _ in range(4)]
    assert (found, own.n, type(own.n)) == ([1, 2, 3, 4], 4, int)


def test_a_cycle_of_numbers(traces: list[Any]) -> None:
    """A trace for each number, if code looks at it."""
    own = state()

    def step(x: Any) -> Any:
        own.n = (own.n + 1) % 3
        return x.expand(own.n)

    compiled = torch.compile(step, backend="numpy")
    assert [len(compiled(torch.ones(1))) for _ in range(9)] == [1, 2, 0] * 3
    assert len(traces) == 3


LOOKS: dict[str, Callable[[Any, Any], Any]] = {
    "text": lambda s, a: f"{a:.2f}", "percent": lambda s, a: "%.3f" % a,  # noqa: UP031
    "math": lambda s, a: math.exp(a), "tensor": lambda s, a: s.w * a, "new tensor": lambda s, a: torch.tensor([a, 1]),
    "full": lambda s, a: torch.full((2,), a), "key": lambda s, a: {a: 1}, "int": lambda s, a: int(a),
    "array": lambda s, a: np.array([a, 1.5]).tolist(), "product": lambda s, a: (np.float32(2) * a, 1j * a),
    "power": lambda s, a: (a**2, 2**a, pow(3, 2)), "divmod": lambda s, a: divmod(a, 2),
    "method": lambda s, a: (a.is_integer(), a.real), "where": lambda s, a: torch.where(s.w > 1, s.w, a),
    "clamp": lambda s, a: s.w.clamp(max=a), "alpha": lambda s, a: torch.add(s.w, s.w, alpha=a),
    "dtype": lambda s, a: (torch.tensor(a).dtype, torch.as_tensor(a).dtype, (s.w.long() * a).dtype),
    "round": lambda s, a: (round(a), math.floor(a), math.trunc(a)), "complex": lambda s, a: complex(a, 1),
    "item": lambda s, a: s.w.__setitem__(0, a), "added": lambda s, a: s.w.add_(a), "string": lambda s, a: str(a),
    "fill": lambda s, a: s.w.fill_(a), "slice": lambda s, a: s.w[: int(a)]}


@pytest.mark.parametrize("name", LOOKS)
def test_looks_end_the_trace(name: str, backend: str) -> None:
    def look(own: Any, x: Any) -> Any:
        return LOOKS[name](own, x.sum().item() + 5.5)

    with pytest.warns(UserWarning, match="looks at the numbers of a tensor, in File"):
        found = run(look, lambda f: torch.compile(f, backend=backend))
    assert found == run(look, lambda f: f)


def test_what_nobody_finds_is_plain_again() -> None:
    """After errors, in closures and in other hidden places, with the trace given up or not."""
    own, keep = state(), list[Any]()

    def fail(x: Any) -> Any:
        own.total += x.sum().item()
        own.last = {"tuple": (own.total, {"deep": [own.n + 1]})}
        raise ValueError(own.total)

    def hide(x: Any) -> Any:
        a = x.sum().item()
        keep.append((a, [a, (a, a)]))
        keep[0][1].append(lambda: a)
        own.last = {"set": {1, 2}, "tuple": ((a,),)}
        return {a: 3} if len(keep) > 1 else None

    compiled = torch.compile(fail, backend="numpy")
    for i in range(3):
        with pytest.raises(ValueError, match=r"^6\.0|^12\.0|^18\.0") as caught:
            compiled(torch.ones(6))
        assert (type(own.total), own.total, type(own.last["tuple"][0])) == (float, 6.0 * (i + 1), float)
        assert type(caught.value.args[0]) is float
    with pytest.warns(UserWarning, match="torch.compile runs hide as it is"):
        torch.compile(hide, backend="numpy")(torch.ones(6))
    assert shown([keep[0][:1], keep[0][1][:2], own.last], {}) == shown(
        [(6.0,), [6.0, (6.0, 6.0)], {"set": {1, 2}, "tuple": ((6.0,),)}], {})
    assert type(keep[0][1][2]()) is float


def test_numbers_that_are_keys(backend: str) -> None:
    """No dict keeps a stand-in as a key."""
    def results(change: Callable[..., Any]) -> list[Any]:
        own, found = state(), []

        @change
        def step(x: Any, count: int) -> Any:
            own.stats[own.n] = x
            own.stats[own.n, "pair"] = 1
            own.last = {own.n: x.sum().item()}
            own.n = own.n * count
            return {own.n: x, (1, own.n): 2}

        for i in range(5):
            own.n = 3 if i == 3 else own.n
            found.append(shown([step(torch.ones(2), int(i != 1)), vars(own)], {}))
        return found

    with warnings.catch_warnings(action="ignore"):
        assert results(lambda f: torch.compile(f, backend=backend)) == results(lambda f: f)


def test_code_that_takes_floats_alone() -> None:
    import json
    own = state()

    def step(x: Any) -> Any:
        own.n += 1
        return json.dumps({"loss": x.sum().item(), "n": own.n})

    compiled = torch.compile(step, backend="numpy")
    with pytest.warns(UserWarning, match="torch.compile runs step as it is"):
        found = [compiled(torch.ones(2)) for _ in range(2)]
    assert found == ['{"loss": 2.0, "n": 1}', '{"loss": 2.0, "n": 2}']


def test_a_number_for_a_later_backward_pass() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.scale = x.sum().item()
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.scale

    def apply(x: Any) -> Any:
        return Scaled.apply(x)

    compiled, given = torch.compile(apply, backend="numpy"), [torch.full((2,), float(i)) for i in range(3)]
    with pytest.warns(UserWarning, match="looks at the numbers"):
        found = [compiled(x.requires_grad_()) for x in given]
    sum(y.sum() for y in found).backward()
    assert [x.grad.tolist() for x in given] == [[0, 0], [2, 2], [4, 4]]


def test_a_smaller_last_batch(backend: str) -> None:
    own = state()
    own.meter = Meter()

    def step(x: Any) -> Any:
        loss = (x * x).mean()
        own.meter.update(loss.item(), x.shape[0])
        return loss

    compiled, expected = torch.compile(step, backend=backend), Meter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (4, 4, 4, 3, 4, 4, 3, 2, 4, 2):
            compiled(torch.full((n,), float(n)))
            expected.update(float(n * n), n)
            assert vars(own.meter) == vars(expected)


def test_a_thing_that_is_replaced_after_a_change() -> None:
    """Others may hold it, so the change is not lost."""
    own = state()

    def step(x: Any) -> Any:
        own.stats["steps"] += 1
        own.stats = {"loss": 1.0, "steps": 0}
        return x

    compiled, held = torch.compile(step, backend="numpy"), list[Any]()
    for _ in range(3):
        held.append(own.stats)
        with warnings.catch_warnings(action="ignore"):
            compiled(torch.ones(1))
    assert [each["steps"] for each in held] == [1, 1, 1]
