"""The ways of attention that programs choose, and causal masks as tensors, against PyTorch."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare
from comparing.same_text import same

draws = np.random.default_rng(3)


def normal(*shape: int) -> np.ndarray[Any, Any]:
    return draws.standard_normal(shape)


def attention(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.nn.attention")


def bias(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.nn.attention.bias")


WAYS = ["ERROR", "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "OVERRIDEABLE"]


@pytest.mark.parametrize("names", [*([way] for way in WAYS), ["MATH", "FLASH_ATTENTION"], []])
def test_only_these_ways(names: list[str]) -> None:
    def case(t: Any, x: Any) -> Any:
        ways = [getattr(attention(t).SDPBackend, name) for name in names]
        with attention(t).sdpa_kernel(ways[0] if len(ways) == 1 else ways, set_priority=len(ways) > 1):
            return t.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)

    compare(case, normal(1, 2, 3, 4), order=1)


def ways(t: Any) -> Any:
    module = attention(t)
    found = [module._cur_sdpa_kernel_backends()]
    with module.sdpa_kernel([module.SDPBackend.MATH, module.SDPBackend.FLASH_ATTENTION]):
        found.append(module._cur_sdpa_kernel_backends())
        with module.sdpa_kernel(module.SDPBackend.MATH):
            found.append(module._cur_sdpa_kernel_backends())
    kinds = [repr(way) for way in module.SDPBackend.__members__.values()]
    return found, module._cur_sdpa_kernel_backends(), kinds, int(module.SDPBackend.MATH), module.SDPBackend(1)


def switches(t: Any) -> Any:
    cuda, x = t.backends.cuda, t.ones(1, 1, 2, 2, requires_grad=True)
    enabled = [cuda.flash_sdp_enabled, cuda.math_sdp_enabled, cuda.mem_efficient_sdp_enabled, cuda.cudnn_sdp_enabled,
               cuda.fp16_bf16_reduction_math_sdp_allowed, t.backends.mha.get_fastpath_enabled]
    found = [[ask() for ask in enabled]]
    cuda.enable_flash_sdp(False)
    cuda.enable_cudnn_sdp(False)
    cuda.enable_mem_efficient_sdp(False)
    cuda.allow_fp16_bf16_reduction_math_sdp(True)
    found.append([ask() for ask in enabled])
    node = t.nn.functional.scaled_dot_product_attention(x, x, x).grad_fn.name()
    for switch in (cuda.enable_flash_sdp, cuda.enable_cudnn_sdp, cuda.enable_mem_efficient_sdp, cuda.enable_math_sdp):
        switch(True)
    cuda.allow_fp16_bf16_reduction_math_sdp(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with cuda.sdp_kernel(enable_flash=False) as given:
            found.append([ask() for ask in enabled])
    given_to = cuda.SDPAParams(x, x, x, None, 0.0, False, False)
    asked = [ask(given_to, False) for ask in (cuda.can_use_flash_attention, cuda.can_use_efficient_attention,
                                              cuda.can_use_cudnn_attention)]
    return found, node, given, asked, cuda.is_flash_attention_available(), cuda.is_ck_sdpa_available()


def test_switches() -> None:
    same(ways)
    same(switches)
    same(lambda t: t.backends.cuda.enable_flash_sdp(3))
    same(lambda t: attention(t).sdpa_kernel(3).__enter__())


MASKS: list[Callable[[Any], Any]] = [
    lambda t: bias(t).causal_upper_left(3, 5), lambda t: bias(t).causal_lower_right(3, 5),
    lambda t: bias(t).CausalBias(bias(t).CausalVariant.LOWER_RIGHT, 3, 5), lambda t: bias(t).causal_upper_left(9, 9)]


@pytest.mark.parametrize("number", range(len(MASKS)))
@pytest.mark.parametrize("shape", [(2, 4), (2,), ()])
def test_attention_with_causal_masks(number: int, shape: tuple[int, ...]) -> None:
    def case(t: Any, query: Any, key: Any) -> Any:
        return t.nn.functional.scaled_dot_product_attention(query, key, key, MASKS[number](t), scale=0.5)

    compare(case, normal(*shape, 3, 4), normal(*shape, 5, 4), order=1)


CALLS: list[Callable[[Any], Any]] = [
    *MASKS, lambda t: [(m.variant, m.seq_len_q, m.seq_len_kv, m.shape, m.dtype) for m in (make(t) for make in MASKS)],
    lambda t: bias(t).CausalBias(1, 2, 3), lambda t: bias(t).causal_upper_left(3),
    lambda t: bias(t).causal_lower_right(),
    lambda t: bias(t).causal_lower_right(4, 3), lambda t: [*bias(t).CausalVariant],
    lambda t: t.nn.functional.scaled_dot_product_attention(
        *[t.ones(1, 1, 2, 2)] * 3, attn_mask=bias(t).causal_upper_left(2, 2), is_causal=True),
    lambda t: repr(bias(t).causal_upper_left(2, 3) * 2)]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_causal_masks(number: int) -> None:
    same(CALLS[number])


def test_a_mask_that_hides_all_keys_warns() -> None:
    with pytest.warns(UserWarning, match="Lower right causal bias will produce NaNs in the output when seq_len_q"):
        bias(importlib.import_module("retrograd")).causal_lower_right(4, 3)
