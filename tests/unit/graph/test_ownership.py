"""No gradient shares memory with what a program holds, in whatever way it holds it and the interpreter counts it."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.execution import leases
from retrograd.graph import engine, ownership
from retrograd.graph.ownership import ALONE, LENT, SHARED, hold


@pytest.fixture(params=["counted", "not counted"])
def counted(request: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With counts as they are, and with an interpreter whose counts are not as expected."""
    if request.param == "counted":
        return True
    monkeypatch.setattr(ownership, "HELD_ONCE", -1)
    monkeypatch.setattr(leases, "HELD_ONCE", -1)
    return False


def suspended(value: Any) -> Iterator[Any]:
    yield
    yield value


def in_a_variable(value: Any) -> Any:
    call = suspended(value)
    next(call)
    return call


def in_a_thread(value: Any) -> Any:
    """A thread whose function alone holds the value, until it is asked for it."""
    asked = threading.Event()

    def wait(found: list[Any], value: Any) -> None:
        asked.wait()
        found.append(value)

    found: list[Any] = []
    thread = threading.Thread(target=wait, args=(found, value), daemon=True)
    thread.start()
    return found, thread, asked


def from_thread(held: Any) -> Any:
    found, thread, asked = held
    asked.set()
    thread.join()
    return found[0]


# How a program may hold a tensor, and how it gets its numbers back.
HOLDERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "list": (lambda t: [t], lambda held: held[0]),
    "dict": (lambda t: {t: t}, lambda held: next(iter(held))),
    "attribute": (lambda t: SimpleNamespace(t=t), lambda held: held.t),
    "partial": (lambda t: partial(id, t), lambda held: held.args[0]),
    "variable": (in_a_variable, next),
    "closure": (lambda t: lambda: t, lambda held: held()),
    "thread": (in_a_thread, from_thread),
    "detached": (lambda t: [t.detach()], lambda held: held[0]),
    "view": (lambda t: [t[:]], lambda held: held[0]),
    "row": (lambda t: [t.view(-1)[1:]], lambda held: held[0]),
    "array": (lambda t: [t.detach().numpy()], lambda held: torch.from_numpy(held[0])),
    "array's view": (lambda t: [t.detach().numpy().T], lambda held: torch.from_numpy(held[0])),
    "memoryview": (lambda t: [memoryview(t.detach().numpy())], lambda held: torch.from_numpy(np.asarray(held[0]))),
    "storage": (lambda t: [t.untyped_storage()], lambda held: torch.tensor([], dtype=torch.float32).set_(held[0])),
}


class Handing(torch.autograd.Function):
    """A Function whose backward hands a tensor to the program, or one of the program's tensors to the engine."""

    @staticmethod
    def forward(ctx: Any, x: Any, meet: Any) -> Any:
        ctx.meet = meet
        return x * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return ctx.meet(g * 2), None


def to_the_leaf(meet: Any, x: Any) -> None:
    x.register_hook(meet)
    (x * torch.full((2, 3), 2.0)).sum().backward()


def to_a_node(meet: Any, x: Any) -> None:
    y = x * torch.full((2, 3), 2.0)
    y.register_hook(meet)
    y.reshape(3, 2).reshape(2, 3).mul(torch.ones(2, 3)).sum().backward()


def to_an_alias(meet: Any, x: Any) -> None:
    y = x + 0
    y.register_hook(meet)
    (y * torch.full((2, 3), 2.0)).sum().backward()


def before_a_leaf(meet: Any, x: Any) -> None:
    y = x.view_as(x)
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: (meet(grads[0]),))
    (y * torch.full((2, 3), 2.0)).sum().backward()


def after_a_node(meet: Any, x: Any) -> None:
    y = x * torch.full((2, 3), 2.0)
    y.grad_fn.register_hook(lambda inputs, outputs: (meet(inputs[0]), *inputs[1:]))
    y.sum().backward()


def of_a_function(meet: Any, x: Any) -> None:
    Handing.apply(x, meet).sum().backward()


def of_the_start(meet: Any, x: Any) -> None:
    given = torch.full((2, 3), 2.0)
    (x + 0).backward(meet(given))


def of_the_leaf_itself(meet: Any, x: Any) -> None:
    given = torch.full((2, 3), 2.0)
    x.backward(meet(given))


PLACES = [to_the_leaf, to_a_node, to_an_alias, before_a_leaf, after_a_node, of_a_function, of_the_start,
          of_the_leaf_itself]


def run(place: Callable[[Any, Any], None], hold_it: Callable[[Any], Any], own: bool) -> tuple[Any, Any]:
    """The leaf, and what the program holds. With `own`, the hook returns a tensor that the program made before."""
    x, kept = torch.ones(2, 3, requires_grad=True), []
    waiting = [torch.arange(6.0).reshape(2, 3)]
    if own:
        kept.append(hold_it(waiting[0]))

    def meet(g: Any) -> Any:
        if own:
            return waiting.pop()                           # from now on, only the holder holds it
        kept.append(hold_it(g))
        return g

    place(meet, x)
    return x, kept[0]


