"""Attention with scores and masks of the program against PyTorch, which has no derivative of it on the CPU."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare
from comparing.same_text import same

draws = np.random.default_rng(2)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return draws.standard_normal(shape)


def flex(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.nn.attention.flex_attention")


def causal(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


def window(b: Any, h: Any, q: Any, k: Any) -> Any:
    return (q - k).abs() <= 1 + h


OPTIONS: list[Callable[[Any], dict[str, Any]]] = [
    lambda t: {}, lambda t: {"scale": 0.1}, lambda t: {"score_mod": lambda s, b, h, q, k: s + (k - q) * 2.0 ** -h},
    lambda t: {"score_mod": lambda s, b, h, q, k: t.where(q >= k, s, -float("inf"))},
    lambda t: {"score_mod": lambda s, b, h, q, k: 5 * t.tanh(s / 5) + t.tensor([0.5, -0.5])[b]},
    lambda t: {"block_mask": flex(t).create_block_mask(causal, None, None, 6, 5, device="cpu")},
    lambda t: {"block_mask": flex(t).create_block_mask(flex(t).and_masks(causal, window), 2, 4, 6, 5, device="cpu")},
    lambda t: {"block_mask": flex(t).create_block_mask(lambda b, h, q, k: q < 2 * (k + 1) - 4, 1, 1, 6, 5, "cpu")},
    lambda t: {"return_aux": flex(t).AuxRequest(lse=True)},
    lambda t: {"return_aux": flex(t).AuxRequest(max_scores=True)},
]


@pytest.mark.parametrize("number", range(len(OPTIONS)))
def test_attention(number: int) -> None:
    def case(t: Any, query: Any, key: Any) -> Any:
        found = flex(t).flex_attention(query, key, key, **OPTIONS[number](t))
        return (found[0], found[1].lse, found[1].max_scores) if isinstance(found, tuple) else found

    compare(case, normal(2, 4, 6, 8), normal(2, 4, 5, 8), grad=False)


def test_fewer_heads_of_keys() -> None:
    compare(lambda t, q, k: flex(t).flex_attention(q, k, k, enable_gqa=True), normal(2, 4, 6, 8), normal(2, 2, 5, 8),
            grad=False)


def blocks(t: Any) -> Any:
    mask = flex(t).create_block_mask(causal, 1, 2, 300, 260, device="cpu", BLOCK_SIZE=(128, 64))
    return mask.shape, mask.to_dense(), mask.sparsity(), mask.seq_lengths, mask.BLOCK_SIZE, mask.mask_mod is causal


CALLS: list[Callable[[Any], Any]] = [
    blocks, lambda t: flex(t).create_mask(causal, 2, None, 3, 4, device="cpu"),
    lambda t: flex(t).create_mask(window, 1, 2, 3, 4, device="cpu"),
    lambda t: flex(t).create_mask(flex(t).or_masks(causal, window), 1, 2, 3, 4, device="cpu"),
    lambda t: flex(t).create_mask(flex(t).noop_mask, 1, 1, 2, 2, device="cpu"), lambda t: flex(t).and_masks(3),
    lambda t: flex(t).or_masks(causal, 3), lambda t: flex(t).flex_attention(*[t.ones(2, 3, 4)] * 3),
    lambda t: flex(t).flex_attention(t.ones(1, 4, 3, 2), *[t.ones(1, 2, 3, 2)] * 2),
    lambda t: flex(t).flex_attention(t.ones(1, 4, 3, 2), *[t.ones(1, 3, 3, 2)] * 2, enable_gqa=True),
    lambda t: (flex(t).AuxRequest(), flex(t).AuxOutput()),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls(number: int) -> None:
    same(CALLS[number])
