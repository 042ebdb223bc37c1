"""The masks and shifts of dropout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, is_half
from ...foundations.errors import noted

# The negative of the limit of selu far below 0.
_ALPHA = 1.7580993408473766


def refuse_integers(dtype: np.dtype[Any], name: str) -> None:
    """Raise RuntimeError for dtypes that cannot hold the noise. `name` is PyTorch's name of the noise's dtype."""
    if dtype.kind in "biu":
        raise noted(
            RuntimeError(f"result type Float can't be cast to the desired output type {name}"),
            instead="convert with .float() first")


def affine(noise: Array, p: float) -> tuple[Any, Any]:
    """The slope and the shift with which alpha dropout keeps the mean and the variance of selu's results."""
    factor = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    wide = np.float32 if is_half(noise.dtype) else noise.dtype.type
    shift = ((noise - 1).astype(wide) * wide(_ALPHA * factor)).astype(noise.dtype)
    shift = (shift.astype(wide) + wide(_ALPHA * factor * p)).astype(noise.dtype)
    return (noise.astype(wide) * wide(factor)).astype(noise.dtype), shift


def native_dropout(x: Array, mask: Array, scale: float | None) -> Any:
    """x where the mask keeps it, scaled, and the mask. Without a scale the result is a copy of x."""
    return (x.copy() if scale is None else np.multiply(x, mask) * scale), mask
