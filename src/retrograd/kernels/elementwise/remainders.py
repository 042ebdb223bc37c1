"""Quotients of floats rounded to whole numbers, and exact remainders.

NumPy calls the C library for each element. This module divides, rounds, and multiplies back without an error, for all
elements at once. The method is exact as long as all quotients are moderate; otherwise NumPy computes the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F32, F64, Array
from ..thresholds import REMAINDERS, REMAINDERS_PIECE
from .choosing import signed, where

# Quotients below this have exact products in the steps below, and are exact in single precision themselves.
_MODERATE = 2.0 ** 24
_UPPER_HALF = np.array(-1 << 27, np.int64)                  # the first 26 bits of a significand


def _in_pieces(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A version of the kernel that splits large arrays into pieces whose intermediates fit the cache."""

    @wraps(kernel)
    def call(x: Array, y: Array, out: Array | EllipsisType) -> Any:
        one = not y.ndim
        alike = one or (y.shape == x.shape and y.flags.c_contiguous)
        if x.size <= 2 * REMAINDERS_PIECE or not x.flags.c_contiguous or not alike:
            return kernel(x, y, out)
        result = np.empty_like(x)
        flat, dividend, divisor = result.reshape(-1), x.reshape(-1), y if one else y.reshape(-1)
        for start in range(0, x.size, REMAINDERS_PIECE):
            piece = slice(start, start + REMAINDERS_PIECE)
            kernel(dividend[piece], y if one else divisor[piece], flat[piece])
        return result if out is ... else np.positive(result, out=out)

    return call


@_in_pieces
def fmod(x: Array, y: Array, out: Array | EllipsisType) -> Any:
    """The remainder when the quotient is rounded towards 0."""
    found = _whole_and_rest(x, y)
    if found is None:
        return np.fmod(x, y, out=out)
    return found[1] if out is ... else np.positive(found[1], out=out)


@_in_pieces
def remainder(x: Array, y: Array, out: Array | EllipsisType) -> Any:
    """The remainder when the quotient is rounded down. A zero has the sign of x."""
    found = _whole_and_rest(x, y)
    if found is None:
        if x.dtype.kind in "iu":
            return np.remainder(x, y, out=out)
        rest = np.remainder(x, y, out=...)
        np.copysign(rest, x, out=rest, where=np.equal(rest, 0))
        return rest if out is ... else np.positive(rest, out=out)
    rest = found[1]
    return np.add(rest, where(_beyond(rest, y), y, -0.0), out=rest if out is ... else out)


@_in_pieces
def floor_divide(x: Array, y: Array, out: Array | EllipsisType) -> Any:
    """The quotient rounded down."""
    found = _whole_and_rest(x, y)
    if found is None:
        return np.floor_divide(x, y, out=out)
    whole, rest = found
    np.subtract(whole, _beyond(rest, y), out=whole)
    return whole.astype(x.dtype, copy=False) if out is ... else np.positive(whole, out=out, casting="same_kind")


def _beyond(rest: Array, y: Array) -> Any:
    """Where rounding towards 0 differs from rounding down."""
    return np.logical_and((rest < 0) != (y < 0), rest != 0)


def _whole_and_rest(x: Array, y: Array) -> tuple[Any, Any] | None:
    """The quotient rounded towards 0, in float64, and the remainder. None if the exact method does not apply."""
    dtype = x.dtype
    if x.size < REMAINDERS or y.dtype is not dtype or (dtype is not F32 and dtype is not F64):
        return None
    if dtype is F32:
        x, y = x.astype(F64), y.astype(F64)                 # float64 holds the product with a moderate number exactly
    whole = np.divide(x, y)
    np.trunc(whole, out=whole)
    if not (whole.max() < _MODERATE and whole.min() > -_MODERATE):
        return None
    if dtype is F32:
        rest = x - whole * y
    else:
        upper = np.bitwise_and(y.view(np.int64), _UPPER_HALF, out=...).view(F64)
        rest = x - whole * upper  # the product with either half is exact, and the difference too
        rest -= whole * (y - upper)
    if not math.isfinite(np.add.reduce(rest, axis=None)):   # y was infinite
        return None
    wrong = np.logical_and(rest != 0, (rest < 0) != (x < 0))
    if wrong.any():                                         # the quotient was rounded up to the next whole number
        sign = np.copysign(1.0, whole[wrong])
        rest[wrong] += np.copysign(np.broadcast_to(y, rest.shape)[wrong], np.broadcast_to(x, rest.shape)[wrong])
        whole[wrong] -= sign
    return whole, signed(rest.astype(dtype, copy=False), x.astype(dtype, copy=False))
