"""What stands on the seam is told of every call and write: a training step written down there is replayed exactly."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd.profiler import profile
from retrograd.foundations.modes import local, standing
from retrograd.tensors.state.base import plain
from seam.batched import Batched, batching
from seam.tape import Tape

Array = np.ndarray[Any, Any]


# A training step: nothing of it goes beside the seam


def on_tape(tape: Tape, tensors: Iterable[Any]) -> None:
    """Put values of the tape behind tensors. In a replay they are the same memory, so they go on from step to step."""
    for tensor in tensors:
        tensor._array = tape.value(tensor._array)


def arrays(tensors: Iterable[Any]) -> list[Array]:
    return [t._array if isinstance(t._array, np.ndarray) else t._array.like for t in tensors]


def replays_as_it_runs(setup: Callable[[], tuple[list[Any], Callable[[Any, Any], Any], Callable[[], list[Any]]]],
                       data: list[tuple[Array, Array]]) -> None:
    """Record the second step of one run and replay it on the data after that; run the same steps without a tape."""
    runs = [setup(), setup()]
    for _, step, _ in runs:
        step(*map(torch.tensor, data[0]))
    (parameters, step, state), (others, other_step, other_state) = runs
    tape = Tape()
    on_tape(tape, [*parameters, *state()])
    x, y = (plain(tape.value(array.copy())) for array in data[1])
    with standing(tape.record):
        loss = step(x, y)
    losses = [loss._array.like]
    for x_data, y_data in data[2:]:
        losses += tape.replay({x._array.number: x_data, y._array.number: y_data}, [loss._array])
    expected = [other_step(*map(torch.tensor, pair)).detach().numpy() for pair in data[1:]]
    for found, one in zip([*arrays([*parameters, *state()]), *losses], [*arrays([*others, *other_state()]), *expected],
                          strict=True):
        np.testing.assert_array_equal(found, one, strict=True)      # bit for bit


def cubic() -> tuple[list[Any], Callable[[Any, Any], Any], Callable[[], list[Any]]]:
    """A cubic fit whose update is written by hand."""
    torch.manual_seed(0)
    parameters = [torch.randn((), requires_grad=True) for _ in range(4)]

    def step(x: Any, y: Any) -> Any:
        a, b, c, d = parameters
        loss = (a + b * x + c * x ** 2 + d * x ** 3 - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in parameters:
                p -= 1e-4 * p.grad
                p.grad = None
        return loss

    return parameters, step, list


def trained(make: Callable[[Any], Any], clip: bool = False,
            set_to_none: bool = True) -> tuple[list[Any], Callable[[Any, Any], Any], Callable[[], list[Any]]]:
    """Two linear layers with an activation between them, and an optimizer."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    parameters = [*model.parameters()]
    optimizer = make(parameters)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad(set_to_none=set_to_none)
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(parameters, 0.1)
            torch.nn.utils.clip_grad_value_(parameters, 0.01)
        optimizer.step()
        return loss

    def state() -> list[Any]:
        held = [value for p in parameters for value in optimizer.state[p].values() if isinstance(value, torch.Tensor)]
        return [*held, *([] if set_to_none else [p.grad for p in parameters])]

    return parameters, step, state


def drawn(count: int, *shapes: tuple[int, ...]) -> list[tuple[Array, Array]]:
    draws = np.random.default_rng(0)
    return [tuple(draws.standard_normal(shape).astype(np.float32) for shape in shapes) for _ in range(count)]  # type: ignore[misc]


def test_a_cubic_fit_is_replayed_bit_for_bit() -> None:
    replays_as_it_runs(cubic, drawn(6, (50,), (50,)))


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD(p, lr=0.1),
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, maximize=True),
    lambda p: torch.optim.Adam(p, lr=0.01),
    lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1),
    lambda p: torch.optim.AdamW(p, lr=0.01),
])
def test_layers_and_an_optimizer_are_replayed_bit_for_bit(make: Callable[[Any], Any]) -> None:
    replays_as_it_runs(lambda: trained(make), drawn(6, (5, 3), (5, 1)))


