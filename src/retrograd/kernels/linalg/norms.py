"""Norms, the distance of two arrays, and slices scaled down to a norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes import dtype as torch_dtype
from ..elementwise.elementary import widened
from ..rows import sums, sums_of_squares

_maximum = np.maximum.reduce


def norm(x: Any, p: float, axes: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    """(sum |x|^p)^(1/p) over `axes`. For p = 0 it counts the nonzero elements; for p = ±inf it is the extreme |x|."""
    if dtype is not None and dtype != x.dtype:
        x = x.astype(dtype)
    final = x.real.dtype
    wide = widened(x)
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


def dist(x: Any, y: Any, p: float) -> Any:
    """The p-norm of x - y."""
    if x.dtype.kind not in "fc":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{torch_dtype.of[x.dtype].legacy} instead.")
    off = np.subtract(x, y, out=...)
    return norm(off, p, tuple(range(off.ndim)), False, None)


def renorm(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """The slices along `dim`. A slice whose p-norm exceeds `maxnorm` is scaled down to that norm."""
    wide = widened(x)
    size = norm(wide, p, tuple([axis for axis in range(x.ndim) if axis != dim]), True, None)
    factor = np.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0).astype(size.dtype)
    return np.multiply(wide, factor, out=...).astype(x.dtype, copy=False)
