"""Dropout, as a function."""

from __future__ import annotations

from typing import Any

from ...kernels.random import dropout_mask
from ...tensor.generator import twister_of
from ...tensor.state import plain

__all__ = ["check_probability", "dropout"]


def check_probability(p: float) -> None:
    """Refuse what is no probability."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Sets each element to 0 with probability `p` and scales the others by 1 / (1 - p); outside of training nothing.

    It draws what PyTorch draws. Raises ValueError for a `p` outside of [0, 1].
    """
    check_probability(p)
    if not training or p == 0.0 or not input._array.size:
        return input
    if p == 1.0:
        mask: Any = plain(input._array.dtype.type(0).reshape(()))
    else:
        mask = plain(dropout_mask(twister_of("dropout", None), input._array.shape, input._array.dtype, p))
    return input.mul_(mask) if inplace else input * mask
