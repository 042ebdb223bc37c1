"""Norms and log-sum-exp: reductions that guard against overflow, or scale. Must not know ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import F16, F32
from .rows import LARGE, extremes, sums, sums_of_squares

_maximum = np.maximum.reduce


def _shift(x: Any, axes: Any) -> Any:
    """The largest element, where it is finite: what to subtract so that no exponential overflows."""
    real = x.real if x.dtype.kind == "c" else x
    if real.size < LARGE:
        largest = _maximum(real, axis=axes, keepdims=True, initial=-math.inf)
    else:
        largest = extremes(real, axes, True, True)
    return np.where(np.isfinite(largest), largest, np.zeros((), real.dtype))


def logsumexp(x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """log(sum(exp(x))) over `axes`, which neither overflows nor loses small numbers."""
    wide = x.astype(F32) if x.dtype == F16 else x
    largest = _shift(wide, axes)
    exponentials = np.subtract(wide, largest, out=...)
    np.exp(exponentials, out=exponentials)
    result = np.add(np.log(sums(exponentials, axes, True)), largest, out=...)
    return (result if keepdim else np.squeeze(result, axes)).astype(x.dtype, copy=False)


def norm(x: Any, p: float, axes: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    """(sum |x|^p)^(1/p) over `axes`; for p = 0 how many are not zero, for p = ±inf the largest or smallest |x|."""
    if dtype is not None and dtype != x.dtype:
        x = x.astype(dtype)
    final = x.real.dtype
    wide = x.astype(F32) if x.dtype == F16 else x
    if p == 2 and wide.dtype.kind == "f":
        result = sums_of_squares(wide, axes, keepdim)
        return np.sqrt(result, out=result).astype(final, copy=False)
    size = np.abs(wide, out=...)
    if p in (math.inf, -math.inf):
        reduce: Any = _maximum if p > 0 else np.minimum.reduce
        result = reduce(size, axis=axes, keepdims=keepdim, out=...)
    elif p == 0:
        result = np.asarray(np.count_nonzero(size, axis=axes, keepdims=keepdim))
    elif p == 1:
        result = sums(size, axes, keepdim)
    elif p == 2:
        result = sums(np.square(size, out=size), axes, keepdim)
        np.sqrt(result, out=result)
    else:
        result = np.power(sums(np.power(size, p, out=...), axes, keepdim), 1.0 / p, out=...)
    return result.astype(final, copy=False)
