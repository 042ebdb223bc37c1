"""Arithmetic of float16 and bfloat16 with the roundings of PyTorch, whose vector instructions round less often."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import F32, Array
from ..rounding import in_steps

_AT_ONCE = 32           # so many halves are what PyTorch's vector instructions take at once
_ONE_THREAD = 32768     # so many elements are split among threads


def with_scaled(combine: np.ufunc, x: Array, y: Array, factor: Any) -> Any:
    """`combine(x, factor * y)` in 16 bits. PyTorch's vector instructions round once. What is left at the end of a line
    is computed one by one, and there the product is rounded, too.
    """
    if x.shape == y.shape and x.flags.fnc and y.flags.fnc:  # columns lie one behind the other
        return with_scaled(combine, x.T, y.T, factor).T
    first, scaled = x.astype(F32), np.multiply(y.astype(F32), factor, out=...)
    total = np.asarray(combine(first, scaled))
    length = _line(x, y)
    left = 1 if length == 1 else length % _AT_ONCE if total.size > length or length <= _ONE_THREAD else 0
    if left and total.size:
        lines, *given = [np.broadcast_to(each, total.shape).reshape(-1, length) for each in (total, first, scaled)]
        first, scaled = [each[:, length - left:] for each in given]
        lines = lines.copy()
        lines[:, length - left:] = combine(first, in_steps(scaled, y.dtype))
        total = lines.reshape(total.shape)
    return total.astype(y.dtype)


def _line(x: Array, y: Array) -> int:
    """How many elements lie one behind the other in both arrays, or are one element in one of them."""
    if x.shape != y.shape:
        steps = {array.strides[-1] if array.ndim and array.shape[-1] > 1 else 0 for array in (x, y)}
        return max(1, *[array.shape[-1] for array in (x, y) if array.ndim]) if steps <= {0, x.itemsize} else 1
    length = 1
    for size, *strides in zip(reversed(x.shape), reversed(x.strides), reversed(y.strides)):
        if size != 1 and any([stride != x.itemsize * length for stride in strides]):
            break
        length *= size
    return max(length, 1)


def floor_divide_in_steps(x: Array, y: Array) -> Any:
    """The quotient rounded down. PyTorch divides what the remainder leaves, and rounds each step."""
    dtype, x, y = x.dtype, x.astype(F32), y.astype(F32)
    rest = np.fmod(x, y)
    quotient = in_steps(in_steps(x - rest, dtype) / y, dtype)
    quotient = np.where((rest != 0) & ((y < 0) != (rest < 0)), in_steps(quotient - 1, dtype), quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + 1, whole)
    whole = np.where(quotient == 0, np.copysign(0, x / y), whole)
    return np.where(y == 0, x / y, whole).astype(dtype)
