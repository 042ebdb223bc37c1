"""The Transformer: an encoder, a decoder, their layers, and masks that hide what comes later.

Masks are those of `functional.multi_head_attention_forward`: True hides, and floats are added.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import warn
from ...tensors.functions.creation.creation import full
from ...tensors.functions.creation.ranges import arange
from ...tensors.tensor import Tensor
from .. import init
from ..borrowed import borrowing
from ..functional.activation import gelu, relu
from ..functional.multihead import _canonical_mask, _none_or_dtype
from ..functional.switches import Allowed
from .activation import GELU, ReLU
from .attention import MultiheadAttention, learns
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
           "TransformerEncoderLayer"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)

_Activation = str | Callable[[Tensor], Tensor]


def _generate_square_subsequent_mask(sz: int, device: DeviceLike | None = None,
                                     dtype: torch_dtype | None = None) -> Tensor:
    """A mask (sz, sz) that is added: -inf where key j comes after query i, and 0 elsewhere."""
    return full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _get_clones(module: Module, N: int) -> ModuleList:
    """N deep copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    """The function of this name, "relu" or "gelu". Raises RuntimeError for another name."""
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return relu if activation == "relu" else gelu


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """The length of a sequence: of (L, E), (L, N, E), or (N, L, E) if the batch is first."""
    along = 1 if src.dim() != 2 and batch_first else 0
    return src.shape[along]


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether a mask hides exactly what comes later. What the caller says in `is_causal` is believed."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _generate_square_subsequent_mask(mask.shape[-2] if size is None else size, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


