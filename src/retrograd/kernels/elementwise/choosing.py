"""Choose elementwise between two arrays, clamp arrays to limits, and read and write what a mask selects.

np.where branches at each element, which takes twenty times as long if the processor cannot predict the branches. This
module multiplies the bits of the numbers by 0 or 1 instead, which is exact for all numbers, including infinities and
nan.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, F64, Array
from ..thresholds import MASKED

_BITS: dict[Any, Any] = {F16: np.dtype(np.int16), F32: np.dtype(np.int32), F64: np.dtype(np.int64)}


def where(condition: Any, x: Any, y: Any) -> Any:
    """x if the condition holds, else y, as np.where. Either may be a Python number."""
    if type(condition) is np.ndarray and condition.size >= MASKED and condition.dtype.kind == "b":
        dtype = getattr(x if type(x) is np.ndarray else y, "dtype", None)
        bits = _BITS.get(dtype)
        if bits is not None and _fits(x, dtype) and _fits(y, dtype):
            return _chosen(condition, x, y, bits).view(dtype)
    return np.where(condition, x, y)


def where_into(out: Array, condition: Any, x: Any) -> Any:
    """Write x, an array of the dtype of `out` or a number that fits it, to where the condition is true."""
    bits = _BITS.get(out.dtype)
    if bits is None or out.size < MASKED or not out.flags.forc or not _fits(x, out.dtype):
        np.copyto(out, x, where=condition, casting="unsafe")
    else:
        whole = out.view(bits)
        change = np.bitwise_xor(whole, _bits(x, out.dtype, bits))
        np.bitwise_xor(whole, np.multiply(change, condition, out=change), out=whole)
    return out


def limited(x: Array, low: float, high: float, *, out: Any = ...) -> Any:
    """Floats limited to [low, high]. A nan and the sign of a zero are kept. Quicker than maximum and minimum."""
    return x.clip(low, high, out=out)


def signed(out: Array, x: Array) -> Any:
    """Write the sign of each x to `out`. Each element of `out` is +0.0, or positive, or has the sign already."""
    bits = _BITS.get(out.dtype)
    if bits is None or x.dtype is not out.dtype or x.shape != out.shape:
        return np.copysign(out, x, out=out)
    sign = np.bitwise_and(x.view(bits), np.iinfo(bits).min, out=...)
    np.bitwise_or(out.view(bits), sign, out=out.view(bits))
    return out


def _fits(x: Any, dtype: Any) -> bool:
    return x.dtype is dtype if type(x) is np.ndarray else type(x) in (int, float)


def _bits(x: Any, dtype: np.dtype[Any], bits: np.dtype[Any]) -> Any:
    return (x if type(x) is np.ndarray else np.array(x, dtype)).view(bits)


def _chosen(condition: Array, x: Any, y: Any, bits: np.dtype[Any]) -> Any:
    """The bits of the result."""
    if _is_zero(y):
        return np.multiply(condition, x.view(bits))
    if _is_zero(x):
        return np.multiply(np.logical_not(condition), y.view(bits))
    dtype = x.dtype if type(x) is np.ndarray else y.dtype
    y = _bits(y, dtype, bits)
    change = np.bitwise_xor(_bits(x, dtype, bits), y, out=...)
    as_result = change.shape == condition.shape and change.flags.c_contiguous
    change = np.multiply(condition, change, out=change if as_result else ...)
    return np.bitwise_xor(change, y, out=change)


def _is_zero(x: Any) -> bool:
    """Whether x is a number with all bits 0. The number -0.0 has a sign bit."""
    return type(x) is not np.ndarray and x == 0 and math.copysign(1, x) > 0


# The elements that a mask selects. NumPy finds the indices of a mask without branches, and reads and writes by indices
# at full speed.


def taken(x: Array, mask: Array) -> Any:
    """The elements where the mask is true: x[mask]. The mask has the shape of `x`."""
    return x.reshape(-1).take(np.flatnonzero(mask)) if x.size >= MASKED else x[mask]


def write(out: Array, mask: Array, values: Any) -> None:
    """Write values of the dtype of `out`, or a single value, to where the mask is true. The mask has the same shape."""
    if out.size < MASKED or not out.flags.c_contiguous:
        out[mask] = values
    elif np.size(values) == 1:
        where_into(out, mask, values if isinstance(values, (int, float)) else values.reshape(()))
    else:
        out.reshape(-1)[np.flatnonzero(mask)] = values
