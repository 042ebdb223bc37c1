"""Strides of views of views, taken at random, as PyTorch has them; sizes of 1 included, where NumPy differs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch

import retrograd


def _steps(draw: random.Random, shape: list[int]) -> list[str]:
    """The views that may be taken of a tensor of a shape."""
    n = len(shape)
    found = [f".unsqueeze({draw.randrange(-n - 1, n + 1)})", ".squeeze()", "[...]", "[None]", "[..., None]",
             ".view(-1)", ".reshape(-1)", ".flatten()", ".contiguous()", ".data", ".clone()"]
    if not n:
        return found
    d = draw.randrange(n)
    size = shape[d]
    low = draw.randrange(size + 1)
    high = draw.randrange(low, size + 1)
    found += [f".squeeze({d})", f".transpose({d}, {draw.randrange(-n, n)})", f".movedim({d}, {draw.randrange(n)})",
              f".permute({draw.sample(range(n), n)})", f".narrow({d}, {low}, {high - low})", f".chunk(2, {d})[-1]",
              f".unfold({d}, {draw.randrange(size + 1)}, {draw.choice([1, 2])})",
              f".split({max(1, size // 2)}, {d})[0]", f".expand({[3 if m == 1 else -1 for m in shape]})",
              f".expand({[draw.choice([1, 2]), *shape]})"]
    if size:
        found += [f".select({d}, {draw.randrange(size)})", f".unbind({d})[0]",
                  f"[{':, ' * d}::{draw.choice([1, 2, 3])}]"]
    if n > 1:
        found += [f".diagonal({draw.choice([0, 1, -1])}, {d}, {(d + 1) % n})", f".reshape({[1, *shape, 1]})", ".mT"]
    return found


def _layout(x: Any) -> Any:
    return tuple(x.shape), x.stride(), x.is_contiguous(), x.storage_offset() if x.numel() else 0, x._base is None


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_strides_of_views_of_views(first: int) -> None:
    for seed in range(first, first + 250):
        draw = random.Random(seed)
        shape = [draw.choice([1, 1, 2, 3, 4, 2, 3]) for _ in range(draw.randrange(4))]
        count = int(np.prod(shape))
        theirs, ours = (m.arange(float(count)).reshape(shape) for m in (torch, retrograd))
        chain = ""
        for _ in range(draw.randrange(1, 5)):
            step = draw.choice(_steps(draw, [*theirs.shape]))
            chain += step
            try:
                expected = eval("x" + step, {"x": theirs})
            except RuntimeError:
                with pytest.raises(RuntimeError):
                    eval("x" + step, {"x": ours})
                break
            theirs, ours = expected, eval("x" + step, {"x": ours})
            if not theirs.numel():
                break
            assert _layout(ours) == _layout(theirs), (seed, shape, chain)
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
