"""torch.nn.attention.bias: causal masks that are made only where they are needed."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any

from ...foundations.devices import DeviceLike
from ...foundations.errors import warn
from ...tensors.functions.creation.creation import ones
from ...tensors.tensor import Tensor
from ..functional.attention import scaled_dot_product_attention

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the triangle of a mask that is no square lies."""

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


class CausalBias(Tensor):
    """A causal mask for `scaled_dot_product_attention`, of `seq_len_q` queries and `seq_len_kv` keys.

    UPPER_LEFT hides key j from query i if j > i, as `is_causal=True` does. LOWER_RIGHT lets the last query see all
    keys. The tensor shows the mask that it stands for. Raises AssertionError if `variant` is no `CausalVariant`.
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warn("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!", UserWarning)

    def _materialize(self, device: DeviceLike | None = None) -> Tensor:
        """The mask of bools (seq_len_q, seq_len_kv). False hides."""
        last = self.seq_len_kv - self.seq_len_q if self.variant is CausalVariant.LOWER_RIGHT else 0
        return ones(self.seq_len_q, self.seq_len_kv, device=device).bool().tril(last)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        """Attention with the mask. All other functions see a tensor without meaning."""
        if func is scaled_dot_product_attention:
            return cls._attention(*args, **kwargs or {})
        return super().__torch_function__(func, types, args, kwargs)     # type: ignore[misc]

    @staticmethod
    def _attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None, dropout_p: float = 0.0,
                   is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor:
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        square = attn_mask.seq_len_q == attn_mask.seq_len_kv
        upper = square or attn_mask.variant is CausalVariant.UPPER_LEFT
        return scaled_dot_product_attention(query, key, value, None if upper else attn_mask._materialize(), dropout_p,
                                            upper, scale=scale, enable_gqa=enable_gqa)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return repr(self._materialize())


def _two(name: str, size: tuple[int, ...]) -> tuple[int, ...]:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return size


def causal_upper_left(*size: int) -> CausalBias:
    """The mask that hides key j from query i if j > i, of (queries, keys).

    >>> import retrograd as torch
    >>> torch.nn.attention.bias.causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])

    Raises AssertionError unless two sizes are given.
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *_two("causal_upper_left", size))


def causal_lower_right(*size: int) -> CausalBias:
    """The causal mask whose last query sees all keys, of (queries, keys).

    >>> import retrograd as torch
    >>> torch.nn.attention.bias.causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])

    Raises AssertionError unless two sizes are given.
    """
    return CausalBias(CausalVariant.LOWER_RIGHT, *_two("causal_lower_right", size))
