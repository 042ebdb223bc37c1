"""The products of matrices that machine code computes, if there is any: those that are neither small nor large.

NumPy calls a BLAS, which shares such products among threads that wait for each other. The docstring of
`compilation/eager/multiplying.py` says what that costs.
"""

from __future__ import annotations

from typing import Any

from ...foundations.dtypes import F32, F64, Array
from ..native import threads
from ..native.served import served
from ..thresholds import PRODUCT_COLUMNS, PRODUCT_DEPTH, PRODUCT_MOST, PRODUCT_ROWS, PRODUCT_SERVED


def product(x: Array, y: Array) -> Any:
    """The product of two matrices, or of two stacks of matrices, by machine code; None if NumPy is to compute it."""
    dtype, (m, k), n = x.dtype, x.shape[-2:], y.shape[-1]
    if (dtype is not F32 and dtype is not F64) or y.dtype is not dtype or x.ndim != y.ndim or (
            m < PRODUCT_ROWS or n < PRODUCT_COLUMNS or not 16 <= k <= PRODUCT_DEPTH or threads.available() < 2):
        return None
    work = m * n * k
    if work > PRODUCT_MOST or work * (len(x) if x.ndim == 3 else 1) < PRODUCT_SERVED:
        return None
    return served(product, x, y)
