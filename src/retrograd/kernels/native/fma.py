"""``x * scale + shift`` with a single rounding, as by the fused instruction that PyTorch's compiler chooses.

NumPy has no fused multiply-add. This module gets the same bits from ordinary float64 arithmetic. It uses Dekker's exact
product (1971), Knuth's exact sum, and rounding to odd, after which a second rounding does no harm (Boldo and Melquiond,
"Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). The bits may differ for
factors above 2**995 and for results that underflow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..thresholds import FMA_CHUNK

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy.typing takes a while to import

Doubles = np.ndarray[Any, np.dtype[np.float64]]
FloatT = TypeVar("FloatT", np.float32, np.float64)

# Splits a double into two halves of 26 bits (Veltkamp).
_SPLITTER = 2.0**27 + 1
_LARGEST_FACTOR = 2.0**995
# The bits of a double that a normal float32 lacks, and the highest of these bits.
_BELOW_FLOAT32 = 2**29 - 1
_HALF_OF_FLOAT32 = 2**28


@np.errstate(all="ignore")
def multiply_add(x: NDArray[FloatT], scale: float, shift: float) -> NDArray[FloatT]:
    """``x * scale + shift`` in place, for a 1-d float32 or float64 array. The numbers are rounded to its dtype."""
    scalar = x.dtype.type
    factor, offset = scalar(scale), scalar(shift)
    if (offset == 0 or abs(math.frexp(factor)[0]) == 0.5    # the factor is a power of two, so products are exact
            or not (abs(factor) < _LARGEST_FACTOR and math.isfinite(offset))):
        # One rounding is then as good as two. Adding zero matters too: it turns -0 into 0.
        if factor != 1:
            x *= factor
        x += offset
        return x
    fused = _float32_fused if x.dtype == np.float32 else multiply_add_arrays
    for start in range(0, x.size, FMA_CHUNK):
        part = x[start : start + FMA_CHUNK]
        part[...] = fused(part.astype(np.float64), float(factor), float(offset))
    return x


def _float32_fused(x: Doubles, factor: float, offset: float) -> Doubles:
    """The sum as a float64 that a second rounding turns into the correctly rounded float32."""
    # The product of two 24-bit significands is exact in 53 bits. The second rounding can only go wrong at a tie.
    product = x * factor
    total = product + offset
    ties = np.flatnonzero((total.view(np.int64) & _BELOW_FLOAT32) == _HALF_OF_FLOAT32)
    if ties.size:
        total[ties] = _sum_rounded_to_odd(product[ties], offset)
    return total


def multiply_add_arrays(x: Doubles, factor: float, offset: Doubles | float) -> Doubles:
    """``x * factor + offset`` for float64 arrays. The offset is a number, or an array of the same shape."""
    product, product_tail = _exact_product(x, factor)
    high, high_tail = _exact_sum(product_tail, offset)
    total, total_tail = _exact_sum(product, high)
    return total + _sum_rounded_to_odd(high_tail, total_tail)


def _exact_sum(a: Doubles, b: Doubles | float) -> tuple[Doubles, Doubles]:
    """The rounded sum, and the rounding error."""
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _exact_product(a: Doubles, b: float) -> tuple[Doubles, Doubles]:
    """The rounded product, and the rounding error."""
    product = a * b
    shifted = a * _SPLITTER
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    b_high = b * _SPLITTER - (b * _SPLITTER - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _sum_rounded_to_odd(a: Doubles, b: Doubles | float) -> Doubles:
    """The sum if it is exact, or else the one of its two neighbors whose last bit is 1."""
    total, tail = _exact_sum(a, b)
    bits = total.view(np.int64)
    # Move by one unit in the last place: away from zero if the tail has the sign of the sum, else towards zero.
    towards_tail = ((bits ^ tail.view(np.int64)) >> 63) | 1
    bits += towards_tail * ((tail != 0) & (bits & 1 == 0))
    return total
