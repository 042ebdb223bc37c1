"""The ways of attention that programs choose, and causal masks as tensors."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd.nn.attention import SDPBackend, bias, sdpa_kernel

attend = torch.nn.functional.scaled_dot_product_attention
X = torch.arange(24.0).reshape(1, 2, 3, 4).div(10).requires_grad_()


def node(*args: Any) -> str:
    return str(attend(X, X, X, *args).grad_fn.name())


def test_the_way_decides_the_node() -> None:
    assert node() == "ScaledDotProductFlashAttentionForCpuBackward0"
    with sdpa_kernel(SDPBackend.MATH):
        assert node() == "UnsafeViewBackward0"
        slower = attend(X, X, X)
    assert torch.allclose(slower, attend(X, X, X))
    with pytest.raises(RuntimeError, match="No viable backend for scaled_dot_product_attention was found"), \
            sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
        node()
    assert node() == "ScaledDotProductFlashAttentionForCpuBackward0"        # the context has ended, despite the error


def test_a_context_may_decorate() -> None:
    assert sdpa_kernel(SDPBackend.MATH)(node)() == "UnsafeViewBackward0"


def test_switches_of_backends_are_the_same() -> None:
    torch.backends.cuda.enable_flash_sdp(False)
    try:
        assert node() == "UnsafeViewBackward0"
    finally:
        torch.backends.cuda.enable_flash_sdp(True)
    with pytest.warns(FutureWarning, match="sdp_kernel"), torch.backends.cuda.sdp_kernel(enable_math=False):
        assert not torch.backends.cuda.math_sdp_enabled()
    assert torch.backends.cuda.math_sdp_enabled()


def test_causal_masks() -> None:
    queries = X[:, :, :2]
    lower, upper = bias.causal_lower_right(2, 3), bias.causal_upper_left(2, 3)
    assert str(lower) == "tensor([[ True,  True, False],\n        [ True,  True,  True]])"
    assert attend(queries, X, X, lower).equal(attend(queries, X, X, torch.ones(2, 3).tril(1) > 0))
    assert attend(queries, X, X, upper).equal(attend(queries, X, X, is_causal=True))


def test_scores_and_masks_of_the_program() -> None:
    flex = torch.nn.attention.flex_attention
    mask = flex.create_block_mask(lambda b, h, q, k: q >= k, None, None, 3, 3)
    assert torch.allclose(flex.flex_attention(X, X, X, block_mask=mask), attend(X, X, X, is_causal=True), atol=1e-6)
    nothing = flex.create_block_mask(lambda b, h, q, k: q < 0, None, None, 3, 3)
    assert flex.flex_attention(X, X, X, block_mask=nothing).abs().sum() == 0
    x = X.detach().double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: flex.flex_attention(
        x, x, x, lambda s, b, h, q, k: s * (1 + h) + (q - k), mask), (x,))
