"""``x * scale + shift`` rounded once, as the fused instruction does it that PyTorch's compiler chooses.

NumPy has no fused multiply-add. What is here gets the same bits from ordinary float64 arithmetic; it must not know what
the numbers are for. The means are Dekker's exact product (1971), Knuth's exact sum, and rounding to odd, after which
a second rounding does no harm (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
using rounding to odd", 2008). Factors above 2**995 and results that lose bits by underflow are outside.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["multiply_add"]

Doubles = NDArray[np.float64]
FloatT = TypeVar("FloatT", np.float32, np.float64)

# A chunk of float64 that stays in the cache through the two dozen steps.
_CHUNK = 8192
# Splits a double into two halves of 26 bits (Veltkamp).
_SPLITTER = 2.0**27 + 1


def multiply_add(x: NDArray[FloatT], scale: float, shift: float) -> NDArray[FloatT]:
    """``x * scale + shift`` for a 1-d float32 or float64 array. The numbers are first rounded to the array's dtype."""
    scalar = x.dtype.type
    factor, offset = float(scalar(scale)), float(scalar(shift))
    if offset == 0:
        return x if factor == 1 else np.multiply(x, scalar(factor))
    if abs(math.frexp(factor)[0]) == 0.5 or not (math.isfinite(factor) and math.isfinite(offset)):
        # The product is exact, or there is nothing to round.
        return x * scalar(factor) + scalar(offset)
    fused = _float32_fused if x.dtype == np.float32 else _float64_fused
    result = np.empty_like(x)
    for start in range(0, x.size, _CHUNK):
        result[start : start + _CHUNK] = fused(x[start : start + _CHUNK].astype(np.float64), factor, offset)
    return result


def _float32_fused(x: Doubles, factor: float, offset: float) -> Doubles:
    # The product of two 24-bit significands is exact in 53.
    return _sum_rounded_to_odd(x * factor, offset)


def _float64_fused(x: Doubles, factor: float, offset: float) -> Doubles:
    product, product_tail = _exact_product(x, factor)
    high, high_tail = _exact_sum(product_tail, offset)
    total, total_tail = _exact_sum(product, high)
    return total + _sum_rounded_to_odd(high_tail, total_tail)


def _exact_sum(a: Doubles, b: Doubles | float) -> tuple[Doubles, Doubles]:
    """The rounded sum and what the rounding took away."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _exact_product(a: Doubles, b: float) -> tuple[Doubles, Doubles]:
    """The rounded product and what the rounding took away."""
    product = a * b
    shifted = a * _SPLITTER
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    b_high = b * _SPLITTER - (b * _SPLITTER - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _sum_rounded_to_odd(a: Doubles, b: Doubles | float) -> Doubles:
    """The sum if it is exact, else that one of its two neighbours whose last bit is 1."""
    total, tail = _exact_sum(a, b)
    bits = total.view(np.int64)
    towards_tail = np.where((tail > 0) == (total > 0), 1, -1)
    odd: Doubles = np.where((tail != 0) & (bits & 1 == 0), bits + towards_tail, bits).view(np.float64)
    return odd
