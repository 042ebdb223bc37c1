"""Functions of tensors that lie anywhere, compiled to machine code and compared with eager calls."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np

import retrograd as torch

CLOSE = {torch.float32: 2e-4, torch.float64: 1e-10}


def laid_out(rng: random.Random, shape: tuple[int, ...], dtype: Any, near: bool = False) -> Any:
    """Random numbers in memory of some layout: dims in another order, with gaps, or one row for all. A few of the
    numbers may be nan or infinite. If they are to be `near`, those of the last dim lie side by side.
    """
    count = len(shape) - near
    order, steps = rng.sample(range(count), count), [rng.choice((1, 1, 2)) for _ in range(count)]
    order, steps = [*order, *range(count, len(shape))], [*steps, *[1] * near]
    whole = torch.randn([shape[dim] * steps[dim] for dim in order], dtype=dtype)
    if whole.numel() and rng.random() < 0.2:
        whole.view(-1)[0] = rng.choice((nan, inf, -inf, 1e30))
    found = whole.permute([order.index(dim) for dim in range(len(shape))])[
        tuple([slice(None, None, step) for step in steps])]
    return found[:1].expand(shape) if shape and shape[0] and rng.random() < 0.1 else found


def steps(x: Any) -> list[int]:
    """The strides of the dims of more than one place."""
    return [step for step, size in zip(x.stride(), x.shape) if size > 1]


def check(function: Callable[..., Any], tensors: list[Any], wanted: list[bool]) -> None:
    """Compare a compiled function with the function, and the gradients by the tensors that are wanted."""
    dtype = tensors[0].dtype
    for tensor, needs_gradient in zip(tensors, wanted, strict=True):
        tensor.requires_grad_(needs_gradient)

    def step(*given: Any) -> list[Any]:
        out = function(*given)
        leaves = [each for each in given if each.requires_grad]
        return [out, *(torch.autograd.grad((out * out.detach().cos()).sum(), leaves) if leaves else ())]

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        for place, (found, right) in enumerate(zip(compiled(*tensors), step(*tensors), strict=True)):
            assert (found.shape, found.dtype) == (right.shape, right.dtype)
            assert place or steps(found) == steps(right)
            a, b = found.detach().numpy(), right.detach().numpy()
            np.testing.assert_allclose(a, b, rtol=CLOSE[dtype], atol=CLOSE[dtype])
