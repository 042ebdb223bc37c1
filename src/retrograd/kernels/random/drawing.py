"""The shared parts of all draws: uniform numbers from [0, 1), and casts as in C++."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .twister import Twister

__all__ = ["rounded", "unit32", "unit64"]

Array = NDArray[Any]

_LOW_24_BITS, _TO_UNIT_24 = np.uint32(2**24 - 1), np.float32(2.0**-24)
_LOW_53_BITS, _TO_UNIT_53 = np.uint64(2**53 - 1), np.float64(2.0**-53)


def unit32(generator: Twister, count: int) -> NDArray[np.float32]:
    """`count` float32 numbers from [0, 1), with one word each."""
    words = generator.random32(count)
    words &= _LOW_24_BITS
    # Converted in place, because new memory costs as much as the draw; from signed numbers, because that is faster.
    unit = words.view(np.float32)
    unit[...] = words.view(np.int32)
    unit *= _TO_UNIT_24
    return unit


def unit64(generator: Twister, count: int) -> NDArray[np.float64]:
    """`count` float64 numbers from [0, 1), with two words each."""
    numbers = generator.random64(count)
    numbers &= _LOW_53_BITS
    unit = numbers.view(np.float64)
    unit[...] = numbers.view(np.int64)
    unit *= _TO_UNIT_53
    return unit


def rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values cast to `dtype` as in C++. PyTorch converts float64 to float16 only through float32."""
    if values.dtype == dtype:
        return values
    with np.errstate(all="ignore"):
        return (values.astype(np.float32) if dtype == np.float16 else values).astype(dtype)
