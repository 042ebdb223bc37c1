"""Log-sum-exp without overflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..elementwise.elementary import widened
from ..rows import LARGE, extremes, sums

_maximum = np.maximum.reduce


def _shift(x: Any, axes: Any) -> Any:
    """The largest element if it is finite, else 0. Subtracting it keeps the exponentials from overflow."""
    real = x.real if x.dtype.kind == "c" else x
    if real.size < LARGE:
        largest = _maximum(real, axis=axes, keepdims=True, initial=-math.inf)
    else:
        largest = extremes(real, axes, True, True)
    return np.where(np.isfinite(largest), largest, np.zeros((), real.dtype))


def logsumexp(x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """log(sum(exp(x))) over `axes`, without overflow and without loss of small numbers."""
    wide = widened(x)
    largest = _shift(wide, axes)
    exponentials = np.subtract(wide, largest, out=...)
    np.exp(exponentials, out=exponentials)
    result = np.add(np.log(sums(exponentials, axes, True)), largest, out=...)
    return (result if keepdim else np.squeeze(result, axes)).astype(x.dtype, copy=False)
