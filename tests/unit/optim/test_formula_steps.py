"""The ways to compute a step by a formula: with arrays, with tensors, and on the seam. They agree bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np
import pytest

import retrograd as torch
from retrograd.foundations.modes import standing
from retrograd.optim import Optimizer, elementwise

CASES: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "dampening": 0.3, "maximize": True}), ("SGD", {"weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {}), ("Adam", {"betas": (0.3, 0.8), "weight_decay": 0.1, "amsgrad": True, "maximize": True}),
    ("AdamW", {"amsgrad": True}),
    ("Adadelta", {}), ("Adadelta", {"rho": 0.5, "weight_decay": 0.1, "maximize": True}),
    ("Adagrad", {}), ("Adagrad", {"lr_decay": 0.1, "weight_decay": 1, "initial_accumulator_value": 0.3}),
    ("Adamax", {}), ("Adamax", {"betas": (0.3, 0.7), "weight_decay": 0.1, "maximize": True}),
    ("ASGD", {}), ("ASGD", {"t0": 1, "lambd": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {"weight_decay": 0.1}), ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"betas": (0.5, 0.6), "maximize": True}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RMSprop", {}), ("RMSprop", {"momentum": 0.9, "centered": True, "weight_decay": 0.1, "maximize": True}),
    ("Adafactor", {}), ("Adafactor", {"weight_decay": 0.1, "d": 2.0, "maximize": True, "eps": (1e-3, 1e-2)}),
    ("Rprop", {}), ("Rprop", {"etas": (0.3, 1.7), "step_sizes": (0.001, 0.06), "maximize": True})]


def passed_on(op: Any, call: Callable[..., Any], arguments: tuple[Any, ...], write: bool) -> Any:
    """A transform that changes nothing."""
    return call(*arguments)


class Unchanged(torch.overrides.TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


WAYS: list[Callable[[], AbstractContextManager[Any]]] = [nullcontext, Unchanged, lambda: standing(passed_on)]


def course(name: str, options: dict[str, Any], way: Callable[[], Any], start: Any, gradients: list[Any]) -> list[Any]:
    """A parameter and its state after a few steps: the numbers, and how often they were written."""
    p = torch.nn.Parameter(start.clone(memory_format=torch.preserve_format))
    optimizer = getattr(torch.optim, name)([p], lr=0.05, **options)
    for g in gradients:
        p.grad = g
        with way():
            optimizer.step()
    return [p, *optimizer.state[p].values()]


def agree(name: str, options: dict[str, Any], start: Any, gradients: list[Any]) -> None:
    plain, *others = (course(name, options, way, start, gradients) for way in WAYS)
    for found in others:
        for one, other in zip(plain, found, strict=True):
            np.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy(), strict=True)
            assert (one.stride(), one._version) == (other.stride(), other._version)


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The calls that computed with arrays."""
    calls, compute = [], elementwise.ElementsOptimizer._compute_rows

    def counted(self: Any, rows: Any, *args: Any) -> None:
        calls.extend(rows)
        compute(self, rows, *args)

    monkeypatch.setattr(elementwise.ElementsOptimizer, "_compute_rows", counted)
    return calls


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.sampled(3)
def test_both_ways_agree(name: str, options: dict[str, Any], dtype: str, writes: list[Any]) -> None:
    torch.manual_seed(0)
    shapes: list[tuple[int, ...]] = [(7, 5), (), (2, 3, 4) if name == "Adafactor" else (0, 3)]
    if name == "Adafactor" and dtype == "complex64":
        shapes = []                                          # refused
    for shape in shapes:
        agree(name, options, *_drawn(shape, getattr(torch, dtype)))
    # All ways but one computed with arrays. The formula of Rprop computes with tensors on the seam.
    assert len(writes) == len(shapes) * 4 * (1 if name == "Rprop" else 2)


def _drawn(shape: tuple[int, ...], dtype: torch.dtype, turned: bool = False) -> tuple[Any, list[Any]]:
    wide = torch.complex64 if dtype.is_complex else torch.float32
    values = [torch.randn(shape, dtype=wide).to(dtype) for _ in range(5)]
    start, *gradients = [x.t().contiguous().t() for x in values] if turned else values
    return start, gradients


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.sampled(2)
def test_both_ways_agree_in_blocks_and_in_columns(name: str, options: dict[str, Any], writes: list[Any]) -> None:
    torch.manual_seed(0)
    agree(name, options, *_drawn((140_001,), torch.float32))
    agree(name, options, *_drawn((6, 5), torch.float32, turned=True))
    assert len(writes) == 2 * 4 * (1 if name == "Rprop" else 2)


def made(name: str, **options: Any) -> tuple[Any, Optimizer]:
    p = torch.nn.Parameter(torch.ones(3))
    p.grad = torch.full((3,), 0.5)
    return p, getattr(torch.optim, name)([p], lr=0.1, **options)


def test_a_step_with_arrays_is_a_write_that_saved_values_notice() -> None:
    p, optimizer = made("RMSprop")
    optimizer.step()
    average = optimizer.state[p]["square_avg"]
    loss, other = (p * p).sum(), (average * torch.ones(3, requires_grad=True)).sum()
    optimizer.step()
    for value in (loss, other):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            value.backward()


def test_modes_see_the_functions_of_a_step(writes: list[Any]) -> None:
    class Seen(torch.overrides.TorchFunctionMode):
        names: ClassVar[list[str]] = []

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    _, optimizer = made("Adagrad")
    with Seen():
        optimizer.step()
    assert {"addcmul_", "addcdiv_"} <= {*Seen.names}
    assert not writes


def test_a_state_of_another_dtype_or_shape_is_left_to_tensors(writes: list[Any]) -> None:
    p, optimizer = made("Adadelta")
    optimizer.step()
    state = optimizer.state[p]
    state["acc_delta"] = state["acc_delta"].double()
    optimizer.step()
    state["acc_delta"] = torch.zeros(1)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        optimizer.step()
    assert len(writes) == 1


def test_a_parameter_that_overlaps_itself_is_refused() -> None:
    p = torch.nn.Parameter(torch.ones(1).expand(3))
    p.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        torch.optim.RMSprop([p]).step()


def test_steps_may_be_counted_by_a_python_number() -> None:
    p, optimizer = made("RMSprop")
    optimizer.step()
    optimizer.state[p]["step"] = 1
    optimizer.step()
    assert optimizer.state[p]["step"] == 2
