"""Running sums, products and extremes along a dimension. Arrays in, arrays out; must not know ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import F16, F32, I64
from .reductions import refuse


def _accumulated(ufunc: np.ufunc, x: Any, dim: int, dtype: Any) -> Any:
    """`ufunc.accumulate` in PyTorch's type: int64 for bools and ints; half precision goes by way of single."""
    if dtype is None:
        dtype = I64 if x.dtype.kind in "biu" else x.dtype
    if x.ndim == 0:
        return x.astype(dtype)
    result = ufunc.accumulate(x, dim, F32 if dtype == F16 else dtype)
    return result if result.dtype == dtype else result.astype(dtype)


def cumsum(x: Any, dim: int, dtype: Any) -> Any:
    """The sums of the elements so far along `dim`."""
    return _accumulated(np.add, x, dim, dtype)


def cumprod(x: Any, dim: int, dtype: Any) -> Any:
    """The products of the elements so far along `dim`."""
    return _accumulated(np.multiply, x, dim, dtype)


def reverse(x: Any, dim: int) -> Any:
    """`x` in the opposite order along `dim`, in memory of its own: a gradient may not have negative strides."""
    return np.array(np.flip(x, dim), order="C") if x.ndim else x


def cumextreme(x: Any, dim: int, largest: bool) -> tuple[Any, Any]:
    """The largest or smallest elements so far, and the index of the last one that equals it."""
    refuse(x.dtype, "cummax_cpu" if largest else "cummin_cpu")
    if x.ndim == 0:
        return x.copy(), np.zeros((), I64)
    values = (np.maximum if largest else np.minimum).accumulate(x, dim)
    place = np.arange(x.shape[dim], dtype=I64).reshape(-1, *[1] * (x.ndim - 1 - dim))
    found = np.where((x == values) | (x != x), place, 0)
    return values, np.maximum.accumulate(found, dim)