class _TransformerLayer(Module):
    """What the layers of encoder and decoder share: their parts, and the blocks that are made of the parts."""

    self_attn: MultiheadAttention
    activation: Callable[[Tensor], Tensor]
    norm_first: bool

    def _set_up(self, attentions: tuple[str, ...], d_model: int, nhead: int, dim_feedforward: int, dropout: float,
                layer_norm_eps: float, batch_first: bool, norm_first: bool, bias: bool, device: DeviceLike | None,
                dtype: torch_dtype | None) -> None:
        for name in attentions:
            self.add_module(name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first,
                                                     device=device, dtype=dtype))
        self.linear1 = Linear(d_model, dim_feedforward, bias, device, dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, device, dtype)
        self.norm_first = norm_first
        numbers = range(1, len(attentions) + 2)                     # the feed-forward network comes after them
        for number in numbers:
            self.add_module(f"norm{number}", LayerNorm(d_model, layer_norm_eps, True, bias, device, dtype))
        for number in numbers:
            self.add_module(f"dropout{number}", Dropout(dropout))

    def _residual(self, x: Tensor, norm: Module, block: Callable[[Tensor], Tensor]) -> Tensor:
        """The sum of x and what a block makes of x. The norm comes before the block, or after the sum."""
        result: Tensor = x + block(norm(x)) if self.norm_first else norm(x + block(x))
        return result

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                  is_causal: bool = False) -> Tensor:
        """The attention of a sequence to itself, with dropout."""
        found = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal,
                               need_weights=False)[0]
        return self.dropout1(found)

    def _fed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Attention of a sequence to itself and a feed-forward network, each with a residual sum and a `LayerNorm`.

    The sequence is (L, N, d_model), (L, d_model), or with `batch_first` (N, L, d_model). The network has
    `dim_feedforward` hidden features. `activation` is "relu", "gelu" or a function. With `norm_first` the norms stand
    before the attention and before the network, not after the sums.

    >>> import retrograd as torch
    >>> layer = torch.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> layer(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])

    Raises AssertionError if `nhead` does not divide `d_model`, RuntimeError for another name of an activation.
    """

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: _Activation = relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self._set_up(("self_attn",), d_model, nhead, dim_feedforward, dropout, layer_norm_eps, batch_first, norm_first,
                     bias, device, dtype)
        function = _get_activation_fn(activation) if isinstance(activation, str) else activation
        kinds = ((relu, ReLU), (gelu, GELU))                        # PyTorch's numbers: 1, 2, and 0 for all others
        self.activation_relu_or_gelu = next((number for number, (named, module) in enumerate(kinds, 1)
                                             if function is named or isinstance(function, module)), 0)
        self.activation = function

    def forward(self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:
        """The sequence after both sublayers. `is_causal` says that `src_mask` hides what comes later."""
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask",
                                  src.dtype)
        mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)
        if self._hides_by_any_number(src):
            mask, padding = (None if given is None else given != 0 for given in (mask, padding))
        x = self._residual(src, self.norm1, lambda x: self._sa_block(x, mask, padding, is_causal))
        return self._residual(x, self.norm2, self._ff_block)

    def _hides_by_any_number(self, src: Tensor) -> bool:
        """Whether PyTorch takes a way without gradients here, on which every number in a mask but 0 hides."""
        if self.training or src.dim() != 3 or not Allowed.fastpath or _why_not_at_once(self):
            return False
        hooked = any([module._forward_hooks or module._forward_pre_hooks for module in self.modules()])
        return not hooked and not learns(self, src)

    def _ff_block(self, x: Tensor) -> Tensor:
        """The feed-forward network, with dropout."""
        return self.dropout2(self._fed_forward(x))


class TransformerDecoderLayer(_TransformerLayer):
    """`TransformerEncoderLayer` with one more sublayer in the middle, the attention to what the encoder made.

    >>> import retrograd as torch
    >>> layer = torch.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> layer(torch.ones(3, 5, 8), torch.ones(3, 7, 8)).shape
    torch.Size([3, 5, 8])

    Raises AssertionError if `nhead` does not divide `d_model`, RuntimeError for another name of an activation.
    """

    multihead_attn: MultiheadAttention

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: _Activation = relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: DeviceLike | None = None,
                 dtype: torch_dtype | None = None) -> None:
        super().__init__()
        self._set_up(("self_attn", "multihead_attn"), d_model, nhead, dim_feedforward, dropout, layer_norm_eps,
                     batch_first, norm_first, bias, device, dtype)
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Tensor:
        """The sequence `tgt` after the three sublayers. The second attends to `memory`, which has its own masks."""
        x = self._residual(tgt, self.norm1,
                           lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self._residual(x, self.norm2, lambda x: self._mha_block(
            x, memory, memory_mask, memory_key_padding_mask, memory_is_causal))
        return self._residual(x, self.norm3, self._ff_block)

    def _mha_block(self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                   is_causal: bool = False) -> Tensor:
        """The attention to what the encoder made, with dropout."""
        found = self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                    is_causal=is_causal, need_weights=False)[0]
        return self.dropout2(found)

    def _ff_block(self, x: Tensor) -> Tensor:
        """The feed-forward network, with dropout."""
        return self.dropout3(self._fed_forward(x))


def _why_not_at_once(layer: TransformerEncoderLayer) -> str:
    """The reason why PyTorch has no single operator for a layer, which it uses without gradients; '' if it has one."""
    attention = layer.self_attn
    reasons = [
        (not attention.batch_first, "encoder_layer.self_attn.batch_first was not True"
                                    "(use batch_first for better inference performance)"),
        (attention.in_proj_bias is None, "encoder_layer.self_attn was passed bias=False"),
        (not attention._qkv_same_embed_dim, "encoder_layer.self_attn._qkv_same_embed_dim was not True"),
        (not layer.activation_relu_or_gelu, "encoder_layer.activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"),
        (attention.num_heads % 2 == 1, "encoder_layer.self_attn.num_heads is odd"),
    ]
    return next((reason for holds, reason in reasons if holds), "")


def _why_padding_is_computed(layer: Module) -> str:
    """The reason why an encoder of such layers computes padded places, too; '' if PyTorch would leave them out."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    return "encoder_layer.norm_first was True" if layer.norm_first else _why_not_at_once(layer)


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after the other, and a `norm` after the last of them.

    PyTorch computes padded places only if it has to, and otherwise fills them with zeros: in evaluation, without
    gradients, with `src_key_padding_mask` alone, if `enable_nested_tensor` is true and the layers allow it. The results
    are the same here, zeros included. With `mask_check` the padding must stand at the end of each sequence for that.

    >>> import retrograd as torch
    >>> layer = torch.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
    >>> torch.nn.TransformerEncoder(layer, num_layers=2)(torch.ones(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    norm: Any

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Module | None = None,
                 enable_nested_tensor: bool = True, mask_check: bool = True) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm, self.enable_nested_tensor = num_layers, norm, enable_nested_tensor
        why = _why_padding_is_computed(encoder_layer)
        self.use_nested_tensor, self.mask_check = enable_nested_tensor and not why, mask_check
        if enable_nested_tensor and why:
            warn("enable_nested_tensor is True, but self.use_nested_tensor is False because " + why, UserWarning)

    def forward(self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:
        """The sequence after all layers. `is_causal` says that `mask` hides what comes later; None looks at the mask.
        """
        padding = _canonical_mask(src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask",
                                  src.dtype)
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, False)
        absent = None if padding is None or mask is not None else self._left_out(src, padding)
        first: Any = self.layers[0]
        causal = _detect_is_causal_mask(mask, is_causal, _get_seq_len(src, first.self_attn.batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal,
                           src_key_padding_mask=padding if absent is None else absent)
        if absent is not None:
            output = output.masked_fill(absent.unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)

    def _left_out(self, src: Tensor, padding: Tensor) -> Tensor | None:
        """Which places (N, L) PyTorch does not compute; None if it computes all."""
        first: Any = self.layers[0]
        if not self.use_nested_tensor or not Allowed.fastpath or first.training or learns(first, src):
            return None
        if src.dim() != 3 or padding.shape != src.shape[:2]:
            return None
        present = padding == 0
        absent = arange(src.shape[1]) >= present.sum(1, keepdim=True)
        return None if self.mask_check and bool((absent == present).any()) else absent


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, one after the other, and a `norm` after the last of them.

    >>> import retrograd as torch
    >>> layer = torch.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> torch.nn.TransformerDecoder(layer, num_layers=2)(torch.ones(5, 3, 8), torch.ones(7, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    norm: Any

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Tensor:
        """The sequence `tgt` after all layers, each of which attends to `memory`."""
        first: Any = self.layers[0]
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, _get_seq_len(tgt, first.self_attn.batch_first))
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                           tgt_key_padding_mask=tgt_key_padding_mask,
                           memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                           memory_is_causal=memory_is_causal)
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder of a sequence `src` and a decoder, which attends to what the encoder makes, of a sequence `tgt`.

    The sequences are (S, N, d_model) and (T, N, d_model), with `batch_first` (N, S, d_model) and (N, T, d_model), or
    both lack N. The result has the shape of `tgt`. All matrices start with `init.xavier_uniform_`. `custom_encoder` and
    `custom_decoder` replace the two halves.

    >>> import retrograd as torch
    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    >>> model(torch.ones(3, 7, 8), torch.ones(3, 5, 8), tgt_mask=mask).shape
    torch.Size([3, 5, 8])

    Raises RuntimeError if the batches differ, or if the last size is not `d_model`.
    """

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: _Activation = relu,
                 custom_encoder: Module | None = None, custom_decoder: Module | None = None,
                 layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
                 device: DeviceLike | None = None, dtype: torch_dtype | None = None) -> None:
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias,
                   device, dtype)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*options)
            norm = LayerNorm(d_model, layer_norm_eps, True, bias, device, dtype)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*options)
            norm = LayerNorm(d_model, layer_norm_eps, True, bias, device, dtype)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        """The decoder's result for `tgt`. `memory` is the encoder's result for `src`."""
        batched, axis = src.dim() == 3, 0 if self.batch_first else 1
        if src.size(axis) != tgt.size(axis) and batched:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if not src.size(-1) == tgt.size(-1) == self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
                            memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: DeviceLike | None = None,
                                        dtype: torch_dtype | None = None) -> Tensor:
        """A mask (sz, sz) that is added: -inf where key j comes after query i, and 0 elsewhere."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        """Draw all matrices anew."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
