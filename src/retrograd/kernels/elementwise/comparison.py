"""Elementwise limits and closeness of arrays."""

from __future__ import annotations

import math
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import BOOL_, FLOATING, Array, category, default_floating, dtype as torch_dtype, result_dtype
from ...foundations.scalars import COMMON, check_convertible, converted
from ..layout import empty_as
from ..options import converts
from . import choosing
from .arithmetic import promoted
from .elementary import delivered


@converts(1, 2)
def clamp_number(x: Array, min: Any, max: Any) -> Any:
    """x, limited to at least `min` and at most `max`. These are Python numbers, and one of them may be None."""
    if x.dtype.kind != "f":
        x = x if min is None else promoted(x, min)
        x = x if max is None else promoted(x, max)
        if x.dtype.kind == "b":
            which = "_max" if min is None else "_min" if max is None else ""
            raise NotImplementedError(f"\"clamp{which}_scalar_cpu\" not implemented for 'Bool'")
    if x.dtype.kind == "f":                     # a float array takes a real number as one of its own dtype
        for limit in (min, max):
            if limit is not None and not -COMMON <= limit <= COMMON:
                check_convertible(limit, x.dtype)
        return choosing.limited(x, -math.inf if min is None else min, math.inf if max is None else max)
    min, max = [None if limit is None else converted(limit, x.dtype) for limit in (min, max)]
    if min is None:
        return np.minimum(x, max, out=...)
    x = np.maximum(x, min, out=...)
    return x if max is None else np.minimum(x, max, out=x)


def clamp(x: Array, min: Array | None, max: Array | None) -> Any:
    """x, limited to at least `min` and at most `max`. These are arrays, and one of them may be None."""
    if min is not None:
        x = np.maximum(x, min, out=...)
    return x if max is None else np.minimum(x, max, out=...)


def where(condition: Array, x: Array, y: Array) -> Any:
    """x if the condition holds, else y, in their common dtype."""
    if x.dtype != y.dtype:
        dtype = result_dtype([(x.dtype, x.ndim > 0), (y.dtype, y.ndim > 0)])
        x, y = x.astype(dtype), y.astype(dtype)
    return choosing.where(condition, x, y)


def isclose(x: Array, y: Array, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Whether abs(x - y) <= atol + abs(rtol * y). An infinity is close only to itself."""
    close = np.equal(x, y, out=...)
    if category(x.dtype) >= FLOATING and equal_nan:
        close |= np.logical_and(np.isnan(x), np.isnan(y))
    if rtol == 0 and atol == 0:
        return close
    if category(x.dtype) < FLOATING:
        x, y = x.astype(default_floating()), y.astype(default_floating())
    gap = np.abs(x - y)
    return np.logical_or(close, np.logical_and(np.isfinite(gap), gap <= atol + np.abs(rtol * y)), out=...)


def isposinf(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """Whether x is +inf."""
    return np.equal(x, np.inf, out=out) if x.dtype.kind == "f" else np.not_equal(x, x, out=out)


def isneginf(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """Whether x is -inf."""
    return np.equal(x, -np.inf, out=out) if x.dtype.kind == "f" else np.not_equal(x, x, out=out)


def isreal(x: Array, *, out: Array | EllipsisType = ...) -> Any:
    """Whether the imaginary part of x is absent or 0."""
    if x.dtype.kind == "c":
        return np.equal(x.imag, 0, out=out)
    real = empty_as(x, BOOL_) if out is ... else out
    real[...] = True
    return real


def copysign_number(x: Array, number: Any) -> Any:
    """The absolute values of x with the sign of a number."""
    if isinstance(number, complex):
        raise NotImplementedError("\"copysign_cpu\" not implemented for "
                                  f"'{torch_dtype.of[promoted(x, number).dtype].legacy}'")
    return np.copysign(x, float(number))


def heaviside(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
    """0 for a negative x, 1 for a positive x, y for x = 0."""
    return delivered(np.where(x == 0, y, (x > 0).astype(x.dtype)), out)
