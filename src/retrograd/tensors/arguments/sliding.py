"""The arguments that functions with a sliding window share: sizes as callers give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..state.base import TensorBase


def ints(name: str, argument: str, value: Any) -> tuple[int, ...]:
    """One int or several, as a tuple. Raises TypeError for any other value."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    for each in given:
        if isinstance(each, TensorBase) and not each._array.ndim and each._array.dtype.kind in "iu":
            continue
        if isinstance(each, (TensorBase, bool)) or not isinstance(each, (int, np.integer)):
            raise TypeError(f"{name}(): argument '{argument}' must be tuple of ints, not {type(value).__name__}")
    return tuple(map(int, given))


def spelled(dims: int) -> str:
    """A number of dimensions, spelled as a word."""
    return ("one", "two", "three")[dims - 1]


def shown(sizes: Any, between: str = "x") -> str:
    """Sizes as PyTorch writes them in words: 3x8x8."""
    return between.join(map(str, sizes))
