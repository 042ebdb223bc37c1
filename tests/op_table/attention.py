"""Entries for softmax without what is hidden, scaled dot-product attention, and attention of several heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_table.entry import Entry, Shapes

_HEADS: tuple[Shapes, ...] = (((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5)), ((1, 2, 1, 1), (1, 2, 3, 1), (1, 2, 3, 1)))
_STACKS: tuple[Shapes, ...] = (((3, 4, 5), (3, 6, 5), (3, 6, 2)), ((4, 5), (6, 5), (6, 5)))
_FEWER: tuple[Shapes, ...] = (((2, 4, 3, 5), (2, 2, 6, 5), (2, 2, 6, 5)),)
_FIRST = "PyTorch has no second derivative of attention on the CPU"
_FLASH: dict[str, Any] = {"first_only": _FIRST, "no_tangent": "PyTorch has no forward mode of attention on the CPU"}
_HALF = "PyTorch rounds what it adds up to half precision"


def _attention(make: Callable[..., Any] = lambda t, q, k: None, **options: Any) -> Callable[..., Any]:
    """Attention with the mask that `make` makes for a query and a key."""
    return lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, make(t, q, k), **options)


def _hiding(t: Any, q: Any, k: Any) -> Any:
    """A mask of bools that hides all from the first query, and something from others."""
    mask = t.arange(q.shape[-2] * k.shape[-2]).reshape(q.shape[-2], k.shape[-2]) % 3 != 0
    mask[0] = False
    return mask


def _adding(t: Any, q: Any, k: Any) -> Any:
    mask = t.arange(q.shape[-2] * k.shape[-2]).reshape(q.shape[-2], k.shape[-2]) / 7
    return (mask if q.is_complex() or not q.is_floating_point() else mask.to(q.dtype)).sin()


def _multihead(**options: Any) -> Callable[..., Any]:
    """Attention of two heads of size 2, with its weights."""

    def call(t: Any, query: Any, key: Any, weight: Any, bias: Any, out: Any) -> Any:
        found, weights = t.nn.functional.multi_head_attention_forward(
            query, key, key, 4, 2, weight, bias, None, None, False, 0.0, out, None,
            **{name: make(t, query, key) for name, make in options.items()})
        return found if weights is None else (found, weights)

    return call


def _one(value: Any) -> Callable[..., Any]:
    return lambda t, query, key: value


_PROJECTED: tuple[Shapes, ...] = (((3, 2, 4), (5, 2, 4), (12, 4), (12,), (4, 4)),
                                 ((3, 4), (5, 4), (12, 4), (12,), (4, 4)))
ATTENTION = [
    Entry("attention", _attention(), _HEADS, **_FLASH),
    Entry("attention causal", _attention(is_causal=True), _HEADS, **_FLASH),
    Entry("attention hiding", _attention(_hiding), _HEADS, **_FLASH),
    Entry("attention adding", _attention(_adding), _HEADS, **_FLASH),
    Entry("attention scale", _attention(scale=-0.3), _HEADS, **_FLASH),
    Entry("attention fewer heads", _attention(enable_gqa=True), _FEWER, **_FLASH),
    Entry("attention composed", _attention(), _STACKS),
    Entry("attention composed causal", _attention(is_causal=True, scale=0.5), _STACKS),
    Entry("attention composed hiding", _attention(_hiding), _STACKS),
    Entry("attention by mask", lambda t, q, k, v, m: t.nn.functional.scaled_dot_product_attention(
        q, k, v, m, 0.0, False),
          (((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 5), (4, 6)),), no_tangent=_FLASH["no_tangent"]),
    Entry("multi_head_attention_forward", _multihead(), _PROJECTED, apart={"h": _HALF}),
    Entry("multi_head_attention_forward each", _multihead(average_attn_weights=_one(False)), _PROJECTED,
          apart={"h": _HALF}),
    Entry("multi_head_attention_forward hiding", _multihead(
        attn_mask=lambda t, q, k: t.arange(15).reshape(3, 5) % 4 == 1), _PROJECTED, apart={"h": _HALF}),
    Entry("multi_head_attention_forward padded", _multihead(
        key_padding_mask=lambda t, q, k: (t.arange(10).reshape(2, 5) if q.dim() == 3 else t.arange(5)) % 4 == 1),
        _PROJECTED, apart={"h": _HALF}),
    Entry("multi_head_attention_forward unweighted", _multihead(need_weights=_one(False)), _PROJECTED,
          apart={"h": _HALF}, **_FLASH),
]