@pytest.mark.parametrize("own", [False, True], ids=["shown", "returned"])
@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("place", PLACES)
def test_a_write_to_a_gradient_reaches_nothing_that_is_held(place: Any, name: str, own: bool, counted: bool) -> None:
    hold_it, look = HOLDERS[name]
    x, held = run(place, hold_it, own)
    expected, _ = run(place, lambda t: None, own)
    assert x.grad.tolist() == expected.grad.tolist()
    x.grad.fill_(-7)
    numbers = look(held)
    assert -7 not in numbers.flatten().tolist()
    with torch.no_grad():
        numbers.fill_(5)
    assert (x.grad == -7).all()


def test_a_hook_after_accumulation_sees_the_gradient_itself() -> None:
    """As in PyTorch: such a hook runs when the gradient is in its place."""
    x, kept = torch.ones(2, 3, requires_grad=True), []
    y = x * torch.full((2, 3), 2.0)
    y.grad_fn.next_functions[0][0].register_hook(lambda inputs, outputs: kept.append(outputs[0]))
    y.sum().backward()
    assert kept[0].data_ptr() == x.grad.data_ptr()


@pytest.mark.parametrize("size", [4, engine.PARTS + 1])
def test_a_sum_of_gradients_reaches_nothing_that_is_held(size: int, counted: bool) -> None:
    kept: list[Any] = []
    x = torch.ones(size, requires_grad=True)
    y = x * 3
    y.register_hook(lambda g: kept.append(g))
    total = (y * 2).sum() + (y * torch.full((size,), 5.0)).sum() + Handing.apply(y, lambda g: kept.append(g) or g).sum()
    total.backward()
    x.grad.zero_()
    assert [t.unique().tolist() for t in kept] == [[2.0], [9.0]]


def test_counts_by_every_holder() -> None:
    for name, (hold_it, _) in HOLDERS.items():
        tensor = torch.empty(2, 3)
        box = [tensor._array]
        held = hold_it(tensor)
        del tensor
        assert hold(box, 0) != ALONE, name
        del held
    box = [np.empty((2, 3))]
    assert hold(box, 0) == ALONE
    variable = box[0]
    assert hold(box, 0) == SHARED
    del variable
    whole = np.empty(6)
    box = [whole.reshape(2, 3)]
    assert hold(box, 0) == LENT
    del whole
    assert hold(box, 0) == ALONE
    assert [hold([value], 0) for value in (np.float32(1), "text")] == [LENT, SHARED]
    assert [hold([np.empty((2, 3)).T], 0), hold([np.empty(6)[:3]], 0)] == [LENT, LENT]


def test_a_measurement_that_is_not_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (ownership._nobody_counts, lambda object: 2, lambda object: ownership.sys.getrefcount(object) & ~1):
        monkeypatch.setattr(ownership, "getrefcount", count)
        assert ownership._measured() == (-1, -1)


def test_memory_that_is_held_is_not_resized(counted: bool) -> None:
    for name, (hold_it, look) in HOLDERS.items():
        tensor = torch.arange(6.0).reshape(2, 3)
        held = hold_it(tensor)
        array = tensor._array
        with pytest.raises(RuntimeError, match="not resizable"):
            tensor.resize_(4, 3)
        del array
        assert tensor.shape == (2, 3), name
        assert set(look(held).flatten().tolist()) <= set(range(6))


@pytest.mark.parametrize("name", [name for name in HOLDERS if name != "row"])
def test_a_plan_writes_over_nothing_that_is_held(name: str, counted: bool) -> None:
    """The program holds each result of a compiled function in one way or another."""
    hold_it, look = HOLDERS[name]
    weight = torch.arange(6.0).reshape(2, 3)
    compiled = torch.compile(lambda x: (x * weight + 1, x.exp()), backend="numpy")
    held = []
    for i in range(6):
        x = torch.full((2, 3), float(i))
        for result, expected in zip(compiled(x), (x * weight + 1, x.exp())):
            held.append((hold_it(result), expected))
        del result
    for kept, expected in held:
        torch.testing.assert_close(look(kept).flatten().sort().values, expected.flatten().sort().values)


def test_a_plan_writes_over_no_gradient_that_is_held(counted: bool) -> None:
    layer = torch.nn.Linear(3, 2)

    def step(x: Any) -> Any:
        layer.zero_grad()
        loss = layer(x).square().sum()
        loss.backward()
        return loss

    compiled, held = torch.compile(step, backend="numpy"), []
    for i in range(8):
        x = torch.full((1, 3), float(i))
        step(x)
        expected = layer.weight.grad.clone()
        compiled(x)
        held.append((layer.weight.grad if i % 3 else layer.weight.grad[:], expected))
        if i % 4 == 3:
            layer.weight.grad = None
    for found, expected in held:
        torch.testing.assert_close(found, expected)
