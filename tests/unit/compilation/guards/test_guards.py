"""Guards: which differences they see, and what they say."""

import enum
import functools
import math
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from compiled.cases import Net, guarded, identity, why
from retrograd.compilation.guards.guard import make
from retrograd.compilation.reach.state import walk

RATE = 0.5
SETTINGS = {"lr": 0.1, "steps": [1, 2]}
Point = namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Batch:
    x: Any
    y: Any
    size: int = 2


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


@pytest.mark.parametrize(("value", "other"), [
    (1, 2), (1, True), (1, 1.0), (0.0, -0.0), (1.5, 2.5), (math.nan, 1.0), ("a", "b"), (b"a", b"b"), (None, 0),
    (True, False), (1j, 2j), (torch.float32, torch.float64), (torch.device("cpu"), torch.device("meta")),
    (Color.RED, Color.BLUE), (slice(1, 2), slice(1, 3)), (slice(1, 2), slice(True, 2)),
    (torch.Size([2]), torch.Size([3])), (torch.Size([2]), (2,)), ((1, 2), (1, 3)), ((1, 2), (1, 2, 3)),
    ((0.0,), (-0.0,)),
    (range(3), range(4)), (np.float32(1), np.float64(1)), (np.int64(1), np.int64(2)), (np.dtype("f4"), np.dtype("f8")),
    ([1, 2], [1, 3]), ([1, 2], [1]), ([1], (1,)), ({"a": 1}, {"b": 1}), ({"a": 1}, {"a": 2}), ({}, {"a": 1}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (OrderedDict(a=1), {"a": 1}), (defaultdict(int, a=1), defaultdict(int)),
    ({1, 2}, {1, 3}), (frozenset([1]), {1}), (deque([1, 2]), deque([2, 1])), (Point(1, 2), Point(1, 3)),
    (Point(1, 2), (1, 2)), (Batch(1, 2), Batch(1, 3)), (Batch(1, 2), Point(1, 2)), ([[1, [2]]], [[1, [3]]]),
    (SimpleNamespace(a=1), SimpleNamespace(a=1)), (identity, guarded), (torch.ones(2), 2), (2, torch.ones(2)),
    (functools.partial(identity, 1), functools.partial(identity, 2)), (Net, Color), (np.ones(2), np.ones(2)),
])
def test_a_guard_tells_values_apart(value: Any, other: Any) -> None:
    guard = guarded(identity, value)
    assert why(guard, identity, other) != ""
    captured = [value]
    inside = lambda: captured                                # noqa: E731
    guard = guarded(inside)
    captured[0] = other
    assert why(guard, inside) != ""


@pytest.mark.parametrize(("value", "other"), [
    (math.nan, float("nan")), (12345, int("12345")), ("ab" * 20, "".join(["ab"] * 20)), ([1, 2], [1, 2]),
    ({"a": [1.5]}, {"a": [1.5]}), (Point(1, [2]), Point(1, [2])), (Batch(1, [2]), Batch(1, [2])), ({1, 2}, {2, 1}),
    (torch.device("cpu"), torch.device("cpu")), (slice(None, 4), slice(None, 4)), ((1, "a"), (*[1, "a"],)),
    (functools.partial(identity, 1), functools.partial(identity, 1)), (deque([1]), deque([1])),
    (torch.ones(2), torch.zeros(2)),
])
def test_equal_arguments_need_not_be_the_same(value: Any, other: Any) -> None:
    assert why(guarded(identity, value), identity, other) == ""


def test_a_function_in_the_arguments_may_be_made_anew() -> None:
    def closure(number: int) -> Any:
        return lambda: number

    guard = guarded(identity, closure(1))
    assert why(guard, identity, closure(1)) == ""
    assert why(guard, identity, closure(2)) == "number was 1 and is 2"
    assert why(guard, identity, lambda: 1) != ""


@pytest.mark.parametrize(("other", "said"), [
    (lambda: torch.ones(3, 4), "argument x has the shape (3, 4), and had (2, 4)"),
    (lambda: torch.ones(2, 4, dtype=torch.float64), "argument x has the dtype torch.float64, and had torch.float32"),
    (lambda: torch.ones(4, 2).t(), "argument x has the strides (1, 2), and had (4, 1)"),
    (lambda: torch.ones(2, 4, requires_grad=True), "argument x requires grad, and did not"),
    (lambda: torch.ones(2, 4, requires_grad=True) * 2, "argument x requires grad, and did not"),
    (lambda: torch.nn.Parameter(torch.ones(2, 4)), "argument x is a Parameter, and was a Tensor"),
    (lambda: 3, "argument x was a tensor and is an int"),
])
def test_a_guard_says_what_differs_in_a_tensor(other: Any, said: str) -> None:
    def function(x: Any) -> Any:
        return x

    assert why(guarded(function, torch.ones(2, 4)), function, other()) == said


def test_gradients_hooks_and_history_of_arguments() -> None:
    def function(x: Any) -> Any:
        return x

    def leaf() -> Any:
        return torch.ones(2, requires_grad=True)

    guard = guarded(function, leaf())
    assert why(guard, function, leaf()) == ""
    assert why(guard, function, leaf() * 1) == "argument x was a leaf, and is none"
    with_grad, with_hook = leaf(), leaf()
    with_grad.grad = torch.ones(2)
    with_hook.register_hook(lambda g: None)
    assert why(guard, function, with_grad) == "argument x.grad was None and is a Tensor"
    assert why(guard, function, with_hook) != ""
    guard = guarded(function, with_grad)
    other = leaf()
    other.grad = torch.zeros(2)
    assert why(guard, function, other) == ""
    assert why(guard, function, leaf()) != ""
    assert why(guarded(function, leaf() * 1), function, leaf() * 1) == ""


def test_views_are_arguments_like_others() -> None:
    data = torch.ones(6, 2)
    guard = guarded(identity, data[:2])
    assert why(guard, identity, data[2:4]) == ""
    assert why(guard, identity, torch.ones(2, 2)) == ""
    tracked = torch.ones(6, 2, requires_grad=True)
    assert why(guard, identity, tracked.detach()[:2]) == ""
    assert why(guard, identity, tracked[:2]) != ""


def test_captured_tensors_are_known_by_identity_and_by_memory() -> None:
    box = [torch.ones(2), torch.ones(2, requires_grad=True)]
    function = lambda: box                                   # noqa: E731
    guard = guarded(function)
    kept, box[0] = box[0], torch.ones(2)
    assert why(guard, function) == "box[0] is another object"
    box[0] = kept
    assert why(guard, function) == ""
    box[1].data = torch.zeros(2)
    assert why(guard, function) == "box[1] has other memory"
    guard = guarded(function)
    box[1].requires_grad_(False)
    assert why(guard, function) == "box[1] required grad, and does not"
    guard = guarded(function)
    box[0].grad = torch.ones(2)
    assert why(guard, function) != ""


def test_arguments_that_are_the_same_or_share_memory() -> None:
    x, y = torch.ones(4), torch.ones(4)
    guard = guarded(identity, x, y)
    assert why(guard, identity, y, x) == ""
    assert "share" in why(guard, identity, x, x)
    assert "share" in why(guard, identity, x, x.detach())
    assert "share" in why(guard, identity, x, x.data)
    whole = torch.ones(8)
    assert why(guard, identity, whole[:4], whole[4:]) == ""
    assert "share" in why(guard, identity, whole[:4], whole[2:6])
    guard = guarded(identity, whole[:4], whole[2:6])
    assert why(guard, identity, whole[1:5], whole[3:7]) == ""
    assert why(guard, identity, whole[:4], whole[1:5]) != ""
    assert why(guard, identity, x, y) != ""
    same = guarded(identity, x, x)
    assert why(same, identity, y, y) == ""
    assert why(same, identity, x, y) == "argument 1 and argument 0 were the same object, and are not"


def test_an_argument_that_shares_memory_with_a_captured_tensor() -> None:
    held = torch.ones(4)
    function = lambda x: x + held                            # noqa: E731
    guard = guarded(function, torch.ones(4))
    assert "share" in why(guard, function, held.view(4))
    assert "share" in why(guard, function, held.data)
    assert why(guarded(function, held), function, torch.ones(4)) != ""


def test_modules_training_members_attributes_and_hooks() -> None:
    model = Net()
    function = lambda x: model(x)                            # noqa: E731
    x = torch.ones(1, 3)
    guard = guarded(function, x)
    model.eval()
    assert why(guard, function, x) == "model.training was True and is False"
    model.train()
    model.epoch = 7
    assert why(guard, function, x) == ""
    model.power = 2
    assert why(guard, function, x) == "model.power was 1 and is 2"
    model.power = 1
    handle = model.first.register_forward_hook(lambda *_: None)
    assert why(guard, function, x) == "model.first._forward_hooks has 1 entry, and had 0"
    handle.remove()
    assert why(guard, function, x) == ""
    Net.scale = 3.0
    assert why(guard, function, x) == "Net.scale was 2.0 and is 3.0"
    Net.scale = 2.0
    model.first = torch.nn.Linear(3, 2)
    assert why(guard, function, x) == "model.first is another object"
    guard = guarded(function, x)
    model.first.weight = torch.nn.Parameter(torch.ones(2, 3))
    assert why(guard, function, x) == "model.first.weight is another object"
    guard = guarded(function, x)
    model.register_buffer("more", torch.ones(1))
    assert why(guard, function, x) != ""


def test_optimizers_options_and_state() -> None:
    p = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)

    def step() -> None:
        p.grad = torch.ones(2)
        optimizer.step()

    step()
    guard = guarded(step)
    optimizer.param_groups[0]["lr"] = 0.2
    assert why(guard, step) == "optimizer.param_groups[0]['lr'] was 0.1 and is 0.2"
    optimizer.param_groups[0]["lr"] = 0.1
    assert why(guard, step) == ""
    optimizer.state[p]["momentum_buffer"] = torch.ones(2)
    assert why(guard, step) == "optimizer.state[p]['momentum_buffer'] is another object"
    optimizer.state.clear()
    assert why(guard, step) != ""
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))]})
    assert why(guard, step) != ""


