"""Multi-head attention: projections, the attention of each head, and a projection of the result."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...foundations.dtypes import bool_, dtype as torch_dtype
from ...foundations.errors import warn
from ...tensors.arguments.options import check_tensor
from ...tensors.functions.creation import creation
from ...tensors.functions.images.padding import pad
from ...tensors.functions.linalg import accumulating, matrix
from ...tensors.functions.shapes import joining
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor
from .activation import softmax
from .affine import linear
from .attention import scaled_dot_product_attention
from .dropping import dropout

__all__ = ["multi_head_attention_forward"]


class _Masks(NamedTuple):
    """What is added to the scores: a mask (1 or batch * heads, L, S) and one of keys (batch, S). Both may be None."""

    attention: Any
    keys: Any

    def longer(self) -> _Masks:
        """The masks for one more key, which is visible."""
        return _Masks(*[mask if mask is None else pad(mask, (0, 1)) for mask in self])


def _mha_shape_check(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None,
                     attn_mask: Tensor | None, num_heads: int) -> bool:
    """Whether the query has a batch. Raises AssertionError if the other tensors do not fit the query."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError("query should be unbatched 2D or batched 3D tensor but received "
                             f"{rank}-D query tensor")
    kind = f"For {'batched' if rank == 3 else 'unbatched'} ({rank}-D) `query`, expected"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(f"{kind} `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D "
                             "tensors respectively")
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(f"{kind} `key_padding_mask` to be `None` or {rank - 1}-D but found "
                             f"{key_padding_mask.dim()}-D tensor instead")
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(f"{kind} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor "
                                 "instead")
        expected = (num_heads, query.shape[0], key.shape[0])
        if rank == 2 and attn_mask.dim() == 3 and attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return bool(rank == 3)


def _none_or_dtype(input: Tensor | None) -> Any:
    """The dtype of a tensor; None for None. Raises RuntimeError for anything else."""
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(mask: Tensor | None, mask_name: str, other_type: torch_dtype | None, other_name: str,
                    target_type: Any, check_other: bool = True) -> Tensor | None:
    """A mask that is added. True in a mask of bools, which hides, becomes -inf, of dtype `target_type`.

    Warns if another mask has the dtype `other_type`. Raises AssertionError for a mask of ints.
    """
    if mask is None:
        return None
    dtype = mask.dtype
    check_tensor("is_floating_point", mask)
    if not (mask.is_floating_point() or dtype is bool_):
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and dtype is not other_type:
        warn(f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
             UserWarning)
    if mask.is_floating_point():
        return mask
    return creation.zeros(mask.shape, dtype=target_type).masked_fill_(mask, -math.inf)


