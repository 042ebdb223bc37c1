"""The walk over all that a function can reach, the guards made from it, and the changes that a call makes.

The facts are those of a program: what a change is, a user sees. Nothing here is compared with PyTorch.
"""

import enum
import functools
import io
import itertools
import math
import random
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.guards import Guard, make
from retrograd.compilation.items import CONSTANT, OPAQUE, TENSOR
from retrograd.compilation.state import Changes, State, changes, outside_random, walk

RATE = 0.5
SETTINGS = {"lr": 0.1, "steps": [1, 2]}
WEIGHT = torch.ones(3, requires_grad=True)
UNUSED = 1
FACTOR = torch.zeros(1)
Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Batch:
    x: Any
    y: Any
    size: int = 2


class Net(torch.nn.Module):
    scale = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.register_buffer("seen", torch.zeros(2))
        self.power, self.epoch = 1, 0

    def forward(self, x: Any) -> Any:
        return (self.first(x) * self.scale) ** self.power + self.seen


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Holder:
    """Something with attributes. `act` is the code that looks at them."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def act(self) -> Any:
        return self.value


def guarded(function: Any, *args: Any, **kwargs: Any) -> Guard:
    guard = make(walk(function, args, kwargs))
    assert guard(function, args, kwargs), guard.why(function, args, kwargs)
    assert guard.why(function, args, kwargs) == ""
    return guard


def why(guard: Guard, function: Any, *args: Any, **kwargs: Any) -> str:
    reason = guard.why(function, args, kwargs)
    assert guard(function, args, kwargs) is (reason == "")
    return reason


def changed(function: Any, *args: Any) -> Changes:
    before = walk(function, args, {})
    function(*args)
    return changes(before, walk(function, args, {}, before.mentioned))


def words(state: State, kind: str) -> list[str]:
    return [item.words for item in state.items if item.kind == kind]


def identity(*values: Any) -> Any:
    return values


# What the walk finds


def test_arguments_captured_variables_globals_and_defaults_are_found() -> None:
    captured = torch.ones(2)

    def function(x: Any, factor: Any = FACTOR) -> Any:
        return x * captured * WEIGHT * RATE * SETTINGS["lr"] * factor

    state = walk(function, (torch.ones(3),), {"factor": torch.ones(1)})
    assert words(state, TENSOR) == ["captured", "WEIGHT", "function.__defaults__[0]", "argument x", "argument factor"]
    assert {"RATE", "SETTINGS['lr']"} <= {*words(state, CONSTANT)}
    assert not any("UNUSED" in item.words for item in state.items)
    assert [item.role for item in state.tensors()] == ["captured", "captured", "captured", "argument", "argument"]


def test_each_thing_is_found_once_and_cycles_end() -> None:
    loop: list[Any] = [WEIGHT]
    loop.append(loop)
    state = walk(identity, (loop, WEIGHT), {})
    assert words(state, TENSOR) == ["argument 1"]
    assert sum(item.value is loop for item in state.items) == 1
    guarded(identity, loop, WEIGHT)


def test_parameters_buffers_and_the_state_of_optimizers_are_found() -> None:
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: Any) -> None:
        model(x).sum().backward()
        optimizer.step()

    step(torch.ones(1, 3))
    found = words(walk(step, (torch.ones(1, 3),), {}), TENSOR)
    assert {"model.first.weight", "model.first.bias", "model.seen", "model.first.weight.grad",
            "optimizer.state[model.first.weight]['exp_avg']"} <= {*found}
    assert len(found) == 1 + 2 + 2 + 1 + 6


def test_functions_that_a_function_calls_are_walked() -> None:
    inner = torch.ones(1)
    decorated = torch.no_grad()(lambda: inner)
    cached = functools.lru_cache(lambda: inner * RATE)
    partly = functools.partial(lambda x, y: x + y, torch.ones(2))
    state = walk(lambda: (decorated(), partly(1)), (), {})
    assert {item.value.shape for item in state.tensors()} == {(1,), (2,)}
    assert [item.value is inner for item in walk(lambda: cached(), (), {}).tensors()] == [True]


def test_methods_and_the_attributes_that_they_name() -> None:
    holder = Holder(value=torch.ones(2), other=torch.ones(3), count=0)
    state = walk(holder.act, (), {})
    assert words(state, TENSOR) == ["self.value"]
    guard = guarded(holder.act)
    holder.count = 1
    assert why(guard, holder.act) == ""
    holder.value = 3
    assert why(guard, holder.act) == "self.value was a tensor and is an int"
    holder.value = torch.ones(2)
    named = walk(lambda name: getattr(holder, name), ("other",), {})
    assert {*words(named, TENSOR)} == {"holder.value", "holder.other"}


def test_third_party_values_are_not_walked() -> None:
    state = walk(lambda: (np.add, itertools.chain, torch.relu, math.pi), (), {})
    assert {*words(state, OPAQUE)} == {"np", "itertools", "torch", "math"}


# What a guard compares


@pytest.mark.parametrize(("value", "other"), [
    (1, 2), (1, True), (1, 1.0), (0.0, -0.0), (1.5, 2.5), (math.nan, 1.0), ("a", "b"), (b"a", b"b"), (None, 0),
    (True, False), (1j, 2j), (torch.float32, torch.float64), (torch.device("cpu"), torch.device("meta")),
    (Colour.RED, Colour.BLUE), (slice(1, 2), slice(1, 3)), (slice(1, 2), slice(True, 2)),
    (torch.Size([2]), torch.Size([3])), (torch.Size([2]), (2,)), ((1, 2), (1, 3)), ((1, 2), (1, 2, 3)),
    ((0.0,), (-0.0,)),
    (range(3), range(4)), (np.float32(1), np.float64(1)), (np.int64(1), np.int64(2)), (np.dtype("f4"), np.dtype("f8")),
    ([1, 2], [1, 3]), ([1, 2], [1]), ([1], (1,)), ({"a": 1}, {"b": 1}), ({"a": 1}, {"a": 2}), ({}, {"a": 1}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (OrderedDict(a=1), {"a": 1}), (defaultdict(int, a=1), defaultdict(int)),
    ({1, 2}, {1, 3}), (frozenset([1]), {1}), (deque([1, 2]), deque([2, 1])), (Point(1, 2), Point(1, 3)),
    (Point(1, 2), (1, 2)), (Batch(1, 2), Batch(1, 3)), (Batch(1, 2), Point(1, 2)), ([[1, [2]]], [[1, [3]]]),
    (SimpleNamespace(a=1), SimpleNamespace(a=1)), (identity, guarded), (torch.ones(2), 2), (2, torch.ones(2)),
    (functools.partial(identity, 1), functools.partial(identity, 2)), (Net, Colour), (np.ones(2), np.ones(2)),
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


# What cannot be replayed


@pytest.mark.parametrize("value", [
    iter([1]), (i for i in [1]), itertools.count(), io.StringIO(), random.Random(1), np.random.default_rng(),
    np.random.RandomState(1), np.ones(5000), torch.ones(2).to_sparse(), torch.ones(2, device="meta"),
    torch.utils.data.DataLoader([1, 2]), iter(torch.utils.data.DataLoader([1, 2])),
])
def test_things_that_hide_state_are_refused(value: Any) -> None:
    state = walk(lambda: value, (), {})
    assert [reason.startswith("value is a") for reason in state.refusals] == [True]
    assert walk(lambda: 1, (), {}).refusals == []


def test_random_numbers_from_elsewhere() -> None:
    before = outside_random()
    torch.rand(2)
    assert outside_random() == before
    random.random()
    after = outside_random()
    assert after != before
    np.random.rand()
    assert outside_random() != after


# What a call changes


def test_nothing_is_changed_by_a_pure_call() -> None:
    model, x = Net(), torch.ones(1, 3)
    assert changed(lambda x: model(x), x) == ([], [], [])


def test_gradients_are_effects() -> None:
    p, q = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    q.grad = torch.ones(2)

    def step() -> None:
        (p * 3).sum().backward()
        q.grad = None

    found = changed(step)
    assert {effect.words for effect in found.effects} == {"q.grad", "p.grad"}
    assert found.unrepeatable == []
    assert found.replaced == []
    made, p.grad, q.grad = torch.zeros(2), None, torch.ones(2)
    for effect in found.effects:
        effect.apply(lambda value: made)
    assert p.grad is made
    assert q.grad is None


def test_the_gradient_of_an_argument_is_an_effect() -> None:
    x, other, made = (torch.ones(2, requires_grad=True) for _ in range(3))

    def step(x: Any) -> None:
        (x * 3).sum().backward()

    effect, = changed(step, x).effects
    assert effect.words == "argument x.grad"
    assert effect.anchor is None
    effect.apply(lambda value: made.detach(), (other,))
    assert other.grad is not None
    assert effect.holder((other,)) is other


@pytest.mark.parametrize("kind", ["Adam", "SGD", "RMSprop", "Adagrad", "AdamW", "NAdam", "Rprop"])
def test_the_first_step_of_an_optimizer_makes_its_state(kind: str) -> None:
    p = torch.ones(2, requires_grad=True)
    options = {"momentum": 0.9} if kind == "SGD" else {}
    optimizer = getattr(torch.optim, kind)([p], lr=0.1, **options)

    def step() -> None:
        (p * p).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    first, second = changed(step), changed(step)
    assert first.unrepeatable == []
    assert second.unrepeatable == []
    assert second.effects == []
    if kind == "Adagrad":
        return                                               # it makes its state when it is constructed
    state = optimizer.state[p]
    optimizer.state.clear()
    for effect in first.effects:
        assert effect.words.startswith("optimizer.state[p]")
        effect.apply(lambda value: value + 1)
    assert optimizer.state[p].keys() == state.keys()
    assert all(value is not state[key] for key, value in optimizer.state[p].items() if torch.is_tensor(value))


def test_tensors_in_attributes_items_and_variables_are_effects() -> None:
    holder = Holder(value=torch.ones(2), table={"a": torch.ones(1)}, row=[torch.ones(1), 2], last=torch.ones(1))
    local = torch.ones(2)

    def step() -> None:
        nonlocal local
        local = local * 2
        holder.value = holder.value + 1
        holder.table["a"] = holder.table["a"] + 1
        holder.table["b"] = {"sum": holder.value.sum(), "parts": (holder.value, 3, [local])}
        holder.row[0] = holder.row[0] * 2
        holder.last = None
        holder.fresh = [local]

    old = local
    found = changed(step)
    assert found.unrepeatable == []
    assert {effect.words for effect in found.effects} == {
        "local", "holder.value", "holder.table['a']", "holder.table['b']", "holder.row[0]", "holder.last",
        "holder.fresh"}
    assert {item.words for item in found.replaced} == {"local", "holder.value", "holder.table['a']", "holder.row[0]"}
    made: dict[int, Any] = {}
    for effect in found.effects:
        effect.apply(lambda value: made.setdefault(id(value), torch.zeros(5)))
    assert local is not old
    assert local.shape == (5,)
    assert holder.last is None
    assert holder.table["b"]["parts"][2][0] is holder.fresh[0] is local
    assert holder.table["b"]["parts"][:2] == (holder.value, 3)


def test_a_replaced_tensor_is_guarded_like_an_argument() -> None:
    holder = Holder(value=torch.ones(2))

    def step() -> None:
        holder.value = holder.value + 1

    before = walk(step, (), {})
    step()
    found = changes(before, walk(step, (), {}, before.mentioned))
    guard = make(before, found.replaced)
    assert why(guard, step) == ""
    assert guard.check(step, (), {}) == [holder.value]
    assert [before.items[i].words for i in guard.inputs] == [
        "holder.value"]
    holder.value = torch.ones(3)
    assert why(guard, step) == "holder.value has the shape (3,), and had (2,)"


def set_(**values: Any) -> Any:
    def change(holder: Any) -> None:
        vars(holder).update(values)
    return change


@pytest.mark.parametrize(("change", "said"), [
    (set_(count=2), "the attribute count of Holder was changed from 1 to 2"),
    (set_(name="b"), "the attribute name of Holder was changed from 'a' to 'b'"),
    (set_(count=torch.float32), "the attribute count of Holder was changed from 1 to torch.float32"),
    (set_(log=[3]), "the attribute log of Holder was replaced by another object"),
    (lambda holder: holder.log.append(1), "the list argument holder.log grew from 0 to 1 entries"),
    (lambda holder: holder.log.append(torch.ones(1)), "the list argument holder.log grew from 0 to 1 entries"),
    (lambda holder: holder.table.pop("a"), "the entry 'a' of argument holder.table was removed"),
    (lambda holder: holder.table.update(a=2), "the entry 'a' of argument holder.table was changed from 1 to 2"),
    (lambda holder: holder.table.update(a=holder.table.pop("a")), "the keys of argument holder.table were put in "
                                                                 "another order"),
    (lambda holder: holder.table.update(b=Holder()), "the entry 'b' of argument holder.table was added"),
    (lambda holder: holder.kinds.add(3), "the elements of argument holder.kinds were changed"),
    (lambda holder: holder.array.fill(3), "the numbers of argument holder.array were changed"),
    (lambda holder: holder.value.requires_grad_(), "the requires_grad of the tensor argument holder.value was changed"),
    (lambda holder: holder.value.t_(), "the shape of the tensor argument holder.value was changed"),
    (lambda holder: setattr(holder, "__class__", Net), "the class of argument holder was changed"),
    (lambda holder: holder.model.eval(), "the attribute training of Net was changed from True to False"),
])
def test_other_changes_cannot_be_repeated(change: Any, said: str) -> None:
    holder = Holder(count=1, name="a", log=[], table={"a": 1, "z": 0}, value=torch.ones(2, 3), kinds={1, 2},
                    array=np.ones(2), model=Net())

    def step(holder: Any) -> None:
        vars(holder)
        change(holder)

    found = changed(step, holder)
    assert found.unrepeatable[:1] == [said]
    assert found.effects == []


def test_equal_lists_in_place_of_others_are_no_change() -> None:
    holder = Holder(value=[1, (2, 3)])

    def step() -> None:
        holder.value = [1, (2, 3)]

    assert changed(step) == ([], [], [])


def test_schedulers_change_numbers() -> None:
    p = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    def step() -> None:
        optimizer.step()
        scheduler.step()

    assert "the attribute last_epoch of StepLR was changed from 0 to 1" in changed(step).unrepeatable
