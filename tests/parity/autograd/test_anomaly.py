"""Anomaly mode against PyTorch: the errors, the warnings that go before them, and what is left behind."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.anomalies import FINE, PROGRAMS, Program

LIBRARIES = [torch, retrograd]


def told(library: Any, program: Program, recorded: bool = True, check_nan: bool = True) -> list[str]:
    """The error; then of each warning what comes before the traceback in it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with library.autograd.detect_anomaly(check_nan=check_nan):
                program(library)
            found = "no error"
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
    assert not library.is_anomaly_enabled()
    texts = [str(warning.message).partition("(Triggered")[0].strip() for warning in caught]
    assert {warning.category for warning in caught} == {UserWarning}
    return [found, *[text.partition("\n")[0] for text in texts]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_error_and_the_warnings(name: str) -> None:
    program, message = PROGRAMS[name]
    theirs, ours = [told(library, program) for library in LIBRARIES]
    assert ours == theirs
    assert ours[0].partition(": ")[2].startswith(message)


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_a_look_at_nan(name: str) -> None:
    program, _ = PROGRAMS[name]
    theirs, ours = [told(library, program, check_nan=False) for library in LIBRARIES]
    assert ours == theirs


@pytest.mark.parametrize("program", FINE)
def test_what_is_no_anomaly(program: Program) -> None:
    theirs, ours = [told(library, program) for library in LIBRARIES]
    assert ours == theirs == ["no error", ours[1]]
    assert np.array_equal(program(retrograd).numpy(), program(torch).numpy(), equal_nan=True)


def without_the_forward_pass(library: Any) -> list[str]:
    x = library.tensor([0.], requires_grad=True)
    loss = (x.sqrt() * 0).sum()
    return told(library, lambda library: loss.backward())


def forward_pass_of_the_first_order_unknown(library: Any) -> list[str]:
    x = library.tensor([0.], requires_grad=True)
    y = x.sqrt().sum()

    def program(library: Any) -> None:
        g, = library.autograd.grad(y, x, create_graph=True)
        (g * 0).sum().backward()

    return told(library, program)


@pytest.mark.parametrize("run", [without_the_forward_pass, forward_pass_of_the_first_order_unknown])
def test_where_nothing_is_known_of_the_forward_pass(run: Any) -> None:
    assert run(retrograd) == run(torch)


def left_behind(library: Any) -> list[Any]:
    """Which leaves have a gradient when the error comes."""
    x, y = (library.tensor([0., 1.], requires_grad=True) for _ in range(2))
    try:
        with library.autograd.set_detect_anomaly(True):
            (y * 2 + (x.sqrt() * 0) * 2).sum().backward()
    except RuntimeError:
        return [leaf.grad is not None for leaf in (x, y)]
    return []


def test_what_the_pass_has_done_before_the_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert left_behind(retrograd) == left_behind(torch)


def switched(library: Any) -> list[Any]:
    """The two answers after each switch."""
    seen: list[Any] = []

    def look() -> None:
        seen.append((library.is_anomaly_enabled(), library.is_anomaly_check_nan_enabled()))

    look()
    with library.autograd.set_detect_anomaly(True, check_nan=False):
        look()
        with library.autograd.set_detect_anomaly(True):
            look()
            with library.autograd.set_detect_anomaly(False, False):
                look()
            look()
        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    look()
    library.autograd.set_detect_anomaly(True)
    look()
    library.autograd.set_detect_anomaly(False)
    look()
    made = library.autograd.set_detect_anomaly(True, False)
    look()
    with made:
        look()
    look()
    with pytest.raises(ValueError, match="inside"), library.autograd.set_detect_anomaly(True):
        raise ValueError("inside")
    look()
    for bad in [(1,), ("x",), (None,), (True, 1)]:
        with pytest.raises(TypeError) as caught:
            library.autograd.set_detect_anomaly(*bad)
        seen.append(str(caught.value))
        look()
    return seen


def test_switching() -> None:
    assert switched(retrograd) == switched(torch)


def noted(library: Any) -> list[Any]:
    """What nodes note of their origin."""
    with library.autograd.set_detect_anomaly(True):
        x = library.tensor([1., 2.], requires_grad=True)
        y = x.exp()
        g, = library.autograd.grad(y.sum(), x, create_graph=True)
    node, parent = g.grad_fn, g.grad_fn.metadata["parent_"]
    last = y.grad_fn.metadata["traceback_"][-1]
    return [sorted(map(str, node.metadata)), sorted(map(str, y.grad_fn.metadata)), parent is y.grad_fn,
            last.splitlines(), (x * 2).grad_fn.metadata]


def test_what_nodes_note() -> None:
    assert noted(retrograd) == noted(torch)
