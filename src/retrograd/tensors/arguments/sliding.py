"""What functions that slide a window over an image share: its sizes as callers give them. Must not know operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state.base import TensorBase


def ints(name: str, argument: str, value: Any) -> tuple[int, ...]:
    """An int as a tuple of one, several as a tuple. Raises TypeError for what is neither."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    for each in given:
        if isinstance(each, TensorBase) and not each._array.ndim and each._array.dtype.kind in "iu":
            continue
        if isinstance(each, (TensorBase, bool)) or not isinstance(each, (int, np.integer)):
            raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, not {type(value).__name__}")
    return tuple(map(int, given))


def spelled(dims: int) -> str:
    """A number of dimensions as a word."""
    return ("one", "two", "three")[dims - 1]


def shown(sizes: Any, between: str = "x") -> str:
    """Sizes as PyTorch writes them in words: 3x8x8."""
    return between.join(map(str, sizes))
