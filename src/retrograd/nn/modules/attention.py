"""Multi-head attention as a module."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import is_grad_enabled
from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...tensors.arguments.options import check_tensor
from ...tensors.tensor import Tensor
from .. import init
from ..functional import multihead as functional
from ..functional.switches import Allowed
from .layer import uninitialized
from .linear import NonDynamicallyQuantizableLinear
from .module import Module
from .module.members import Member

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """The attention of `num_heads` heads, of query (L, N, embed_dim) to key (S, N, kdim) and value (S, N, vdim).

    The call returns the result (L, N, embed_dim) and the weights (N, L, S). With `batch_first` N is the first dimension
    of query, key, value and result. All tensors may lack N.

    >>> import retrograd as torch
    >>> attention = torch.nn.MultiheadAttention(4, 2)
    >>> x = torch.ones(3, 1, 4)
    >>> result, weights = attention(x, x, x)
    >>> result.shape, weights.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 3, 3]))

    Raises ValueError if a size is not positive, AssertionError if `num_heads` does not divide `embed_dim`.
    """

    __module__ = "retrograd.nn.modules.activation"

    in_proj_weight = Member("_parameters")
    in_proj_bias = Member("_parameters")
    q_proj_weight = Member("_parameters")
    k_proj_weight = Member("_parameters")
    v_proj_weight = Member("_parameters")

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
                 add_bias_kv: bool = False, add_zero_attn: bool = False, kdim: int | None = None,
                 vdim: int | None = None, batch_first: bool = False, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim, self.kdim, self.vdim = embed_dim, kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        sizes = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = uninitialized((3 * embed_dim, embed_dim), device, dtype)
        for name, size in sizes.items():
            self.register_parameter(f"{name}_proj_weight", None if self._qkv_same_embed_dim else
                                    uninitialized((embed_dim, size), device, dtype))
        if not self._qkv_same_embed_dim:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", uninitialized((3 * embed_dim,), device, dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self.bias_k = uninitialized((1, 1, embed_dim), device, dtype) if add_bias_kv else None
        self.bias_v = uninitialized((1, 1, embed_dim), device, dtype) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        """The result, and the weights or None. The arguments are those of `functional.multi_head_attention_forward`."""
        for mask in (attn_mask, key_padding_mask):
            if mask is not None:
                check_tensor("is_floating_point", mask)
        plain = self._is_plain(query, key, value, attn_mask, key_padding_mask)
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            query, key, value = _swapped(query, key, value)
        found, weights = functional.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights or plain, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, None, None, average_attn_weights, is_causal and not plain)
        return found.transpose(1, 0) if swapped else found, weights if need_weights else None

    def _is_plain(self, query: Tensor, key: Any, value: Any, *masks: Any) -> bool:
        """Whether PyTorch takes a way without gradients here, where all masks are added to the scores.

        On this way `is_causal` without a mask is no error, and a query without any visible key gets nan.
        """
        if self.training or query is not key or key is not value or query.dim() != 3 or not self.batch_first:
            return False
        if self.in_proj_weight is None or self.in_proj_bias is None or self.num_heads % 2 or self.add_zero_attn:
            return False
        if self.bias_k is not None or query.dtype is not self.in_proj_weight.dtype or not Allowed.fastpath:
            return False
        if any([mask is not None and mask.is_floating_point() for mask in masks]):
            return False
        return not learns(self, query)

    def merge_masks(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                    query: Tensor) -> tuple[Tensor | None, int | None]:
        """One mask of both, and its kind: 1 for the mask of keys as it is, 2 for (N, num_heads, L, S), None for none.

        `attn_mask` is (L, S) or (N * num_heads, L, S), and `key_padding_mask` is (N, S).
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        merged = (attn_mask.view(batch, -1, length, length) if attn_mask.dim() == 3 else
                  attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1))
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2


def learns(module: Module, input: Tensor) -> bool:
    """Whether gradients are recorded that reach the input or a parameter of the module."""
    return is_grad_enabled() and any([x.requires_grad for x in (input, *module.parameters())])


def _swapped(query: Tensor, key: Tensor, value: Tensor) -> tuple[Any, Any, Any]:
    """The three tensors with the batch second. Tensors that are the same object stay the same object."""
    turned = key.transpose(1, 0)
    return (turned if query is key else query.transpose(1, 0), turned,
            turned if value is key else value.transpose(1, 0))
