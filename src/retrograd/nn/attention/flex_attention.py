"""torch.nn.attention.flex_attention: attention whose scores and masks are functions of the program.

A function of the program takes tensors of indices: of the batch, the head, the query and the key. PyTorch maps it over
single indices; here it is called once, with indices (B, 1, 1, 1), (1, H, 1, 1), (1, 1, Q, 1) and (1, 1, 1, K), so it
must be written with operators of tensors, as for PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...foundations.devices import DeviceLike
from ...foundations.errors import warn
from ...tensors.functions.creation.creation import ones
from ...tensors.functions.creation.ranges import arange
from ...tensors.functions.linalg.matrix import matmul
from ...tensors.functions.networks.softmax import logsumexp
from ...tensors.tensor import Tensor

__all__ = ["AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention",
           "noop_mask", "or_masks"]

_DEFAULT_SPARSE_BLOCK_SIZE = 128
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


class AuxRequest(NamedTuple):
    """What `flex_attention` is to return besides: the logarithms of the sums of weights. `max_scores` needs a GPU."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What an `AuxRequest` asked for; None for the rest."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask that shows all keys."""
    return ones(()).bool()


def _checked(masks: Sequence[Any]) -> None:
    if not all([callable(mask) for mask in masks]):
        raise RuntimeError(f"All inputs should be callable mask_mods: {tuple(masks)}")


def and_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask that shows what all these masks show. Raises RuntimeError if one is no function."""
    _checked(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = ones(()).bool()
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def or_masks(*mask_mods: MaskMod) -> MaskMod:
    """The mask that shows what one of these masks shows. Raises RuntimeError if one is no function."""
    _checked(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = ~ones(()).bool()
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def _indices(sizes: Sequence[int]) -> list[Tensor]:
    """The indices of each dimension, of shapes that broadcast to the sizes."""
    return [arange(size).reshape([-1 if at == axis else 1 for at in range(4)]) for axis, size in enumerate(sizes)]


def create_mask(mod_fn: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
                device: DeviceLike | None = None) -> Tensor:
    """What a mask shows, as bools (B, H, Q_LEN, KV_LEN). None stands for 1.

    >>> import retrograd as torch
    >>> from retrograd.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, k: q >= k, None, None, 2, 3)
    tensor([[[[ True, False, False],
              [ True,  True, False]]]])
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_indices(sizes)).expand(sizes).clone()


class BlockMask:
    """A mask, and which blocks (BLOCK_SIZE[0], BLOCK_SIZE[1]) of queries and keys it shows something of."""

    def __init__(self, seq_lengths: tuple[int, int], blocks: Tensor, BLOCK_SIZE: tuple[int, int],
                 mask_mod: MaskMod) -> None:
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod, self._blocks = seq_lengths, BLOCK_SIZE, mask_mod, blocks

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the mask: (B, H, queries, keys)."""
        return (*self._blocks.shape[:2], *self.seq_lengths)

    def to_dense(self) -> Tensor:
        """1 for each block that is not empty, and 0 for the others: (B, H, blocks of queries, blocks of keys)."""
        return self._blocks.int()

    def sparsity(self) -> float:
        """The part of the mask, in percent, that no block covers."""
        computed = self._blocks.sum().item() * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100 * (1 - computed / math.prod(self.shape))


def create_block_mask(mask_mod: MaskMod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int,
                      device: DeviceLike | None = None, BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
                      _compile: bool = False, separate_full_blocks: bool = True, compute_dq_write_order: bool = False,
                      dq_kv_order: bool = True) -> BlockMask:
    """The `BlockMask` of a mask. The last options are accepted, and change nothing."""
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    whole = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    rows, columns = -(-Q_LEN // size[0]), -(-KV_LEN // size[1])
    padded = whole.new_zeros((*whole.shape[:2], rows * size[0], columns * size[1]))
    padded[:, :, :Q_LEN, :KV_LEN] = whole
    parts = padded.reshape(*whole.shape[:2], rows, size[0], columns, size[1])
    return BlockMask((Q_LEN, KV_LEN), parts.any(5).any(3), size, mask_mod)


def _check(query: Tensor, key: Tensor, value: Tensor, enable_gqa: bool) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, others = query.shape[1], key.shape[1]
    if not enable_gqa and heads != others:
        raise ValueError(f"Expect query and key/value to have the same number of heads but got Hq={heads} and "
                         f"Hkv={others}. Try setting enable_gqa=True for GQA.")
    if enable_gqa and heads % others:
        raise ValueError(f"Expect number of query heads to be a multiple of kv heads for GQA but got Hq={heads} and "
                         f"Hkv={others}.")


def flex_attention(query: Tensor, key: Tensor, value: Tensor, score_mod: Callable[..., Tensor] | None = None,
                   block_mask: BlockMask | None = None, scale: float | None = None, enable_gqa: bool = False,
                   return_lse: bool = False, kernel_options: Any = None, *,
                   return_aux: AuxRequest | None = None) -> Any:
    """The attention of (B, H, Q, E) to (B, H, K, E) and (B, H, K, Ev), whose scores `score_mod` changes: (B, H, Q, Ev).

    `score_mod` takes the scores, and the indices of batch, head, query and key. `block_mask` hides keys. A query
    without any visible key gets 0. Unlike PyTorch's function on the CPU, this function has derivatives.

    >>> import retrograd as torch
    >>> from retrograd.nn.attention.flex_attention import flex_attention
    >>> x = torch.tensor([[[[1., 0.], [0., 1.]]]])
    >>> flex_attention(x, x, x, score_mod=lambda score, b, h, q, k: score - (q - k).abs())
    tensor([[[[0.8465, 0.1535],
              [0.1535, 0.8465]]]])

    Raises NotImplementedError for other numbers of dimensions, ValueError for other numbers of heads.
    """
    _check(query, key, value, enable_gqa)
    if return_aux is not None and return_aux.max_scores:
        raise NotImplementedError("Returning max scores is not supported on CPU/MPS.")
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = matmul(query, key.transpose(-2, -1)) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    places = _indices(scores.shape)
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*places).expand(scores.shape), -math.inf)
    sums = logsumexp(scores, -1, keepdim=True)
    hidden = sums == -math.inf
    weights = (scores - sums.masked_fill(hidden, 0)).exp()
    found = matmul(weights.to(query.dtype), value)
    if return_lse:
        warn("return_lse is deprecated and will be removed in v2.10. Please use return_aux=AuxRequest(lse=True) "
             "instead.", FutureWarning)
        return found, sums.squeeze(-1)
    if return_aux is None:
        return found
    return found, AuxOutput(sums.squeeze(-1) if return_aux.lse else None)
