"""Results that a program holds, swaps, marks or watches: no later run writes over them. Writes are counted as usual."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs

BACKENDS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]
SIZE = 4000                                                # more than results have that are copied


@pytest.fixture(params=BACKENDS)
def compiled(request: pytest.FixtureRequest) -> Any:
    """A compiled function that was repeated."""
    function = torch.compile(lambda x: x * 2 + 1, backend=request.param)
    for _ in range(2):
        function(torch.zeros(SIZE))
    return function


@pytest.fixture(params=BACKENDS)
def step(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A compiled step that leaves a new gradient, and its parameter."""
    p = torch.ones(SIZE, requires_grad=True)

    def step(x: Any) -> None:
        p.grad = None
        (p * x).sum().backward()

    function = torch.compile(step, backend=request.param)
    for _ in range(3):
        function(torch.zeros(SIZE))
    return function, p


def test_a_result_that_was_swapped(compiled: Any) -> None:
    result, other = compiled(torch.arange(float(SIZE))), torch.zeros(3)
    torch.utils.swap_tensors(result, other)
    del result
    expected = other.tolist()
    for _ in range(3):
        compiled(torch.ones(SIZE))
    assert other.tolist() == expected == (torch.arange(float(SIZE)) * 2 + 1).tolist()


def test_a_gradient_that_was_swapped(step: tuple[Any, Any]) -> None:
    function, p = step
    function(torch.full((SIZE,), 5.0))
    other = torch.zeros(SIZE)
    torch.utils.swap_tensors(p.grad, other)
    for x in (1.0, 2.0, 3.0):
        function(torch.full((SIZE,), x))
        assert p.grad[7] == x
    assert set(other.tolist()) == {5.0}


def test_a_weak_reference_ends_with_the_result(compiled: Any) -> None:
    result = compiled(torch.zeros(SIZE))
    reference, ended = weakref.ref(result), list[int]()
    weakref.finalize(result, ended.append, 1)
    del result
    assert reference() is None
    assert ended == [1]


def test_a_weak_reference_to_a_gradient_shows_no_later_numbers(step: tuple[Any, Any]) -> None:
    function, p = step
    function(torch.full((SIZE,), 5.0))
    reference = weakref.ref(p.grad)
    function(torch.full((SIZE,), 6.0))
    assert reference() is None
    assert p.grad[0] == 6


def test_attributes_of_a_result_end_with_it(compiled: Any, step: tuple[Any, Any]) -> None:
    result = compiled(torch.zeros(SIZE))
    result.note = 1
    del result
    assert not hasattr(compiled(torch.zeros(SIZE)), "note")
    function, p = step
    function(torch.ones(SIZE))
    p.grad.note = 1
    function(torch.ones(SIZE))
    assert not hasattr(p.grad, "note")


def _in_place(x: Any) -> Any:
    x.clamp_(0, 1)
    x[1:].mul_(2)
    return x.detach(), x.data, x


def _made(x: Any) -> Any:
    y = x * 2
    y.add_(1)
    y[0] = 3
    apart = y.data
    apart.mul_(2)
    return y, y.view(-1), y.detach(), apart


def _both(x: Any, y: Any) -> Any:
    x.add_(y)
    y.mul_(2)
    x.sub_(1)
    return x


def _raises(x: Any, place: Any) -> Any:
    x.add_(1)
    x.mul_(2)
    found = x[place]
    x.add_(1)
    return found


def _one(size: int) -> tuple[Any, ...]:
    return (torch.arange(float(size)),)


def _of_numpy(size: int) -> tuple[Any, ...]:
    array = np.arange(size, dtype=np.float32)
    return torch.from_numpy(array), torch.from_numpy(array)


COUNTED: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = {
    "writes": (_in_place, _one),
    "results": (_made, _one),
    "two": (_both, lambda size: (torch.ones(size), torch.ones(size))),
    "one twice": (_both, lambda size: _one(size) * 2),
    "views": (_both, lambda size: (lambda x: (x[1:], x[:-1]))(torch.arange(float(size)))),
    "detached": (_both, lambda size: (lambda x: (x, x.detach()))(torch.arange(float(size)))),
    "data": (_both, lambda size: (lambda x: (x, x.data))(torch.arange(float(size)))),
    "part of the data": (_both, lambda size: (lambda x: (x[1:], x.data[1:]))(torch.arange(float(size)))),
    "one array of NumPy": (_both, _of_numpy),
    "an error": (_raises, lambda size: (torch.arange(float(size)), torch.tensor([size + 4]))),
    "no error": (_raises, lambda size: (torch.arange(float(size)), torch.tensor([2]))),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [6, SIZE])
@pytest.mark.parametrize("name", COUNTED)
def test_writes_are_counted_as_the_program_counts_them(name: str, size: int, backend: str) -> None:
    function, arguments = COUNTED[name]

    def outcomes(called: Any) -> list[Any]:
        found, kept = [], arguments(size)
        for args in (arguments(size), arguments(size), arguments(size), kept, kept, kept):
            try:
                result = called(*args)
            except (IndexError, RuntimeError):
                result = ()
            results = result if isinstance(result, tuple) else (result,)
            found.append([(tensor._version, tensor.numpy().tobytes()) for tensor in (*results, *args)])
        return found

    assert outcomes(torch.compile(function, backend=backend)) == outcomes(function)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [3, SIZE])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("views", [1, 2])
def test_arrays_of_numpy_beside_views(views: int, count: int, size: int, backend: str) -> None:
    def run(compiling: Callable[[Any], Any]) -> list[Any]:
        torch.manual_seed(0)
        layer, log, found = torch.nn.Linear(1, 1), list[Any](), list[Any]()

        def step(x: torch.Tensor) -> Any:
            for i in range(count):
                log.append((x * (i + 2)).detach().numpy())
            return [layer((x + i).view(-1, 1)).view(-1) for i in range(views)]

        called = compiling(step)
        for call in range(4):
            results = called(torch.arange(float(size)) + call)
            found += [(each.tolist(), each.requires_grad, each._is_view()) for each in results]
        return [*found, [each.tolist() for each in log]]

    right, found = run(lambda function: function), run(lambda function: torch.compile(function, backend=backend))
    assert all(
        np.allclose(one[0], other[0], atol=1e-6) and one[1:] == other[1:] for one, other in zip(found[:-1], right[:-1]))
    assert found[-1] == right[-1]
