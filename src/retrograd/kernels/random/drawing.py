"""The shared parts of all draws: uniform numbers from [0, 1), and casts as in C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import is_half
from .twister import Twister

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy.typing takes a while to import

Array = np.ndarray[Any, np.dtype[Any]]

_LOW_24_BITS, _TO_UNIT_24 = np.uint32(2**24 - 1), np.float32(2.0**-24)
LOW_53_BITS, _TO_UNIT_53 = np.uint64(2**53 - 1), np.float64(2.0**-53)


def unit32(generator: Twister, count: int) -> NDArray[np.float32]:
    """`count` float32 numbers from [0, 1), with one word each."""
    return _unit(generator.random32(count), _LOW_24_BITS, _TO_UNIT_24, np.int32)


def unit64(generator: Twister, count: int) -> NDArray[np.float64]:
    """`count` float64 numbers from [0, 1), with two words each."""
    return _unit(generator.random64(count), LOW_53_BITS, _TO_UNIT_53, np.int64)


def _unit(words: Array, mask: Any, scale: Any, signed: type) -> Array:
    """The bits of the words under the mask, times the scale, written over the words. `signed` is the type of ints."""
    words &= mask
    # Converted in place, because new memory costs as much as the draw; from signed numbers, because that is faster.
    unit: Array = words.view(type(scale))
    unit[...] = words.view(signed)
    unit *= scale
    return unit


def rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values cast to `dtype` as in C++. PyTorch converts float64 to float16 and bfloat16 only through float32."""
    if values.dtype == dtype:
        return values
    with np.errstate(all="ignore"):
        return (values.astype(np.float32) if is_half(dtype) else values).astype(dtype)
