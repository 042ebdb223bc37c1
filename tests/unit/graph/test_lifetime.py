"""Graphs in several threads, graphs of any depth, and that they go as soon as nobody holds them."""

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def numbers(tensor: Any) -> list[float]:
    return tensor.tolist()


# Threads


def in_threads(count: int, work: Callable[[int], None]) -> None:
    errors: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.fixture
def quick_switching() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("quick_switching")
def test_no_update_of_a_shared_leaf_is_lost() -> None:
    x = torch.zeros(3, requires_grad=True)

    def work(number: int) -> None:
        for _ in range(50):
            (x * (number + 1)).sum().backward()

    in_threads(8, work)
    assert numbers(x.grad) == [50 * 36] * 3


@pytest.mark.usefixtures("quick_switching")
def test_each_thread_has_its_own_grad_mode() -> None:
    def work(number: int) -> None:
        assert torch.is_grad_enabled()
        with torch.set_grad_enabled(number % 2 == 0):
            for _ in range(50):
                assert (leaf(1) * 2).requires_grad == (number % 2 == 0)

    with torch.no_grad():
        in_threads(8, work)


# Depth and release


def chain(length: int) -> Any:
    y = x = leaf(1)
    for _ in range(length):
        y = y * 1.0
    return x, y


@pytest.mark.usefixtures("no_collector")                   # which would go over the nodes again and again
def test_a_chain_of_a_million_nodes() -> None:
    x, y = chain(1_000_000)
    y.backward()
    assert numbers(x.grad) == [1]
    del y


def test_a_long_chain_in_a_thread_with_a_small_stack() -> None:
    def work(number: int) -> None:
        x, y = chain(30_000)
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        assert g.item() == 1
        y.sum().backward()
        assert numbers(x.grad) == [1]
        del y, g

    # CPython 3.12 and 3.13 free nested objects as deep as their own limit of recursion in C, which takes over 512 KB.
    before = threading.stack_size((256 if sys.version_info < (3, 12) else 1024) * 1024)
    try:
        in_threads(1, work)
    finally:
        threading.stack_size(before)




@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x + x.exp(),
        lambda x: torch.stack(x.unbind()).sum(0),
        lambda x: x.view(2).clone().mul_(2),
        lambda x: _writing_into_a_view(x),
        lambda x: _Cube.apply(x),
        lambda x: torch.autograd.grad((x * x * x).sum(), x, create_graph=True)[0],
    ],
)
@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("backward", [False, True])
def test_a_graph_is_freed_by_reference_counts_alone(function: Callable[[Any], Any], backward: bool) -> None:
    x = leaf(1, 2)
    function(x).sum().backward()  # what is made once, is made
    x.grad = None
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        y = function(x)
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        if backward:
            y.sum().backward()
        del y
    x.grad = None
    assert len(gc.get_objects()) - before < 20


def _writing_into_a_view(x: Any) -> Any:
    y = x * 1
    y[0:1].mul_(x[1:2])
    return y


class _Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return 3 * g * y / x


@pytest.mark.usefixtures("no_collector")
def test_a_leaf_and_its_gradient_go_together() -> None:
    x = leaf(1, 2)
    (x * x).sum().backward()
    gone = weakref.ref(x), weakref.ref(x.grad)
    del x
    assert [reference() for reference in gone] == [None, None]


def test_what_no_rule_needs_is_not_kept_alive() -> None:
    x = leaf(1, 2)
    middle = x * 2
    gone = weakref.ref(middle.detach().numpy().base)
    y = middle + 1
    del middle
    assert gone() is None
    assert y.requires_grad