def test_clipping_and_gradients_kept_as_zeros_are_replayed_bit_for_bit() -> None:
    replays_as_it_runs(lambda: trained(lambda p: torch.optim.SGD(p, lr=0.1), clip=True, set_to_none=False),
                       drawn(6, (5, 3), (5, 1)))


# What stands on the seam is told of


class Listening:
    """Stands on the seam, and has the calls made as they are; `calls` says of which ops they were, and of writes."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        self.calls.append(f"{op.name} written" if write else op.name)
        return call(*args)


def heard(function: Callable[[], Any]) -> list[str]:
    listening = Listening()
    with standing(listening):
        function()
    return listening.calls


def of(values: list[float]) -> Any:
    return torch.tensor(values)


@pytest.mark.parametrize(("write", "expected"), [
    (lambda x, y: x.add_(y), ["add written"]),
    (lambda x, y: x.add_(y, alpha=2), ["add written"]),
    (lambda x, y: x.mul_(torch.tensor(2.0, dtype=torch.float64)), ["fresh", "to", "mul written"]),
    (lambda x, y: x.fill_(3), ["fill written"]),
    (lambda x, y: x.zero_(), ["zero written"]),
    (lambda x, y: x.copy_(y), ["copy written"]),
    (lambda x, y: x.__setitem__(0, y[1]), ["select", "select", "copy written"]),
    (lambda x, y: torch.exp(y, out=x), ["exp", "copy written"]),
    (lambda x, y: x.clamp_(0, 1), ["clamp written"]),
    (lambda x, y: x.unsqueeze_(0), ["unsqueeze_"]),
    (lambda x, y: torch.nn.functional.linear(x[None], y[None], y[:1]),
     ["unsqueeze", "unsqueeze", "slice", "t", "addmm"]),
])
def test_writes_are_told_with_their_op(write: Callable[[Any, Any], Any], expected: list[str]) -> None:
    x, y = of([1.0, 2.0]), of([3.0, 4.0])
    assert heard(lambda: write(x, y)) == expected


def test_every_part_of_a_backward_pass_is_told() -> None:
    x, y = of([1.0, 2.0]).requires_grad_(), of([[1.0, 2.0], [3.0, 4.0]])
    loss = (x * y + x).sum()
    first = ["new_full", "expand", "sum", "view", "mul", "sum", "view", "add", "copy_"]
    assert heard(loss.backward) == first
    loss = (x * y + x).sum()
    assert heard(loss.backward) == [*first[:-1], "add written"]


def test_a_transform_is_of_one_thread() -> None:
    elsewhere = threading.Thread(target=lambda: torch.ones(2).exp())
    assert heard(lambda: (elsewhere.start(), elsewhere.join(), of([1.0]).sin())) == ["fresh", "sin"]
    assert local.thread.transform is None


def test_a_profile_is_told_through_what_stood_on_the_seam_before() -> None:
    listening, x = Listening(), of([1.0])
    with standing(listening), profile() as seen:
        x.exp()
    assert listening.calls == ["exp"]
    assert [event.name for event in seen.function_events] == ["aten::exp"]
    assert local.thread.transform is None


def test_errors_are_pytorchs_on_the_seam_too() -> None:
    x, y = (plain(Batched(np.ones((2, n)))) for n in (2, 3))
    with standing(batching):
        with pytest.raises(RuntimeError, match="The size of tensor a \\(2\\) must match the size of tensor b \\(3\\)"):
            x + y
        with pytest.raises(RuntimeError, match="The size of tensor a \\(2\\) must match the size of tensor b \\(3\\)"):
            x.add_(y)
        with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
            x.add_(torch.ones(4, 2, dtype=torch.float64))
        with pytest.raises(TypeError, match="a Batched was taken for a NumPy array"):
            np.asarray(x._array)
    assert x._array.array.tolist() == [[1.0, 1.0]] * 2


def test_floating_point_is_quiet_beyond_the_seam() -> None:
    x = plain(Batched(np.array([[0.0], [1.0]])))
    with standing(batching):
        found = x.log().div_(x)
    assert found._array.array.tolist() == [[-math.inf], [0.0]]
