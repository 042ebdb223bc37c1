"""Numbers and memory that usual arguments do not show: types that meet, views where a copy is due, rare ranges."""

from __future__ import annotations

import pytest
import torch

import retrograd
from programs.running import transcript

HEAD = "T, F, h = torch.tensor, torch.nn.functional, torch.float16\n"
PROGRAMS = {
    "equality in the common type": """
print(T([0.1]) == T(0.1, dtype=torch.float64), T([0.1], dtype=h) == T(0.1), T([0.3], dtype=torch.bfloat16) != 0.3)
print(T([16777217], dtype=torch.int32) == 16777216.0, T([16777217]) != T([16777216.]), 16777216. in T([16777217]))
print(torch.equal(T([16777217]), T([16777216.])), T([16777217]).eq_(16777216.))
print(torch.eq(T([16777217]), 16777216., out=torch.empty(1)), T([2**53 + 1]) == float(2**53))
print(T([255], dtype=torch.uint8) == -1, T([1], dtype=torch.int8) == 257, T([True]) == 1, T([1 + 1j]) == 1)
""",
    "memory of its own": """
for call, *shape in ((lambda x: F.pixel_shuffle(x, 2), 1, 4, 1, 1), (lambda x: F.pixel_shuffle(x, 1), 1, 3, 3, 3),
                     (lambda x: F.pixel_unshuffle(x, 2), 1, 1, 2, 2), (lambda x: F.channel_shuffle(x, 4), 1, 4, 2, 2),
                     (lambda x: F.pixel_unshuffle(x, 1), 1, 3, 2, 2), (lambda x: F.channel_shuffle(x, 1), 1, 4, 2, 2),
                     (lambda x: F.unfold(x, 1), 1, 1, 2, 2)):
    x = torch.ones(shape)
    y = call(x)
    y.add_(1)
    print(x.sum(), y.sum(), y.stride(), y.is_contiguous())
""",
    "ranges of integers": """
for arguments in ((0, 1, 0.25), (5, 0, -0.5), (0, 10, 3), (10, 0, -3)):
    print(torch.arange(*arguments, dtype=torch.int32))
    attempt(lambda: torch.arange(*arguments, dtype=torch.int64))
print(torch.repeat_interleave(T([1, 2], dtype=torch.int32)))
""",
    "means of many halves": """
for mean in (lambda x: x.mean(), lambda x: x.view(1, -1).mean(1).sum(), lambda x: F.mse_loss(x, torch.ones_like(x)),
             lambda x: F.l1_loss(x, torch.ones_like(x))):
    x = torch.zeros(100000, dtype=h, requires_grad=True)
    mean(x).backward()
    print(x.grad[0], x.grad.dtype)
""",
    "alpha of another kind": """
for call in (lambda: torch.add(T([1]), T([2]), alpha=1.0), lambda: torch.sub(T([1.]), T([2.]), alpha=1 + 0j),
             lambda: T([1]).add_(1, alpha=1.0), lambda: torch.add(T([1.]), T([1]), alpha=1.0)):
    attempt(call)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert transcript(retrograd, HEAD + PROGRAMS[name]) == transcript(torch, HEAD + PROGRAMS[name])