def _masks(attention: Tensor | None, keys: Tensor | None, dtype: torch_dtype, causal: bool, hinted: bool) -> _Masks:
    """Both masks as masks that are added. There is no attention mask if it is enough to know that it is causal."""
    if causal and attention is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
                           "method `generate_square_subsequent_mask` to create this mask.")
    keys = _canonical_mask(keys, "key_padding_mask", _none_or_dtype(attention), "attn_mask", dtype)
    return _Masks(None if hinted else _canonical_mask(attention, "attn_mask", None, "", dtype, False), keys)


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor,
                          b: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by one weight (3 E, E). Tensors that are the same object take one product."""
    size = q.shape[-1]
    if k is v and q is k:
        parts = _taken_apart(linear(q, w, b), 3, size)
        return parts[0], parts[1], parts[2]
    if k is v:
        weights: Any = w.split([size, 2 * size])
        biases: Any = (None, None) if b is None else b.split([size, 2 * size])
        queries = linear(q, weights[0], biases[0])
        parts = _taken_apart(linear(k, weights[1], biases[1]), 2, size)
        return queries, parts[0], parts[1]
    weights, biases = w.chunk(3), _biases(b)
    return linear(q, weights[0], biases[0]), linear(k, weights[1], biases[1]), linear(v, weights[2], biases[2])


def _taken_apart(joint: Tensor, number: int, size: int) -> Any:
    """The results of several weights (…, number * size) as (number, …, size)."""
    return joint.unflatten(-1, (number, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _biases(joint: Tensor | None) -> Any:
    return (None,) * 3 if joint is None else joint.chunk(3)


def _in_projection(q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, b_q: Tensor | None = None,
                   b_k: Tensor | None = None, b_v: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by a weight each. Raises AssertionError for other shapes of weights and biases."""
    size = q.shape[-1]
    given = {"query": (q, w_q, b_q), "key": (k, w_k, b_k), "value": (v, w_v, b_v)}
    for part, index, shapes in (("weights", 1, [(size, x.shape[-1]) for x in (q, k, v)]), ("bias", 2, [(size,)] * 3)):
        for (name, each), shape in zip(given.items(), shapes):
            found = each[index]
            if found is not None and found.shape != shape:
                raise AssertionError(f"expecting {name} {part} shape of {shape}, but got {found.shape}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _projected(query: Tensor, key: Tensor, value: Tensor, joint: Tensor | None, bias: Tensor | None, apart: Any) -> Any:
    """Queries, keys and values, by the three weights in `apart`, or else by the weight `joint`."""
    if apart is None:
        if joint is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        return _in_projection_packed(query, key, value, joint, bias)
    for name, weight in zip("qkv", apart):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    return _in_projection(query, key, value, *apart, *_biases(bias))


def _checked_mask(mask: Tensor | None, target: int, source: int, stack: int) -> Any:
    """An attention mask with three dimensions. Raises RuntimeError if its sizes do not fit."""
    if mask is None:
        return None
    size = (target, source) if mask.dim() == 2 else (stack, target, source)
    if mask.dim() not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {mask.dim()} is not supported")
    if mask.shape != size:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {size}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _with_biases(k: Tensor, v: Tensor, masks: _Masks, bias_k: Tensor | None, bias_v: Tensor | None,
                 static: bool) -> tuple[Any, Any, _Masks]:
    """Keys and values with one more row, which is the same for the whole batch."""
    if bias_k is None and bias_v is None:
        return k, v, masks
    if bias_k is None or bias_v is None:
        raise AssertionError("bias_v is set but bias_k is None" if bias_k is None else
                             "bias_k is set but bias_v is None")
    if static:
        raise AssertionError("bias cannot be added to static key.")
    k, v = (joining.cat([x, bias.repeat(1, x.shape[1], 1)]) for x, bias in ((k, bias_k), (v, bias_v)))
    return k, v, masks.longer()


def _heads(x: Tensor, given: Any, stack: int, size: int, name: str) -> Any:
    """A projection as a stack of heads; a stack that is given is checked and taken instead."""
    if given is None:
        return x.view(x.shape[0], stack, size).transpose(0, 1)
    for axis, expected in ((0, stack), (2, size)):
        if given.shape[axis] != expected:
            raise AssertionError(f"expecting {name}.size({axis}) of {expected}, but got {given.shape[axis]}")
    return given


def _check_key_padding_mask(key_padding_mask: Tensor, src_len: int, bsz: int) -> None:
    """Raises AssertionError if the mask is not (bsz, src_len)."""
    for axis, expected in enumerate((bsz, src_len)):
        if key_padding_mask.shape[axis] != expected:
            raise AssertionError(f"Expected key_padded_mask.shape[{axis}] to be {expected}, but got "
                                 f"{key_padding_mask.shape[axis]}")


def _merged(masks: _Masks, batch: int, heads: int, source: int) -> Any:
    if masks.keys is None:
        return masks.attention
    _check_key_padding_mask(masks.keys, source, batch)
    keys = masks.keys.view(batch, 1, 1, source).expand(-1, heads, -1, -1).reshape(batch * heads, 1, source)
    return keys if masks.attention is None else masks.attention + keys


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, size: int, heads: int, apart: bool) -> None:
    found = query.shape[-1]
    if found != size:
        raise AssertionError(f"was expecting embedding dimension of {size}, but got {found}")
    if found % heads:
        raise AssertionError(f"embed_dim {found} not divisible by num_heads {heads}")
    if apart and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not apart and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _weighted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple[Any, Any]:
    """Attention of a stack of heads, and its weights."""
    q = q * math.sqrt(1.0 / q.shape[-1])
    scores = matrix.bmm(q, k.transpose(-2, -1)) if mask is None else (
        accumulating.baddbmm(mask, q, k.transpose(-2, -1)))
    weights = softmax(scores, -1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return matrix.bmm(weights, v), weights


def _unweighted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, causal: bool, batch: int,
                heads: int) -> Any:
    """The attention without its weights: (L * batch, heads * size)."""
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(batch, heads, -1, mask.shape[-1])
    q, k, v = (x.view(batch, heads, *x.shape[1:]) for x in (q, k, v))
    found = scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
    return found.permute(2, 0, 1, 3).reshape(batch * found.shape[2], found.shape[1] * found.shape[3])


@public()
def multi_head_attention_forward(
        query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
        in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None,
        add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
        training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
        k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None,
        static_v: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
    """Attention of `num_heads` heads, of query (L, N, E) to key and value (S, N, E): (L, N, E), and the weights.

    The heads share the projections by `in_proj_weight` (3 E, E), or by three separate weights. The weights of the
    attention are (N, L, S): the mean over the heads, (N, heads, L, S) if `average_attn_weights` is False, None without
    `need_weights`. `attn_mask` is (L, S) or (N * heads, L, S), and `key_padding_mask` is (N, S). In a mask of bools
    True hides a key; a mask of floats is added. All tensors may lack the dimension N.

    Raises AssertionError or RuntimeError if shapes do not fit.
    """
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    hinted = is_causal and key_padding_mask is None and not need_weights
    masks = _masks(attn_mask, key_padding_mask, query.dtype, is_causal, hinted)
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias,
                         (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None)
    stack, share = batch * num_heads, size // num_heads
    masks = _Masks(_checked_mask(masks.attention, length, key.shape[0], stack), masks.keys)
    k, v, masks = _with_biases(k, v, masks, bias_k, bias_v, static_k is not None or static_v is not None)
    q, k, v = (_heads(x, given, stack, share, name) for x, given, name in (
        (q, None, ""), (k, static_k, "static_k"), (v, static_v, "static_v")))
    if add_zero_attn:
        k, v = (joining.cat([x, x.new_zeros((stack, 1, share))], 1) for x in (k, v))
        masks = masks.longer()
    mask = _merged(masks, batch, num_heads, k.shape[1])
    p = dropout_p if training else 0.0
    if need_weights:
        found, weights = _weighted(q, k, v, mask, p)
        found = found.transpose(0, 1).reshape(length * batch, size)
        weights = weights.view(batch, num_heads, length, k.shape[1])
        weights = weights.mean(1) if average_attn_weights else weights
    else:
        found, weights = _unweighted(q, k, v, mask, p, hinted, batch, num_heads), None
    result = linear(found, out_proj_weight, out_proj_bias)
    result = result.view(length, batch, result.shape[1])
    return (result, weights) if batched else (result.squeeze(1), weights if weights is None else weights.squeeze(0))
