"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

from ...foundations.dtypes import C_NAMES, float32, is_half, letter
from ...foundations.errors import noted
from ...foundations.scalars import check_convertible
from ...kernels.layout import steps
from ...kernels.shape import common_shape
from ...ops.elementwise import arithmetic
from ...ops.networks import attention as ops, softmax as softmax_ops
from ...tensors.arguments.dims import axis_of
from ...tensors.functions.creation import creation
from ...tensors.functions.linalg import matrix
from ...tensors.recording.calls import recorded
from ...tensors.recording.public import public
from ...tensors.state.base import moves, requires
from ...tensors.tensor import Tensor
from .dropping import dropout
from .switches import Allowed

__all__ = ["scaled_dot_product_attention"]

_attention, _safe_softmax = recorded(ops.attention), recorded(softmax_ops.safe_softmax)
_scaled = recorded(arithmetic.mul_number)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> None:
    q, k, v = query._array, key._array, value._array
    if not q.dtype == k.dtype == v.dtype:
        names = [C_NAMES[array.dtype.name] for array in (q, k, v)]
        raise RuntimeError("Expected query, key, and value to have the same dtype, but got query.dtype: "
                           f"{names[0]} key.dtype: {names[1]} and value.dtype: {names[2]} instead.")
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
                           f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead.")
    if mask is not None and str(mask.dtype) not in ("torch.bool", "torch.float32", str(query.dtype)):
        raise RuntimeError("Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                           f"attn_mask.dtype: {C_NAMES[mask._array.dtype.name]} "
                           f"and  query.dtype: {C_NAMES[q.dtype.name]} instead.")
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")


def _refuse_ints(query: Tensor, mask: Tensor | None) -> None:
    """Raises RuntimeError for ints and bools, with the sentence of the first step that fails in PyTorch."""
    dtype = query._array.dtype
    if dtype.kind not in "biu":
        return
    if mask is not None and str(mask.dtype) == "torch.bool" and dtype.kind != "b":
        check_convertible(-math.inf, dtype)                # it raises: no int is -inf
    if query.dim() > 2:
        raise RuntimeError(f"expected scalar type Float but found {query.dtype.legacy}")
    raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: float != {C_NAMES[dtype.name]}")


def _is_one_op(arrays: list[Any], mask: Tensor | None, dropout_p: float, gqa: bool) -> bool:
    """Whether PyTorch records the attention as one node: these shapes, no dropout, no gradient of a mask."""
    q, k, v = arrays
    if not Allowed.flash or dropout_p or not q.ndim == k.ndim == v.ndim == 4 or not q.size or not k.size:
        return False
    if mask is not None and not requires(mask):
        axis_of("scaled_dot_product_attention", -2, mask._array.ndim)
    followed = mask is not None and (requires(mask) or moves(mask))
    if followed or (mask is not None and not _broadcasts(mask._array.shape, (*q.shape[:3], k.shape[2]))):
        return False
    heads = q.shape[1] % k.shape[1] == 0 if gqa else q.shape[1] == k.shape[1]
    return bool(heads and k.shape[:3] == v.shape[:3] and q.shape[0] == k.shape[0]
                and q.shape[3] == k.shape[3] == v.shape[3] and all([steps(a)[3] == 1 for a in (q, k, v)]))


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return common_shape(shape, to) == to
    except RuntimeError:
        return False


def _added(mask: Tensor | None, query: Tensor) -> Any:
    """A mask that is added to the scores. False in a mask of bools becomes -inf."""
    if mask is None or str(mask.dtype) != "torch.bool":
        return mask
    return creation.zeros(mask.shape, dtype=query.dtype).masked_fill_(mask.logical_not(), -math.inf)


@public(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor attn_mask=None, float dropout_p=0., "
    "bool is_causal=False, *, float scale=None, bool enable_gqa=False)")
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:
    """softmax(query @ key^T * scale + attn_mask) @ value, of (…, L, E), (…, S, E) and (…, S, Ev): (…, L, Ev).

    `attn_mask` broadcasts to (…, L, S). A mask of floats is added; in a mask of bools False hides a key. `is_causal`
    hides key j from query i if j > i. A query without any visible key gets 0. Weights are dropped with probability
    `dropout_p`, with PyTorch's random numbers. The default `scale` is 1 / sqrt(E). With `enable_gqa` keys and values
    may have fewer heads (the third dimension from the end) than the query: each of their heads then serves several
    heads of the query.

    All tensors have the same floating dtype. Unlike PyTorch's function on the CPU, this function has derivatives of all
    orders.

    >>> import retrograd as torch
    >>> x = torch.tensor([[[1., 0.], [0., 1.]]])
    >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[[1.0000, 0.0000],
             [0.3302, 0.6698]]])

    Raises RuntimeError if shapes or dtypes do not fit, and if `dropout_p` is outside of [0, 1].
    """
    _check(query, key, value, attn_mask, dropout_p)
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else float(scale)
    arrays = [x._array for x in (query, key, value)]
    if enable_gqa and min(x.ndim for x in arrays) >= 3 and any(arrays[0].shape[-3] % max(x.shape[-3], 1)
                                                              for x in arrays[1:]):
        raise noted(
            RuntimeError("Number of heads in key and value must divide the number of heads in "),
            given=f"query, key and value have {', '.join(str(x.shape[-3]) for x in arrays)} heads")
    one_op = _is_one_op(arrays, attn_mask, dropout_p, enable_gqa)
    _refuse_ints(query, attn_mask)
    if one_op and letter(arrays[0].dtype) == "f":
        return _attention(query, key, value, _added(attn_mask, query), bool(is_causal), factor)[0]
    if not Allowed.math:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found. This is likely due to "
                           "turning off both the math kernel and the fused kernels.")
    return _composed(query, key, value, attn_mask, dropout_p, is_causal, factor, enable_gqa)


def _composed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, causal: bool,
              scale: float, gqa: bool) -> Any:
    """The attention for any number of dimensions, with dropout, and with a gradient of the mask."""
    if causal:
        if mask is not None:
            raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                               "is_causal=True")
        mask = creation.ones((query.shape[-2], key.shape[-2])).bool().tril()
    mask, root = _added(mask, query), math.sqrt(abs(scale))
    if gqa:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    result_type = query.dtype
    if is_half(result_type.dtype):
        query, key, value = query.to(float32), key.to(float32), value.to(float32)
    scores = matrix.matmul(_scaled(query, root if scale >= 0 else -root), _scaled(key.transpose(-2, -1), root))
    if mask is not None:
        scores = scores + mask
    weights = _safe_softmax(scores, scores.dim() - 1)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    return matrix.matmul(weights, value).to(result_type)