def test_globals_slots_and_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    slotted, numbers = Slotted(1), np.ones(3)
    function = lambda: (slotted.value, numbers, RATE, SETTINGS)          # noqa: E731
    guard = guarded(function)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "RATE", 0.25)
        assert why(guard, function) == "RATE was 0.5 and is 0.25"
    with monkeypatch.context() as patch:
        patch.delitem(globals(), "RATE")
        assert why(guard, function) == "RATE is missing, or is another kind of thing"
    with monkeypatch.context() as patch:
        patch.setitem(SETTINGS, "lr", 0.2)
        assert why(guard, function) == "SETTINGS['lr'] was 0.1 and is 0.2"
    slotted.value = 2
    assert why(guard, function) == "slotted.value was 1 and is 2"
    slotted.value = 1
    numbers[0] = 5
    assert why(guard, function) == "numbers has other numbers"
    del slotted.value
    assert why(guard, function) != ""


def test_modes() -> None:
    guard = guarded(identity)
    with torch.no_grad():
        assert why(guard, identity) == "grad mode was True and is False"
        inside = guarded(identity)
    assert why(inside, identity) == "grad mode was False and is True"
    with torch.inference_mode():
        assert why(guard, identity) != ""
    with torch.autocast("cpu"):
        assert why(guard, identity) != ""
        inside = guarded(identity)
        with torch.autocast("cpu", dtype=torch.float16):
            assert why(inside, identity).startswith("autocast was")
    torch.set_default_dtype(torch.float64)
    try:
        assert why(guard, identity) == "the default dtype was torch.float32 and is torch.float64"
    finally:
        torch.set_default_dtype(torch.float32)
    handle = torch.nn.modules.module.register_module_forward_hook(lambda *_: None)
    assert why(guard, identity) != ""
    assert walk(identity, (), {}).refusals
    handle.remove()
    torch.func.vmap(lambda x: pytest.fail("held") if guard(identity, (), {}) else x)(torch.ones(2))
    assert why(guard, identity) == ""


