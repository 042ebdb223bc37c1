"""Sums, norms, softmax and scans of very many numbers lose no more digits than PyTorch's, in values and gradients.

The error is the largest difference from PyTorch's result in double precision, in units of the last place of the largest
result. It may be twice PyTorch's error, or four units if this is more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, x.shape),
    "layer_norm with a weight": lambda t, x: t.nn.functional.layer_norm(x, x.shape, x.detach() + 1, x.detach().sin()),
    "group_norm": lambda t, x: t.nn.functional.group_norm(x.view(1, 4, -1), 2),
    "instance_norm": lambda t, x: t.nn.functional.instance_norm(x.view(1, 2, -1)),
    "batch_norm of two channels": lambda t, x: t.nn.functional.batch_norm(x.view(-1, 2), None, None, training=True),
    "batch_norm of images": lambda t, x: t.nn.functional.batch_norm(x.view(2, 2, -1, 100), None, None, training=True),
    "rms_norm": lambda t, x: t.nn.functional.rms_norm(x, x.shape),
    "logcumsumexp": lambda t, x: t.logcumsumexp(x, 0), "logsumexp": lambda t, x: x.logsumexp(0),
    "cumsum": lambda t, x: x.cumsum(0), "cumsum of columns": lambda t, x: x.view(-1, 10).cumsum(0),
    "cumprod": lambda t, x: (1 + x / x.numel()).cumprod(0),
    "softmax": lambda t, x: x.softmax(0), "log_softmax": lambda t, x: x.log_softmax(0),
    "softmax of columns": lambda t, x: x.view(-1, 10).softmax(0),
    "sum": lambda t, x: x.sum(), "sum of columns": lambda t, x: x.view(-1, 10).sum(0), "mean": lambda t, x: x.mean(),
    "var": lambda t, x: x.var(), "std of columns": lambda t, x: x.view(-1, 10).std(0), "norm": lambda t, x: x.norm(),
    "norm of columns": lambda t, x: x.view(-1, 10).norm(dim=0), "dot": lambda t, x: x.dot(x.detach().sin()),
    "nanmean": lambda t, x: x.nanmean(), "prod": lambda t, x: (1 + x / x.numel()).prod(),
    "mse_loss": lambda t, x: t.nn.functional.mse_loss(x, x.detach().sin()),
    "cosine_similarity": lambda t, x: t.nn.functional.cosine_similarity(x, x.detach().sin() + 1, dim=0),
    "normalize": lambda t, x: t.nn.functional.normalize(x, dim=0),
    "cross_entropy": lambda t, x: t.nn.functional.cross_entropy(x.view(-1, 10), x.detach().view(-1, 10).argmin(1)),
    "matrix and vector": lambda t, x: x.view(10, -1).mv(x.detach().view(10, -1)[0].sin()),
}

# NumPy's exp in single precision is wrong by up to 2.5 units, PyTorch's by 1. The gradient is this exp of a rounded
# result.
UNITS = {"cross_entropy": 6}


def results(t: Any, dtype: str, name: str, x: Any, g: Any) -> list[Any]:
    """The value and the gradient of a function."""
    given = t.from_numpy(x).to(getattr(t, dtype)).requires_grad_()
    value = FUNCTIONS[name](t, given)
    value.backward(t.from_numpy(g[:value.numel()].copy()).to(value.dtype).view(value.shape))
    return [value.detach().double().numpy(), given.grad.double().numpy()]


def error(found: Any, exact: Any) -> float:
    """The largest error, in units of the last place of the largest result."""
    unit = np.spacing(np.float32(np.abs(exact).max()))
    return float(np.abs(found - exact).max() / unit)


@pytest.mark.parametrize("count", [100_000, 1_000_000, 4_000_000])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_more_digits_are_lost_than_in_pytorch(name: str, count: int) -> None:
    generator = np.random.default_rng(count)
    x, g = (generator.standard_normal(count, np.float32) for _ in range(2))
    x += np.float32(0.5)
    exact, theirs, ours = (results(t, dtype, name, x, g) for t, dtype in (
        (torch, "float64"), (torch, "float32"), (retrograd, "float32")))
    for what, right, their, our in zip(("value", "gradient"), exact, theirs, ours, strict=True):
        assert error(our, right) <= max(2 * error(their, right), UNITS.get(name, 4)), what
