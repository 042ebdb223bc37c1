"""Norms, log-sum-exp and softmax: reductions that guard against overflow, or scale. Must not know ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import F16, F32
from .reductions import refuse

_add, _maximum = np.add.reduce, np.maximum.reduce


def _shift(x: Any, axes: Any) -> Any:
    """The largest element, where it is finite: what to subtract so that no exponential overflows."""
    real = x.real if x.dtype.kind == "c" else x
    largest = _maximum(real, axis=axes, keepdims=True, initial=-math.inf)
    return np.where(np.isfinite(largest), largest, np.zeros((), real.dtype))


def logsumexp(x: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """log(sum(exp(x))) over `axes`, which neither overflows nor loses small numbers."""
    wide = x.astype(F32) if x.dtype == F16 else x
    largest = _shift(wide, axes)
    sums = _add(np.exp(wide - largest), axis=axes, keepdims=True, out=...)
    result = np.add(np.log(sums), largest, out=...)
    return (result if keepdim else np.squeeze(result, axes)).astype(x.dtype, copy=False)


def _exponents(name: str, x: Any, dim: int) -> Any:
    """x less its largest element along `dim`, in a type of enough precision."""
    if x.dtype.kind != "f":
        last = "lastdim_" if dim == max(x.ndim, 1) - 1 else ""
        refuse(x.dtype, f"{name}_{last}kernel_impl", "biuc")
    if x.dtype == F16:
        x = x.astype(F32)
    return np.subtract(x, _maximum(x, axis=dim, keepdims=True), out=...) if x.size else x.copy()


def softmax(x: Any, dim: int) -> Any:
    """exp(x), scaled to a sum of 1 along `dim`."""
    e = _exponents("softmax", x, dim)
    np.exp(e, out=e)
    np.divide(e, _add(e, axis=dim, keepdims=True), out=e)
    return e if e.dtype is x.dtype else e.astype(x.dtype)


def log_softmax(x: Any, dim: int) -> Any:
    """The logarithm of softmax, without the rounding of taking it afterwards."""
    e = _exponents("log_softmax", x, dim)
    np.subtract(e, np.log(_add(np.exp(e), axis=dim, keepdims=True)), out=e)
    return e if e.dtype is x.dtype else e.astype(x.dtype)


def norm(x: Any, p: float, axes: tuple[int, ...], keepdim: bool, dtype: Any) -> Any:
    """(sum |x|^p)^(1/p) over `axes`; for p = 0 how many are not zero, for p = ±inf the largest or smallest |x|."""
    if dtype is not None and dtype != x.dtype:
        x = x.astype(dtype)
    final = x.real.dtype
    size = np.abs(x.astype(F32) if x.dtype == F16 else x, out=...)
    if p in (math.inf, -math.inf):
        reduce: Any = _maximum if p > 0 else np.minimum.reduce
        result = reduce(size, axis=axes, keepdims=keepdim, out=...)
    elif p == 0:
        result = np.asarray(np.count_nonzero(size, axis=axes, keepdims=keepdim))
    elif p == 1:
        result = _add(size, axis=axes, keepdims=keepdim, out=...)
    elif p == 2:
        result = _add(np.square(size, out=size), axis=axes, keepdims=keepdim, out=...)
        np.sqrt(result, out=result)
    else:
        result = np.power(_add(np.power(size, p), axis=axes, keepdims=keepdim, out=...), 1.0 / p, out=...)
    return result.astype(final, copy=False)
