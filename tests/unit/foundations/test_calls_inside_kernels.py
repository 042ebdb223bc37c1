"""Code that Python runs at any line, handlers of signals and finalizers, may call the package inside of its kernels."""

from __future__ import annotations

import io
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import on_unix
from retrograd.foundations.modes import local


def numbers() -> Any:
    return torch.arange(20.0).reshape(4, 5)


def weight() -> Any:
    found = torch.ones(4, 5, requires_grad=True)
    found.grad = numbers()
    return found


def stepped(kind: Any) -> Any:
    parameter = weight()
    kind([parameter], lr=0.1).step()
    return parameter.detach()


def gradient() -> Any:
    leaf = torch.ones(3, requires_grad=True)
    (leaf * leaf).sum().backward()
    return leaf.grad


def saved() -> Any:
    file = io.BytesIO()
    torch.save({"x": numbers().t()}, file)
    file.seek(0)
    return torch.load(file)["x"]


FIRST_CALLS: dict[str, Callable[[], Any]] = {
    "a function": lambda: torch.sin(numbers()), "an operand": lambda: numbers() + numbers(),
    "a number": lambda: numbers() * 7.25, "options": lambda: torch.softmax(numbers(), 1),
    "several results": lambda: numbers().max(0).values, "a join": lambda: torch.cat([numbers(), numbers()]),
    "a product": lambda: numbers() @ numbers().t(), "a conversion": lambda: numbers().to(torch.float64),
    "a write": lambda: numbers().mul_(2.0), "a write of a number": lambda: numbers().add_(7.75),
    "a fill": lambda: numbers().fill_(3), "a mask": lambda: numbers()[numbers() > 5.125],
    "a written item": lambda: numbers().index_fill_(0, torch.tensor([1]), 2.5),
    "creation": lambda: torch.full((2,), 1.5), "data": lambda: torch.tensor([[1.0, 2.5]], dtype=torch.float16),
    "draws": lambda: torch.rand(3, generator=torch.Generator().manual_seed(0)),
    "an index of numbers": lambda: numbers()[[1.0 > 0, False, True, True]],
    "an item": lambda: torch.tensor(numbers().sum().item()), "a gradient": gradient, "saving": saved,
    "a step": lambda: stepped(torch.optim.SGD), "another step": lambda: stepped(torch.optim.Adam),
    "a norm": lambda: torch.nn.utils.clip_grad_norm_([weight()], 1.0),
    "vmap": lambda: torch.vmap(lambda row: row * 2)(numbers()),
    "a derivative": lambda: torch.func.grad(lambda x: (x * x).sum())(numbers()),
    "half precision": lambda: numbers().half() + 1, "complex numbers": lambda: torch.fft.fft(numbers()).real}


@pytest.mark.parametrize("name", FIRST_CALLS)
def test_calls_inside_of_a_kernel(name: str) -> None:
    want, call = FIRST_CALLS[name](), FIRST_CALLS[name]
    inside = local.thread.run(lambda: (call(), local.thread.quietly(call)))
    for found in (*inside, call()):
        np.testing.assert_array_equal(found.numpy(), want.numpy())


def test_errors_inside_of_a_kernel_are_those_outside() -> None:
    def wrong() -> Any:
        return torch.ones(2) + torch.ones(3)

    for call in (wrong, lambda: local.thread.run(wrong)):
        with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
            call()


def test_numpy_warns_of_nothing_inside_of_a_kernel(recwarn: pytest.WarningsRecorder) -> None:
    local.thread.run(lambda: torch.log(torch.zeros(3)) * (torch.zeros(3) / 0))
    assert not [*recwarn]


@on_unix
def test_a_handler_of_a_signal_calls_kernels() -> None:
    errors, count = list[Exception](), 0

    def handler(*args: Any) -> None:
        nonlocal count
        try:
            torch.softmax(torch.ones(3, 4) + 1, 1)
            count += 1
        except Exception as error:
            errors.append(error)

    before, x = signal.signal(signal.SIGALRM, handler), torch.randn(30, 20)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        end = time.monotonic() + 20
        while count < 100 and not errors and time.monotonic() < end:
            torch.softmax(x, 1)
            torch.nn.functional.layer_norm(x, (20,))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert errors == []
    assert count >= 100
