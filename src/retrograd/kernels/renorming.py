"""The distance of two arrays, and slices scaled down to a norm. Arrays in, arrays out; must not know ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import F16, F32, dtype as torch_dtype
from .norms import norm


def dist(x: Any, y: Any, p: float) -> Any:
    """The p-norm of x - y."""
    if x.dtype.kind not in "fc":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{torch_dtype.of[x.dtype].legacy} instead.")
    off = np.subtract(x, y, out=...)
    return norm(off, p, tuple(range(off.ndim)), False, None)


def renorm(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    """The slices along `dim`, those whose p-norm is more than `maxnorm` scaled down to it."""
    wide = x.astype(F32) if x.dtype == F16 else x
    size = norm(wide, p, tuple([axis for axis in range(x.ndim) if axis != dim]), True, None)
    factor = np.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0).astype(size.dtype)
    return np.multiply(wide, factor, out=...).astype(x.dtype, copy=False)
