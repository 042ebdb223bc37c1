"""Attention and layer norms whose lines are machine code give the numbers of eager calls, with all their gradients.

The programs are drawn at random: layouts with gaps, dims of one place, empty batches, rows that a mask excludes, nan
and infinity, gradients for some tensors only.
"""

from __future__ import annotations

import random
from math import inf
from typing import Any

import pytest

import retrograd as torch
import retrograd.nn.functional as F
from compiled.comparing import check, laid_out
from needing import needs

pytestmark = needs("llvmlite")
def mask_for(rng: random.Random, kind: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """A mask of a kind, with dims that are broadcast."""
    own = [size if rng.random() < 0.6 else 1 for size in shape[:2]] + [*shape[2:]]
    bools = torch.rand(own) < 0.6
    if kind == "bools":
        return bools
    mask = torch.where(bools, torch.randn(own), -inf)
    if kind == "rows":                                      # a row that is excluded completely
        mask[..., rng.randrange(shape[2]), :] = -inf
    return mask.to(dtype)


@pytest.mark.sampled(22)
@pytest.mark.parametrize("kind", ["none", "causal", "bools", "floats", "rows"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("seed", range(12))
def test_attention(seed: int, dtype: Any, kind: str) -> None:
    rng = random.Random(f"{seed}{kind}")
    torch.manual_seed(seed)
    batch, heads, queries, keys, size, values = [rng.choice((1, 2, 3, 5, 8, 17)) for _ in range(6)]
    own = rng.choice([n for n in range(1, heads + 1) if heads % n == 0]) if rng.random() < 0.3 else heads
    batch, scale = 0 if rng.random() < 0.1 else batch, rng.choice((None, 0.3))
    mask = None if kind in ("none", "causal") else mask_for(rng, kind, (batch, heads, queries, keys), dtype)
    values = size if rng.random() < 0.9 else values         # else PyTorch takes the attention apart
    tensors = [laid_out(rng, (batch, count, *shape), dtype, rng.random() < 0.95) for count, shape in (
        (heads, (queries, size)), (own, (keys, size)), (own, (keys, values)))]
    check(lambda q, k, v: F.scaled_dot_product_attention(
        q, k, v, mask, is_causal=kind == "causal", scale=scale, enable_gqa=own != heads),
        tensors, [rng.random() < 0.8 for _ in tensors])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("seed", range(30))
def test_layer_norm(seed: int, dtype: Any) -> None:
    rng = random.Random(seed)
    torch.manual_seed(seed)
    shape = tuple([rng.choice((1, 2, 3, 5, 16, 33)) for _ in range(rng.randint(1, 4))])
    shape = (0, *shape[1:]) if rng.random() < 0.1 and len(shape) > 1 else shape
    normal = shape[rng.randint(0, len(shape) - 1):]
    while 0 in normal:
        normal = normal[1:]
    names = rng.choice((("weight", "bias"), ("weight",), ("bias",), ()))
    parts = {name: laid_out(rng, normal, dtype) for name in names}
    x = laid_out(rng, shape, dtype)
    check(lambda x, *own: F.layer_norm(x, normal, **dict(zip(names, own)), eps=1e-3),
          [x, *parts.values()], [rng.random() < 0.8 for _ in range(1 + len(parts))])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_mask_and_a_causal_row(dtype: Any) -> None:
    mask = mask_for(random.Random(0), "rows", (2, 3, 7, 9), dtype)
    check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask, is_causal=True), [
        torch.randn(2, length, 3, 4, dtype=dtype).transpose(1, 2) for length in (7, 9, 9)], [True] * 3)


def test_a_step_of_attention_and_layer_norm_is_one_native_function() -> None:
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    x = torch.randn(3, 8, 16)
    text = str(torch.compile.explain(lambda x: layer(x).sum().backward(), x))
    assert not [name for name in ("attention(", "bmm_kernel", "layer_norm_backward(") if name in text]


@pytest.mark.parametrize("turned", [False, True])
def test_compiled_attention_lies_in_memory_as_it_does_otherwise(turned: bool) -> None:
    def step(*given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q, k, v = [x.transpose(1, 2) if turned else x for x in given]
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return out, *torch.autograd.grad(out.square().sum(), (q, k, v))

    arrays = [torch.randn(2, 5, 3, 4, requires_grad=True) for _ in range(3)]
    compiled, expected = torch.compile(step), [part.stride() for part in step(*arrays)]
    for _ in range(3):
        assert [part.stride() for part in compiled(*arrays)] == expected
