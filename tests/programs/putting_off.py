"""Traced runs in which all calls are put off that can be, also those on small arrays, for tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.trace import deferred


def put_off_everything(change: Callable[[Any, str, Any], None], planned: bool) -> Counter[str]:
    """Put off calls on arrays of all sizes, for a plan or for calls one by one. `change` sets an attribute.

    The memory that waits for its numbers holds others meanwhile, so that whoever sees it too early differs. The result
    counts the calls that were put off, by the name of the operator.
    """
    counts, promised = Counter[str](), deferred._promised

    def spoiled(op: Any, args: Sequence[Any]) -> Any:
        result = promised(op, args)
        if result is not None:
            counts[op.name] += 1
            result.fill(True if result.dtype == bool else np.nan)
        return result

    change(deferred, "_promised", spoiled)
    change(deferred, "LARGE", 0)
    change(deferred, "PLANNED", 0 if planned else 1 << 60)
    return counts


@pytest.fixture(params=["planned", "one by one"])
def counts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """The calls that were put off. All that can be are, and each test has some."""
    found = put_off_everything(monkeypatch.setattr, request.param == "planned")
    yield found
    assert found


def numbers(value: Any) -> Any:
    """What one sees of a result."""
    if isinstance(value, torch.Tensor):
        array = (value.float() if value.dtype == torch.bfloat16 else value).detach().numpy()
        return value.dtype, array.shape, array.strides, array.tobytes(), value.requires_grad, value._version
    return [numbers(part) for part in value] if isinstance(value, (list, tuple)) else value


def x(*shape: int, dtype: Any = torch.float32, grad: bool = False) -> Any:
    """A tensor of random numbers, the same in each call."""
    torch.manual_seed(0)
    return torch.randn(*shape or (4, 3), dtype=dtype).requires_grad_(grad)


def step(a: Any) -> Any:
    """A forward and a backward pass."""
    loss = (a.sin() * a + a.exp()).sum()
    loss.backward()
    return loss.detach()
