"""Inference tensors that a graph would save raise their error in compiled functions, and tensors can be resized there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        result = function(*args)
    except RuntimeError as error:
        return str(error)
    return result.tolist(), result.requires_grad


SAVING: list[Callable[[Any, Any], Any]] = [
    lambda x, w: (x * w).sum(), lambda x, w: w @ x, lambda x, w: (w + x).exp(), lambda x, w: w.double() * x,
    lambda x, w: torch.where(x > 0, w, x), lambda x, w: w + x, lambda x, w: w * x.clone(),
    lambda x, w: torch.stack([w, x]).prod(), lambda x, w: w.detach() * x]


@pytest.mark.filterwarnings("ignore:torch.compile")
@pytest.mark.parametrize("function", SAVING)
@pytest.mark.parametrize("order", [(0, 1, 0, 1, 1), (1, 1, 0, 0, 1), (1, 0, 1, 0, 0)])
def test_inference_tensors(function: Callable[..., Any], order: tuple[int, ...]) -> None:
    with torch.inference_mode():
        inference = torch.arange(1.0, 3.0)
    given = torch.arange(1.0, 3.0), inference
    weight = torch.ones(2, requires_grad=True)
    compiled = torch.compile(function, backend="numpy")
    for place in order:
        for grad in (True, False):
            with torch.set_grad_enabled(grad):
                assert outcome(compiled, given[place], weight) == outcome(function, given[place], weight)


RESIZING: list[Callable[[Any], Any]] = [
    lambda x: x.resize_(3).fill_(2), lambda x: x.resize_(1) * 1, lambda x: x.clone().resize_(5).zero_(),
    lambda x: x.resize_as_(torch.ones(2, 2)).fill_(1) + 1, lambda x: torch.add(torch.ones(4), 1, out=x.resize_(0))]


@pytest.mark.filterwarnings("ignore:torch.compile")
@pytest.mark.parametrize("function", RESIZING)
def test_resizing(function: Callable[[Any], Any]) -> None:
    compiled = torch.compile(function, backend="numpy")
    for _ in range(3):
        x, y = torch.ones(2), torch.ones(2)
        assert outcome(compiled, x) == outcome(function, y)
        assert x.shape == y.shape
