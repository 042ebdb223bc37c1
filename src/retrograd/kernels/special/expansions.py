"""Shared parts of the kernels of special functions: Chebyshev sums, and computation in pieces of double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from types import EllipsisType
from typing import Any

import numpy as np

from ...foundations.dtypes import F64, Array
from ..layout import empty_as
from ..thresholds import EXPANSION_CHUNK

_POWERS = 4


@cache
def _blocks(coefficients: Sequence[float]) -> tuple[float, Any]:
    """The Chebyshev sum as a polynomial in powers: the constant, and rows of `_POWERS` further coefficients.

    This loses no precision, because the expansions here converge fast: each coefficient is far smaller than the one
    before it.
    """
    powers = np.polynomial.chebyshev.cheb2poly(np.array(coefficients, np.longdouble)).astype(F64)
    rows = np.zeros((-(-(powers.size - 1) // _POWERS), _POWERS))
    rows.flat[:powers.size - 1] = powers[1:]
    return float(powers[0]), rows


def chebyshev(coefficients: tuple[float, ...], x: Array, low: float, high: float) -> Any:
    """The sum of coefficients times Chebyshev polynomials of x, scaled from [low, high] to [-1, 1]. x has one dim.

    Horner's rule in the last of a few powers. Its coefficients are polynomials that one matrix product computes, so
    there are a third as many calls.
    """
    constant, rows = _blocks(coefficients)
    powers = np.empty((_POWERS, x.size))
    t = np.subtract(x, (low + high) / 2, out=powers[0])
    t *= 2 / (high - low)
    for k in range(1, _POWERS):
        np.multiply(powers[k - 1], t, out=powers[k])
    parts = rows @ powers
    total = parts[-1] * powers[-1] if len(rows) > 1 else parts[-1]
    for part in parts[-2:0:-1]:
        total += part
        total *= powers[-1]
    if len(rows) > 1:
        total += parts[0]
    total += constant
    return total


def in_double(function: Callable[..., Any], text: str = "") -> Callable[..., Any]:
    """A kernel of one array that computes in float64, in flat pieces that fit the cache. It takes `out` as ufuncs do.

    The function gets a piece and the unchanged options. `text` is the docstring if the function has none.
    """

    @wraps(function)
    def call(x: Array, *options: Any, out: Array | EllipsisType = ...) -> Any:
        return _by_pieces(function, (x,), options, out)

    call.__doc__ = text or function.__doc__
    return call


def in_double_of_two(function: Callable[..., Any], text: str = "") -> Callable[..., Any]:
    """A kernel like those of `in_double`, for two arrays, which are broadcast."""

    @wraps(function)
    def call(x: Array, y: Array, *, out: Array | EllipsisType = ...) -> Any:
        return _by_pieces(function, (x, y), (), out)

    call.__doc__ = text or function.__doc__
    return call


def _by_pieces(function: Callable[..., Any], operands: Sequence[Any], options: tuple[Any, ...],
               out: Array | EllipsisType) -> Any:
    shape = operands[0].shape if len(operands) == 1 else np.broadcast_shapes(*[x.shape for x in operands])
    whole = next((x for x in operands if x.shape == shape), None)
    dtype = operands[0].dtype
    result = out if out is not ... else np.empty(shape, dtype) if whole is None else empty_as(whole, dtype)
    flat = [(x if x.shape == shape else np.broadcast_to(x, shape)).reshape(-1) for x in operands]
    if result.size <= EXPANSION_CHUNK:
        values = function(*[x.astype(F64) for x in flat], *options)
    else:
        values = np.empty(result.size, dtype)
        for start in range(0, values.size, EXPANSION_CHUNK):
            piece = slice(start, start + EXPANSION_CHUNK)
            values[piece] = function(*[x[piece].astype(F64) for x in flat], *options)
    result[...] = values.reshape(shape)
    return result


def by_parts(x: Array, *parts: tuple[Any, Callable[[Any], Any]]) -> Any:
    """For each element, the value of the function whose condition holds, or nan. A part is a condition and a function.

    All arrays have one dimension. A function is only called for elements that need the function.
    """
    result = np.empty_like(x)
    result.fill(np.nan)
    for condition, function in parts:
        where_so(condition, function, result, x)
    return result


def where_so(condition: Array, function: Callable[..., Any], result: Array, *operands: Any) -> None:
    """Write the function's values to `result` where the condition holds, and compute no other values.

    All arrays have one dimension. Indices are faster than a mask, whose branches the processor cannot predict.
    """
    places = condition.nonzero()[0]
    if places.size == condition.size:
        result[...] = function(*operands)
    elif places.size:
        result[places] = function(*[x.take(places) for x in operands])