def test_the_number_and_the_names_of_arguments() -> None:
    guard = guarded(identity, 1)
    for args, kwargs in (((), {}), ((1, 1), {}), ((1,), {"a": 1}), ((None,), {}), (("",), {}), (([],), {})):
        assert why(guard, identity, *args, **kwargs) != ""


class Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> Any:
        raise RuntimeError("eq")

    def __len__(self) -> int:
        raise RuntimeError("len")

    __hash__ = None                                          # type: ignore[assignment]


@pytest.mark.parametrize("value", [torch.ones(2), [1, 2], {"a": 1}, 1, "a", Batch(1, 2), Point(1, 2), identity, {1}])
def test_a_guard_never_raises(value: Any) -> None:
    guard = guarded(identity, value)
    for other in (Hostile(), None, [], {}, (), 0, object(), torch.ones(1).to_sparse(), identity, [Hostile()] * 2):
        if type(other) is not type(value):
            assert why(guard, identity, other) != ""


def test_what_is_missing_must_stay_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    slotted = Slotted(1)
    del slotted.value

    def function() -> Any:
        return slotted.value, later, abs(1)

    guard = guarded(function)
    slotted.value = 2
    assert why(guard, function) == "slotted.value was missing and is 2"
    del slotted.value
    monkeypatch.setitem(globals(), "abs", identity)
    assert why(guard, function).startswith("abs was missing and is <function identity")
    monkeypatch.undo()
    assert why(guard, function) == ""
    later = 3
    assert why(guard, function) == "later was missing and is 3"


def test_memory_of_numpy_arrays_and_of_detached_tensors() -> None:
    numbers = np.ones(4, np.float32)
    held = torch.from_numpy(numbers)
    function = lambda x, y: x + y + held                     # noqa: E731
    guard = guarded(function, torch.ones(4), torch.ones(4))
    assert why(guard, function, torch.ones(4).data, torch.from_numpy(np.ones(4, np.float32))) == ""
    assert "share" in why(guard, function, torch.ones(4), torch.from_numpy(numbers))
    assert "share" in why(guard, function, torch.ones(4), held.data.data)
    content = bytearray(16)
    x, y = torch.frombuffer(content, dtype=torch.float32), torch.frombuffer(content, dtype=torch.float32)
    assert "share" in why(guard, function, x, y)
    assert why(guard, function, x, torch.ones(4)) == ""


def test_a_guard_returns_the_tensors_that_may_be_others() -> None:
    p, x = torch.ones(2, requires_grad=True), torch.ones(3)
    p.grad = torch.ones(2)
    function = lambda x: p * x                               # noqa: E731
    state = walk(function, (x,), {})
    numbers = {item.words: item.number for item in state.tensors()}
    found = make(state).check(function, (x,), {})
    assert [id(tensor) for tensor in found] == [id(p.grad), id(x)]
    guard = make(state, unused={numbers["p.grad"]})
    assert guard.inputs == [numbers["argument x"]]
    assert [id(tensor) for tensor in guard.check(function, (x,), {})] == [id(x)]
