"""Numbers about to be rounded to a type of ml_dtypes, so that the rounding gives PyTorch's numbers.

PyTorch rounds from float32. `float8_e4m3fn` has no infinity: a number beyond the largest becomes the largest. The type
`float8_e8m0fnu` has no sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundations.dtypes import NARROW, Array, float8_e4m3fn, float8_e8m0fnu

_LARGEST, _SMALLEST = np.float32(448), np.float32(2.0**-127)


def in_steps(x: Array, half: np.dtype[Any] | None) -> Any:
    """float32 numbers as they are after a step that is rounded to a type of 16 bits. None rounds nothing."""
    return x if half is None else x.astype(half).astype(np.float32)


def before_rounding(array: Array, dtype: np.dtype[Any]) -> Array:
    """What to convert to `dtype` in place of `array`.

    These are float32 numbers in the range of a narrow type, and float32 numbers between a narrow type and integers.
    """
    if dtype not in NARROW or array.dtype is dtype:
        return array.astype(np.float32) if array.dtype in NARROW and np.dtype(dtype).kind in "iu" else array
    exact = (array.real if array.dtype.kind == "c" else array).astype(np.float32)
    if dtype.name == float8_e4m3fn.name:
        np.clip(exact, -_LARGEST, _LARGEST, out=exact)
    elif dtype.name == float8_e8m0fnu.name:
        np.abs(exact, out=exact)
        np.maximum(exact, _SMALLEST, out=exact)
    return exact
