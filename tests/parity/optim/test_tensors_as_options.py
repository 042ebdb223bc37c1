"""Weights of the past that are tensors, and numbers in the state after `load_state_dict`."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest
import torch

import retrograd

BETAS = ["(t.tensor(0.9), t.tensor(0.99))", "(t.tensor(0.9), 0.99)", "(0.9, t.tensor(0.99))",
         "(t.tensor([0.9]), t.tensor([0.99]))", "(0.9, t.tensor([0.99]))", "(t.tensor([[0.9]]), 0.99)"]


def parameters(t: Any, dtypes: list[str], gradients: bool = True) -> list[Any]:
    made = []
    for i, dtype in enumerate(dtypes):
        p = (t.arange(1.0, 4.0 + i) / 5).to(getattr(t, dtype)).requires_grad_()
        if gradients:
            p.grad = t.ones_like(p) / (2 + i)
        made.append(p)
    return made


def outcome(t: Any, name: str, dtypes: list[str], betas: str, gradients: bool = True, **options: Any) -> Any:
    ps = parameters(t, dtypes, gradients)
    try:
        optimizer = getattr(t.optim, name)(ps, betas=eval(betas, {"t": t}), foreach=True, **options)
        optimizer.step()
    except (TypeError, RuntimeError, ValueError, AssertionError) as error:
        return type(error), str(error)
    return [p.dtype is getattr(t, dtype) for p, dtype in zip(ps, dtypes)]


@pytest.mark.parametrize("dtypes", [["float32"], ["float32"] * 3, ["float64", "float32"]], ids=str)
@pytest.mark.parametrize("betas", BETAS)
@pytest.mark.parametrize("name", ["Adamax", "NAdam", "RAdam", "Adam", "AdamW"])
def test_tensors_as_betas_with_foreach(name: str, betas: str, dtypes: list[str]) -> None:
    for weight_decay, maximize in itertools.product((0, 0.1), (False, True)):
        found, expected = [outcome(t, name, dtypes, betas, weight_decay=weight_decay, maximize=maximize)
                           for t in (retrograd, torch)]
        assert found == expected, (weight_decay, maximize)


@pytest.mark.parametrize("name", ["Adamax", "NAdam", "RAdam"])
def test_without_work_and_with_other_modes(name: str) -> None:
    for options in ({"gradients": False}, {"capturable": True}, {"differentiable": True}):
        found, expected = [outcome(t, name, ["float32"], BETAS[0], **options) for t in (retrograd, torch)]
        assert found == expected, options


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("options", [{}, {"t0": 2.0}, {"weight_decay": 0.1}, {"maximize": True}, {"lambd": 0.5}],
                         ids=str)
def test_numbers_of_a_loaded_state(options: dict[str, Any], dtype: str, default: str) -> None:
    """The numbers of ASGD then have the dtype of the parameter, and are still rounded to the default dtype."""

    def seen(t: Any) -> Any:
        t.set_default_dtype(getattr(t, default))
        try:
            (p,) = parameters(t, [dtype])
            optimizer = t.optim.ASGD([p], **options)
            for _ in range(3):
                optimizer.step()
            other = t.optim.ASGD([p], lr=0.5)
            other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
            states = []
            for _ in range(3):
                other.step()
                state = other.state[p]
                states += [(str(state[name].dtype), state[name].item()) for name in ("step", "eta", "mu")]
            return states, p.double().tolist()
        finally:
            t.set_default_dtype(t.float32)

    (found, p), (expected, q) = seen(retrograd), seen(torch)
    assert found == expected
    assert p == pytest.approx(q, rel=1e-12 if dtype == "float64" else 2e-3 if dtype == "float16" else 1e-6)
